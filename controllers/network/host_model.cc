#include "network/host_model.hh"

#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "network/text.hh"

namespace kneepoint {

namespace {

HostModel fitted_event_loop() {
  return {.wake_us = 50, .wake_mean_us = 100, .packet_us = 5, .receiver_us = 50};
}

// Constant expressions, like all that stands in no function: sender and receiver have none of it.
constexpr std::pair<std::string_view, double HostModel::*> constants_by_name[]{
    {"delay_scale", &HostModel::delay_scale}, {"packet_us", &HostModel::packet_us},
    {"receiver_us", &HostModel::receiver_us}, {"wake_mean_us", &HostModel::wake_mean_us},
    {"wake_spread", &HostModel::wake_spread}, {"wake_us", &HostModel::wake_us},
};

constexpr double longest_us = 1e6;
constexpr double widest_spread = 3;
constexpr double greatest_scale = 100;
constexpr std::string_view delays = "delays_us";

double to_value(const std::string& text, const std::string& name, const std::string& description) {
  const double greatest = name == "wake_spread"   ? widest_spread
                          : name == "delay_scale" ? greatest_scale
                                                  : longest_us;
  return to_real(text, "host model " + description + ": " + name, 0, greatest);
}

void set_constant(HostModel& model, const std::string& description, const std::string& argument) {
  const size_t equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const auto constant =
      std::ranges::find(constants_by_name, name, [](const auto& each) { return each.first; });
  const bool is_known = constant != std::end(constants_by_name) or name == delays;
  if (equals == std::string::npos or not is_known) {
    std::string known;
    for (const auto& [each, member] : constants_by_name) known.append(" ").append(each);
    throw std::invalid_argument("host model " + description + ": '" + argument +
                                "' is not KEY=VALUE with one of:" + known + " " +
                                std::string(delays));
  }
  const std::string text = argument.substr(equals + 1);
  if (constant != std::end(constants_by_name)) {
    model.*(constant->second) = to_value(text, name, description);
    return;
  }
  model.delays_us.clear();
  for (const std::string& each : split(text, '+')) {
    model.delays_us.push_back(to_value(each, name, description));
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
      timer_us(std::llround(host.wake_us)),
      timers(std::min(host.wake_mean_us * factor, longest_lateness_us / 10)),
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
