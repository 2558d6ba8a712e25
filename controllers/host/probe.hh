// Small datagrams that are answered at once, like ICMP echoes, to measure a path's RTT.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "common/time.hh"
#include "host/junctions.hh"
#include "measure/samples.hh"

namespace kneepoint {

// Sends one probe after the other, and measures the RTT of answered probes.
class ProbeProcess final : public Process {
 public:
  // With a count of 0 the probes never end.
  ProbeProcess(const Endpoint& end, Microseconds start_us, Microseconds interval_us, uint64_t count,
               uint16_t bytes)
      : end_(end), start_us_(start_us), interval_us_(interval_us), count_(count), bytes_(bytes) {
    end_.plan(start_us_);
  }

  void arrive(Microseconds time_us, const Packet& packet) override {
    const auto number = static_cast<Microseconds>(packet.sequence_number);
    rtts_us_[packet.sequence_number] = time_us - (start_us_ + number * interval_us_);
  }

  void act(Microseconds now_us) override {
    const uint64_t number = rtts_us_.size();
    rtts_us_.push_back(unanswered_);
    end_.plan(rtts_us_.size() == count_ ? never : now_us + interval_us_);
    end_.outbox.arrive(now_us, {.sequence_number = number, .bytes = bytes_, .flow = end_.flow});
  }

  void write(JsonWriter& json) const {
    Samples rtts;
    std::vector<double> rtts_ms;
    for (const Microseconds rtt_us : rtts_us_) {
      const bool is_answered = rtt_us != unanswered_;
      if (is_answered) rtts.add(rtt_us);
      rtts_ms.push_back(is_answered ? static_cast<double>(rtt_us) / 1000
                                    : std::numeric_limits<double>::quiet_NaN());
    }
    json.field("sent", uint64_t{rtts_us_.size()})
        .field("answered", rtts.size())
        .field("rtt_mean_ms", rtts.mean_ms())
        .field("rtt_p50_ms", rtts.quantile_ms(0.5))
        .field("rtt_p95_ms", rtts.quantile_ms(0.95))
        .field("rtts_ms", rtts_ms);
  }

 private:
  static constexpr Microseconds unanswered_ = -1;

  Endpoint end_;
  Microseconds start_us_;
  Microseconds interval_us_;
  uint64_t count_;
  uint16_t bytes_;
  std::vector<Microseconds> rtts_us_{};  // of each probe that was sent
};

// Sends every packet back.
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
