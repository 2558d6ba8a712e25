// What the host under mahimahi adds to virtual time.
//
// mahimahi runs each shell as a process around poll(2). A shell sleeps for a whole number of
// milliseconds, counted from its last wake-up by a truncating clock, and wakes a little late; each
// packet costs it a few microseconds. So packets leave up to a millisecond after the boundary that
// the log names, and now and then cross one. These few constants of that model carry most of the
// difference between an ideal clock and a real run.
#pragma once

#include <cmath>
#include <string>

#include "network/random.hh"
#include "network/time.hh"

namespace kneepoint {

struct HostModel {
  double wake_us = 0;          // least lateness of a timer, a shell's or the sender's
  double wake_mean_us = 0;     // mean of the exponential lateness on top of it
  double wake_spread = 0;      // how that mean differs between runs: deviation of its logarithm
  double packet_us = 0;        // to handle one packet in a shell, the sender or the receiver
  double receiver_us = 0;      // from a datagram's arrival to its acknowledgment's departure
  double host_latency_us = 0;  // constant extra latency in each direction
};

// How late the timers of one process fire: wake_us plus an exponential of mean wake_mean_us.
// The table of the exponential is shared by the processes of a run and must outlive them.
class Lateness {
 public:
  Lateness(const HostModel& host, const ExponentialTable& table, Random random)
      : least_us_(std::llround(host.wake_us)), table_(&table), random_(random) {}

  Microseconds draw() { return least_us_ + table_->draw(random_); }

 private:
  Microseconds least_us_;
  const ExponentialTable* table_;
  Random random_;
};

// The mean lateness of one run: log-normal over the seeds, with mean wake_mean_us. A real host is
// busier in one run than in the next, and that moves results more than luck within a run.
double draw_wake_mean(const HostModel& host, Random random);

// "ideal": whole milliseconds, nothing costs time. "event-loop": the constants fitted to real runs
// of mahimahi (docs/emulator.md). "event-loop:KEY=VALUE,...": these, some replaced.
// Throws std::invalid_argument for an unknown model or constant, or a value that is no time.
HostModel make_host_model(const std::string& description);

}  // namespace kneepoint
