#include "host/host_model.hh"

#include <iterator>
#include <stdexcept>
#include <string_view>

#include "common/text.hh"

namespace kneepoint {

namespace {

HostModel fitted_event_loop() {
  return {.wake_us = 50,
          .wake_mean_us = 100,
          .packet_us = 5,
          .read_us = 10,
          .device_packets = 500,
          .receiver_us = 50};
}

// Constant expressions, like all that stands in no function: sender and receiver have none of it.
constexpr double longest_us = 1e6;
constexpr struct {
  std::string_view name;
  double HostModel::* member;
  double greatest;
  bool is_whole = false;
} constants[]{
    {"delay_scale", &HostModel::delay_scale, 100},
    {"device_packets", &HostModel::device_packets, 1e6, true},
    {"packet_us", &HostModel::packet_us, longest_us},
    {"read_us", &HostModel::read_us, longest_us},
    {"receiver_us", &HostModel::receiver_us, longest_us},
    {"wake_mean_us", &HostModel::wake_mean_us, longest_us},
    {"wake_spread", &HostModel::wake_spread, 3},
    {"wake_us", &HostModel::wake_us, longest_us},
};
constexpr std::string_view delays = "delays_us";

double to_value(const std::string& text, std::string_view name, double greatest, bool is_whole,
                const std::string& description) {
  const std::string what = "host model " + description + ": " + std::string(name);
  const double value = to_real(text, what, 0, greatest);
  if (is_whole and value != std::floor(value)) {
    throw std::invalid_argument(what + " must be a whole number, not " + text);
  }
  return value;
}

void set_constant(HostModel& model, const std::string& description, const std::string& argument) {
  const size_t equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const auto constant =
      std::ranges::find_if(constants, [&](const auto& each) { return each.name == name; });
  const bool is_known = constant != std::end(constants) or name == delays;
  if (equals == std::string::npos or not is_known) {
    std::string known;
    for (const auto& each : constants) known.append(" ").append(each.name);
    throw std::invalid_argument("host model " + description + ": '" + argument +
                                "' is not KEY=VALUE with one of:" + known + " " +
                                std::string(delays));
  }
  const std::string text = argument.substr(equals + 1);
  if (constant != std::end(constants)) {
    model.*(constant->member) =
        to_value(text, name, constant->greatest, constant->is_whole, description);
    return;
  }
  model.delays_us.clear();
  for (const std::string& each : split(text, '+')) {
    model.delays_us.push_back(to_value(each, name, longest_us, false, description));
  }
  try {
    MeasuredTable check(model.delays_us);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("host model " + description + ": " + name + ": " + error.what());
  }
}

// A busy run's factor may multiply any of these times by millions.
constexpr double longest_lateness_us = 1e9;

double draw_factor(double spread, Random random) {
  if (spread == 0) return 1;
  return exact_exp(spread * draw_normal(random) - spread * spread / 2);
}

std::vector<double> scaled(std::vector<double> times_us, double factor) {
  for (double& time_us : times_us) time_us = std::min(time_us * factor, longest_lateness_us);
  return times_us;
}

}  // namespace

RunLateness::RunLateness(const HostModel& host, Random random)
    : factor(draw_factor(host.wake_spread, random)),
      timers(std::min(host.wake_mean_us * factor, longest_lateness_us / 10),
             std::llround(host.wake_us)),
      delays(scaled(host.delays_us, host.delay_scale * factor)) {}

HostModel make_host_model(const std::string& description) {
  constexpr std::string_view prefix = "event-loop:";
  if (description == "ideal") return HostModel{};
  if (description == "event-loop") return fitted_event_loop();
  if (not description.starts_with(prefix)) {
    throw std::invalid_argument("host model '" + description +
                                "' is unknown; there are: ideal, event-loop[:KEY=VALUE,...]");
  }
  HostModel model = fitted_event_loop();
  for (const std::string& argument : split(description.substr(prefix.size()), ',')) {
    set_constant(model, description, argument);
  }
  return model;
}

}  // namespace kneepoint
