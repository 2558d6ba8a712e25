// Small datagrams that are answered at once, to see what others do to a path: ICMP echoes.
#pragma once

#include <cstdint>

#include "host/agenda.hh"
#include "host/process.hh"
#include "measure/flow_meter.hh"

namespace kneepoint {

// Sends one probe after the other, and measures the RTT of those that are answered.
class ProbeProcess final : public Process {
 public:
  // The agenda and the next hop must outlive it. A count of 0 never ends.
  ProbeProcess(Agenda& agenda, size_t endpoint, uint16_t flow, Microseconds start_us,
               Microseconds interval_us, uint64_t count, uint16_t bytes, Hop& way)
      : agenda_(agenda),
        endpoint_(endpoint),
        flow_(flow),
        start_us_(start_us),
        interval_us_(interval_us),
        count_(count),
        bytes_(bytes),
        way_(way) {
    agenda_.plan_endpoint(endpoint_, start_us_);
  }

  void arrive(Microseconds time_us, const Packet& packet) override {
    ++answered_;
    const auto number = static_cast<Microseconds>(packet.sequence_number);
    rtts_.add(time_us - (start_us_ + number * interval_us_));
  }

  void act(Microseconds now_us) override {
    const uint64_t number = sent_++;
    agenda_.plan_endpoint(endpoint_, sent_ == count_ ? never : now_us + interval_us_);
    way_.arrive(now_us, {.sequence_number = number, .bytes = bytes_, .flow = flow_});
  }

  void write(JsonWriter& json) {
    json.field("sent", sent_)
        .field("answered", answered_)
        .field("rtt_mean_ms", rtts_.mean_ms())
        .field("rtt_p50_ms", rtts_.quantile_ms(0.5))
        .field("rtt_p95_ms", rtts_.quantile_ms(0.95));
  }

 private:
  Agenda& agenda_;
  size_t endpoint_;
  uint16_t flow_;
  Microseconds start_us_;
  Microseconds interval_us_;
  uint64_t count_;
  uint16_t bytes_;
  Hop& way_;
  uint64_t sent_ = 0;
  uint64_t answered_ = 0;
  Samples rtts_{};
};

// Sends back whatever arrives.
class EchoHop final : public Hop {
 public:
  explicit EchoHop(Hop& way_back) : way_back_(way_back) {}
  void arrive(Microseconds time_us, const Packet& packet) override {
    way_back_.arrive(time_us, packet);
  }

 private:
  Hop& way_back_;
};

}  // namespace kneepoint
