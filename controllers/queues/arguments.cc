#include "queues/arguments.hh"

#include <stdexcept>

#include "common/text.hh"

namespace kneepoint {

QueueArguments::QueueArguments(const std::string& description) : description_(description) {
  const size_t colon = description.find(':');
  policy_ = description.substr(0, colon);
  if (colon == std::string::npos) return;
  for (const std::string& argument : split(description.substr(colon + 1), ',')) {
    const size_t equals = argument.find('=');
    if (equals == std::string::npos) refuse("'" + argument + "' is not NAME=VALUE");
    if (not values_.emplace(argument.substr(0, equals), argument.substr(equals + 1)).second) {
      refuse(argument.substr(0, equals) + " is given twice");
    }
  }
}

std::optional<std::string> QueueArguments::take_text(const std::string& name) {
  const auto node = values_.extract(name);
  return node.empty() ? std::nullopt : std::optional(node.mapped());
}

std::optional<uint64_t> QueueArguments::take(const std::string& name) {
  const auto text = take_text(name);
  if (not text) return std::nullopt;
  const uint64_t value = to_whole(*text, "queue " + description_);
  if (value == 0) refuse(name + " must be at least 1");
  return value;
}

std::optional<double> QueueArguments::take_real(const std::string& name, double most) {
  const auto text = take_text(name);
  if (not text) return std::nullopt;
  const double value = to_real(*text, "queue " + description_);
  if (not(value > 0 and value <= most)) {
    refuse(name + " must be above 0 and at most " + to_text(most));
  }
  return value;
}

std::optional<bool> QueueArguments::take_flag(const std::string& name) {
  const auto text = take_text(name);
  if (not text) return std::nullopt;
  if (*text != "0" and *text != "1") refuse(name + " must be 0 or 1");
  return *text == "1";
}

uint64_t QueueArguments::require(const std::string& name) {
  const auto value = take(name);
  if (not value) refuse(policy_ + " needs " + name + "=NUMBER");
  return *value;
}

Microseconds QueueArguments::require_time_us(const std::string& name) {
  const uint64_t time_ms = require(name);
  if (time_ms > longest_run_ms) refuse(name + " must be at most a day");
  return static_cast<Microseconds>(time_ms) * 1000;
}

Limit QueueArguments::take_limit() {
  Limit limit;
  limit.packets = take("packets").value_or(limit.packets);
  limit.bytes = take("bytes").value_or(limit.bytes);
  return limit;
}

Limit QueueArguments::require_limit() {
  if (not values_.contains("packets") and not values_.contains("bytes")) {
    refuse(policy_ + " needs packets=NUMBER or bytes=NUMBER");
  }
  return take_limit();
}

void QueueArguments::check_all_taken() const {
  if (not values_.empty()) refuse(policy_ + " has no argument " + values_.begin()->first);
}

void QueueArguments::refuse(const std::string& reason) const {
  throw std::invalid_argument("queue " + description_ + ": " + reason);
}

}  // namespace kneepoint
