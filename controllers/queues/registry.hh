// The available queues: each file of this folder declares and registers its own queue, so that a
// new queue takes one file, and a new kneepoint/networks/declared.json.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/registration.hh"
#include "common/time.hh"
#include "queues/packet_queue.hh"

namespace kneepoint {

// The seed is for policies that draw random numbers.
using Queues = Registry<PacketQueue, uint64_t>;

// Parameters that several queues have.
constexpr NotationParameter required_ms(const char* name, const char* meaning) {
  return {name, NotationType::whole, 1, longest_run_ms, std::nullopt, "ms", meaning, true};
}
constexpr NotationParameter ecn(bool fallback) {
  return flag("ecn", fallback, "marks packets instead of dropping them");
}
constexpr NotationParameter bound(const char* name, std::optional<double> fallback = {}) {
  return {name, NotationType::whole,           1, max_counted, fallback,
          name, "maximum content of the queue"};
}
constexpr NotationParameter quantum(double fallback) {
  return {"quantum", NotationType::whole,      1, max_counted, fallback,
          "bytes",   "bytes that a turn sends"};
}
inline constexpr NotationParameter packets = bound("packets");
inline constexpr NotationParameter bytes = bound("bytes");
inline constexpr NotationParameter target = required_ms("target", "delay that may persist");
inline constexpr NotationParameter interval =
    required_ms("interval", "time for which the target may be exceeded");
inline constexpr NotationParameter qdelay_ref = required_ms("qdelay_ref", "delay that it aims at");
inline constexpr NotationParameter max_burst =
    required_ms("max_burst", "duration of a burst that passes");

// A parameter in whole milliseconds, converted to microseconds.
inline Microseconds time_us(const Notation& given, const char* name) {
  return static_cast<Microseconds>(given[name]) * 1000;
}

// Makes a queue from a description such as "infinite", "droptail:packets=100" or
// "codel:target=5,interval=100"; see docs/emulator.md and Notation.
inline std::unique_ptr<PacketQueue> make_packet_queue(const std::string& description,
                                                      uint64_t seed) {
  return Queues::make({"queue", description, Queues::kinds()}, seed);
}

// Whether the described queue marks packets of ECN-capable transports.
inline bool marks_packets(const std::string& description) {
  const Notation given("queue", description, Queues::kinds());
  return Queues::kinds().at(given.kind()).marks or given.value_or("ecn", 0) != 0;
}

}  // namespace kneepoint
