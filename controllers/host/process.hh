// The parts of a run: hops, which receive packets, and processes, which also act by themselves.
#pragma once

#include <cstdint>

#include "common/time.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Counts of a run's parts: data packets of senders, data packets that reached their receivers, and
// packets that either direction's queue, or a shell's full device, dropped.
struct Traffic {
  uint64_t packets_sent = 0;
  uint64_t packets_delivered = 0;
  uint64_t packets_dropped = 0;
};

// When a sender sends, and how many packets at most.
struct Lifetime {
  Microseconds start_us = never;
  Microseconds stop_us = never;
  uint64_t packets = 0;
};

class Hop {
 public:
  Hop() = default;
  Hop(const Hop&) = delete;
  Hop& operator=(const Hop&) = delete;
  virtual ~Hop() = default;

  // A packet arrives at `time_us`, now or later; calls come in the order of these times.
  virtual void arrive(Microseconds time_us, const Packet& packet) = 0;

  // The run is over: adds the hop's counts.
  virtual void finish(Microseconds /* end_us */, Traffic& /* traffic */) {}
};

class Process : public Hop {
 public:
  // Handles the event planned for `now_us` and plans the next one.
  virtual void act(Microseconds now_us) = 0;

  // For a sender: whether a bound limits its window instead of its controller.
  virtual bool is_at_bound() const { return false; }
};

}  // namespace kneepoint
