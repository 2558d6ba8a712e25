// The delays that mahimahi's host adds to virtual time.
//
// mahimahi runs each shell as a process around poll(2). A shell sleeps for a whole number of
// milliseconds, counted from its last wake-up by a truncating clock, and wakes a little late; each
// packet costs it a few microseconds. So packets leave up to a millisecond after the boundary that
// the log names, and now and then cross a boundary. These few constants account for most of the
// difference between an ideal clock and a real run.
#pragma once

#include <string>
#include <vector>

#include "common/notation.hh"
#include "common/random.hh"
#include "common/time.hh"

namespace kneepoint {

struct HostModel {
  double wake_us = 0;          // minimum lateness of a timer, a shell's or the sender's
  double wake_mean_us = 0;     // mean of the exponential lateness on top of it
  double wake_spread = 0;      // how lateness differs between runs: deviation of its logarithm
  double packet_us = 0;        // to hand on one packet, in a shell, the sender or the receiver
  double read_us = 0;          // to take one packet from a shell's device
  double device_packets = 0;   // that a shell's device queues until they are read; 0: no limit
  double receiver_us = 0;      // from a datagram's arrival to its acknowledgment's departure
  double host_latency_us = 0;  // constant extra latency in each direction
  // The measured waits of a process for the processor after a packet or a timer has woken it: one
  // wake-up in 2^k waits for element k times delay_scale, or longer. Empty: no process waits.
  std::vector<double> delays_us{};
  double delay_scale = 1;
};

// The lateness of a run's processes. A real host is busier in some runs than in others, and this
// changes results more than chance within a run: `random` draws the run's factor.
struct RunLateness {
  RunLateness(const HostModel& host, Random random);

  double factor;  // log-normal over the seeds, with mean 1
  ExponentialTable timers;
  MeasuredTable delays;
};

// The lateness of one process of a run. The run's RunLateness must outlive it.
class Lateness {
 public:
  Lateness(const RunLateness& run, Random timers, Random arrivals)
      : run_(&run), waits_(not run.delays.empty()), timers_(timers), arrivals_(arrivals) {}

  bool waits() const { return waits_; }

  // Draws the lateness of a timer: wake_us, an exponential time of mean wake_mean_us, and the wait
  // for the processor.
  [[gnu::always_inline]] Microseconds draw_timer() {
    const Microseconds late_us = run_->timers.draw(timers_);
    return waits_ ? late_us + run_->delays.draw(timers_) : late_us;
  }

  // When the process reads a packet that reaches it at `time_us`. It reads together all packets
  // that arrive until it has woken up.
  Microseconds read_time(Microseconds time_us) {
    if (not waits_) return time_us;
    if (time_us > awake_us_) awake_us_ = time_us + run_->delays.draw(arrivals_);
    return awake_us_;
  }

 private:
  const RunLateness* run_;
  bool waits_;
  Random timers_;
  Random arrivals_;
  Microseconds awake_us_ = -1;
};

// "ideal": whole milliseconds, nothing costs time. "event-loop": the constants fitted to real runs
// of mahimahi (docs/emulator.md). "event-loop:KEY=VALUE,...": the same constants with some
// replaced; the values of delays_us are separated by +. Throws std::invalid_argument for an unknown
// model or parameter, or a value that is not a time.
HostModel make_host_model(const std::string& description);

const Kinds& host_models();

}  // namespace kneepoint
