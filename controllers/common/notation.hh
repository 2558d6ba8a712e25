// KIND[:NAME=VALUE,...], the notation of queues, impairments and host models, and the declarations
// of their kinds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hh"

namespace kneepoint {

// A positive number is real and above 0; `times` are real numbers with a + between them.
enum class NotationType { whole, real, positive, times };

struct NotationParameter {
  const char* name;
  NotationType type;
  double min;
  double max;
  std::optional<double> fallback;  // none: the parameter is required, or has no effect if absent
  const char* unit;
  const char* meaning;
  bool is_required = false;
  const char* below = "";  // the parameter that it must be less than
};

constexpr NotationParameter flag(const char* name, bool fallback, const char* meaning) {
  return {name, NotationType::whole, 0, 1, fallback, "0 or 1", meaning};
}

struct Kind {
  std::string meaning;
  std::vector<NotationParameter> parameters{};
  bool needs_bound = false;  // one of packets and bytes
  bool marks = false;        // for a queue: always; other queues mark with ecn=1
};
using Kinds = std::map<std::string, Kind>;

// Writes an array, for `emulate --list`.
void describe(JsonWriter& json, const Kinds& kinds);

class Notation {
 public:
  // Throws std::invalid_argument, naming `what` (the sort of these kinds) and the description, for
  // an unknown kind, an unknown or missing parameter, or an impossible value.
  Notation(const std::string& what, const std::string& description, const Kinds& kinds);

  const std::string& kind() const { return kind_; }

  // The value of a parameter that is given or has a default.
  double operator[](const std::string& name) const { return values_.at(name).front(); }
  double value_or(const std::string& name, double fallback) const;
  std::vector<double> times(const std::string& name) const;

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  std::vector<double> read(const NotationParameter& parameter, const std::string& text) const;

  std::string where_;
  std::string kind_;
  std::map<std::string, std::vector<double>> values_{};
};

}  // namespace kneepoint
