// What the host under mahimahi adds to virtual time.
//
// mahimahi runs each shell as a process around poll(2). A shell sleeps for a whole number of
// milliseconds, counted from its last wake-up by a truncating clock, and wakes a little late; each
// packet costs it a few microseconds. So packets leave up to a millisecond after the boundary that
// the log names, and now and then cross one. These few constants of that model carry most of the
// difference between an ideal clock and a real run.
#pragma once

#include <string>

#include "network/time.hh"

namespace kneepoint {

struct HostModel {
  double wake_us = 0;          // least lateness of a timer's wake-up
  double wake_mean_us = 0;     // mean of the exponential lateness on top of it
  double packet_us = 0;        // to handle one packet in a shell, the sender or the receiver
  double receiver_us = 0;      // from a datagram's arrival to its acknowledgment's departure
  double sender_us = 0;        // from an acknowledgment's arrival to the datagrams it allows
  double keepalive_late_us = 0;  // lateness of the sender's keepalive timer
  double host_latency_us = 0;  // constant extra latency in each direction
};

// "ideal": whole milliseconds, nothing costs time. "event-loop": the constants fitted to real runs
// of mahimahi (docs/emulator.md). "event-loop:KEY=VALUE,...": these, some replaced.
// Throws std::invalid_argument for an unknown model or constant, or a value that is no time.
HostModel make_host_model(const std::string& description);

}  // namespace kneepoint
