// The parts of a run: hops, which receive packets, and processes, which also act by themselves.
#pragma once

#include "common/time.hh"
#include "transport/packet.hh"

namespace kneepoint {

class Hop {
 public:
  virtual ~Hop() = default;

  // A packet gets here at `time_us`, now or later; packets come in the order of these times.
  virtual void arrive(Microseconds time_us, const Packet& packet) = 0;
};

class Process : public Hop {
 public:
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Handles the event planned for `now_us` and plans the next one.
  virtual void act(Microseconds now_us) = 0;
};

}  // namespace kneepoint
