#include "host/host_model.hh"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "common/portable_math.hh"

namespace kneepoint {

namespace {

constexpr double longest_us = 1e6;

constexpr NotationParameter time(const char* name, std::optional<double> fallback,
                                 const char* meaning) {
  return {name, NotationType::real, 0, longest_us, fallback, "us", meaning};
}

// Settings without a default have no effect if they are absent.
constexpr struct {
  NotationParameter parameter;
  double HostModel::* member;
} settings[]{
    {time("wake_us", 50, "minimum lateness of a timer"), &HostModel::wake_us},
    {time("wake_mean_us", 100, "mean of the additional lateness"), &HostModel::wake_mean_us},
    {time("packet_us", 5, "time to forward a packet"), &HostModel::packet_us},
    {time("read_us", 10, "time to read a packet from a shell's device"), &HostModel::read_us},
    {{"device_packets", NotationType::whole, 0, 1e6, 500, "packets",
      "capacity of a shell's device; 0: no limit"},
     &HostModel::device_packets},
    {time("receiver_us", 50, "time from a datagram's arrival to its acknowledgment's departure"),
     &HostModel::receiver_us},
    {{"wake_spread", NotationType::real, 0, 3, std::nullopt, "deviation",
      "standard deviation of log(lateness) between runs"},
     &HostModel::wake_spread},
    {{"delay_scale", NotationType::real, 0, 100, std::nullopt, "factor", "factor of delays_us"},
     &HostModel::delay_scale},
};
constexpr NotationParameter delays{"delays_us",
                                   NotationType::times,
                                   0,
                                   longest_us,
                                   std::nullopt,
                                   "us",
                                   "one wait in 2^k for the processor is element k or longer"};

// A busy run's factor may multiply any of these times by millions.
constexpr double longest_lateness_us = 1e9;

double draw_factor(double spread, Random random) {
  if (spread == 0) return 1;
  return portable::exp(spread * draw_normal(random) - spread * spread / 2);
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
  const Notation given("host model", description, host_models());
  HostModel model;
  for (const auto& [parameter, member] : settings) {
    model.*member = given.value_or(parameter.name, model.*member);
  }
  model.delays_us = given.times(delays.name);
  try {
    MeasuredTable check(model.delays_us);
  } catch (const std::invalid_argument& error) {
    given.refuse(std::string(delays.name) + ": " + error.what());
  }
  return model;
}

const Kinds& host_models() {
  static const Kinds all = [] {
    std::vector<NotationParameter> parameters;
    for (const auto& each : settings) parameters.push_back(each.parameter);
    parameters.push_back(delays);
    return Kinds{{"ideal", {"whole milliseconds, nothing costs time"}},
                 {"event-loop", {"processes around poll(2), as in mahimahi", parameters}}};
  }();
  return all;
}

}  // namespace kneepoint
