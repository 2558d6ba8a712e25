// Where the paths of several flows merge and fork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/agenda.hh"
#include "host/process.hh"
#include "links/timed_packets.hh"
#include "measure/flow_meter.hh"

namespace kneepoint {

// Keeps the packets of one sender until they leave, so that the packets of several senders reach
// the next hop in the order of time.
class Outbox final : public Process {
 public:
  // The agenda and the next hop must outlive it.
  Outbox(Agenda& agenda, size_t endpoint, Hop& next)
      : agenda_(agenda), endpoint_(endpoint), next_(next) {}

  void arrive(Microseconds time_us, const Packet& packet) override {
    waiting_.push(time_us, packet);
    agenda_.plan_outbox(endpoint_, waiting_.next_us());
  }

  void act(Microseconds now_us) override {
    const Packet packet = waiting_.pop();
    agenda_.plan_outbox(endpoint_, waiting_.next_us());
    next_.arrive(now_us, packet);
  }

 private:
  Agenda& agenda_;
  size_t endpoint_;
  TimedPackets waiting_{};
  Hop& next_;
};

// The parts of a run that an endpoint uses; the run outlives the endpoint.
struct Endpoint {
  Agenda& agenda;
  size_t place;  // among the agenda's endpoints
  uint16_t flow;
  Microseconds packet_us;  // to hand on one packet
  Hop& first_hop;          // of its link
  Hop& outbox;             // in front of the first hop, for packets that leave later
  // The endpoint may handle events before this time ahead of their turn; 0: it may not.
  Microseconds runs_ahead_until_us;
  FlowMeter* meter;  // null: the flow is not measured

  void plan(Microseconds time_us) const { agenda.plan_endpoint(place, time_us); }
  // A packet is ready at `leaves_us`, now or later.
  void send(Microseconds leaves_us, Microseconds now_us, const Packet& packet) const {
    const bool is_next = leaves_us == now_us or leaves_us < runs_ahead_until_us;
    (is_next ? first_hop : outbox).arrive(leaves_us, packet);
  }
};

// Gives each packet to the hop of its flow.
class Fork final : public Hop {
 public:
  // The hop of the next flow; it must outlive the fork.
  void add(Hop& hop) { hops_.push_back(&hop); }

  void arrive(Microseconds time_us, const Packet& packet) override {
    hops_[packet.flow]->arrive(time_us, packet);
  }

 private:
  std::vector<Hop*> hops_{};
};

}  // namespace kneepoint
