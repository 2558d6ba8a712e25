// What a run is made of: hops, which packets reach, and processes, which also act by themselves.
#pragma once

#include <cstddef>

#include "common/time.hh"
#include "host/agenda.hh"
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
  // The agenda must outlive it.
  Process(Agenda& agenda, size_t place) : agenda_(agenda), place_(place) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Handles what it has planned for `now_us`, and plans anew.
  virtual void act(Microseconds now_us) = 0;

 protected:
  void plan(Microseconds time_us) { agenda_.plan(place_, time_us); }

 private:
  Agenda& agenda_;
  size_t place_;
};

}  // namespace kneepoint
