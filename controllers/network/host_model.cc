#include "network/host_model.hh"

#include <map>
#include <stdexcept>
#include <string_view>

#include "network/text.hh"

namespace kneepoint {

namespace {

constexpr HostModel fitted_event_loop{
    .wake_us = 50, .wake_mean_us = 100, .packet_us = 5, .receiver_us = 50};

const std::map<std::string, double HostModel::*, std::less<>> constants_by_name{
    {"wake_us", &HostModel::wake_us},         {"wake_mean_us", &HostModel::wake_mean_us},
    {"wake_spread", &HostModel::wake_spread}, {"packet_us", &HostModel::packet_us},
    {"receiver_us", &HostModel::receiver_us},
};

constexpr double longest_us = 1e6;
constexpr double widest_spread = 3;

void set_constant(HostModel& model, const std::string& description, const std::string& argument) {
  const size_t equals = argument.find('=');
  const auto constant = constants_by_name.find(argument.substr(0, equals));
  if (equals == std::string::npos or constant == constants_by_name.end()) {
    std::string known;
    for (const auto& [name, member] : constants_by_name) known += " " + name;
    throw std::invalid_argument("host model " + description + ": '" + argument +
                                "' is not KEY=VALUE with one of:" + known);
  }
  const double value = to_real(argument.substr(equals + 1), "host model " + description);
  const double greatest = constant->first == "wake_spread" ? widest_spread : longest_us;
  if (value < 0 or value > greatest) {
    throw std::invalid_argument("host model " + description + ": " + constant->first +
                                " must lie between 0 and " + to_text(greatest));
  }
  model.*(constant->second) = value;
}

}  // namespace

double draw_wake_mean(const HostModel& host, Random random) {
  const double spread = host.wake_spread;
  if (spread == 0) return host.wake_mean_us;
  return host.wake_mean_us * exact_exp(spread * draw_normal(random) - spread * spread / 2);
}

HostModel make_host_model(const std::string& description) {
  constexpr std::string_view prefix = "event-loop:";
  if (description == "ideal") return HostModel{};
  if (description == "event-loop") return fitted_event_loop;
  if (not description.starts_with(prefix)) {
    throw std::invalid_argument("host model '" + description +
                                "' is unknown; there are: ideal, event-loop[:KEY=VALUE,...]");
  }
  HostModel model = fitted_event_loop;
  for (const std::string& argument : split(description.substr(prefix.size()), ',')) {
    set_constant(model, description, argument);
  }
  return model;
}

}  // namespace kneepoint
