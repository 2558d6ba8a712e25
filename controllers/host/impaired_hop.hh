// A place where an impairment delays and loses packets before they reach the next hop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "host/agenda.hh"
#include "host/process.hh"
#include "links/impairment.hh"

namespace kneepoint {

class ImpairedHop final : public Process {
 public:
  // The agenda and the next hop must outlive it. `endpoint` is its place in the agenda.
  ImpairedHop(Agenda& agenda, size_t endpoint, std::unique_ptr<Impairment> impairment, Hop& next)
      : agenda_(agenda), endpoint_(endpoint), impairment_(std::move(impairment)), next_(next) {}

  // Called at `time_us`, never before.
  void arrive(Microseconds time_us, const Packet& packet) override {
    const Microseconds passes_us = impairment_->passes_us(time_us);
    if (passes_us == never) {
      ++packets_lost_;
    } else if (passes_us == time_us) {
      next_.arrive(time_us, packet);
    } else {
      waiting_.emplace(passes_us, packet);
      plan();
    }
  }

  void act(Microseconds now_us) override {
    const Packet packet = waiting_.extract(waiting_.begin()).mapped();
    plan();
    next_.arrive(now_us, packet);
  }

  uint64_t packets_lost() const { return packets_lost_; }

 private:
  void plan() {
    agenda_.plan_endpoint(endpoint_, waiting_.empty() ? never : waiting_.begin()->first);
  }

  Agenda& agenda_;
  size_t endpoint_;
  std::unique_ptr<Impairment> impairment_;
  Hop& next_;
  std::multimap<Microseconds, Packet> waiting_{};  // by the time at which they leave
  uint64_t packets_lost_ = 0;
};

}  // namespace kneepoint
