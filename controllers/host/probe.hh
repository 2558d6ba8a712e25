// Small datagrams that are answered at once, like ICMP echoes, to measure a path's RTT.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "host/junctions.hh"

namespace kneepoint {

// Sends one probe after the other, and measures the RTT of those that are answered.
class ProbeProcess final : public Process {
 public:
  // A count of 0 never ends.
  ProbeProcess(const Endpoint& end, Microseconds start_us, Microseconds interval_us, uint64_t count,
               uint16_t bytes)
      : end_(end), start_us_(start_us), interval_us_(interval_us), count_(count), bytes_(bytes) {
    end_.plan(start_us_);
  }

  void arrive(Microseconds time_us, const Packet& packet) override {
    const auto number = static_cast<Microseconds>(packet.sequence_number);
    rtts_us_[packet.sequence_number] =
        static_cast<uint32_t>(time_us - (start_us_ + number * interval_us_));
  }

  void act(Microseconds now_us) override {
    const uint64_t number = rtts_us_.size();
    rtts_us_.push_back(unanswered_);
    end_.plan(rtts_us_.size() == count_ ? never : now_us + interval_us_);
    end_.departures.outbox.arrive(now_us,
                                  {.sequence_number = number, .bytes = bytes_, .flow = end_.flow});
  }

  void write(JsonWriter& json) const {
    std::vector<uint32_t> answered_us;
    std::vector<double> rtts_ms;
    for (const uint32_t rtt_us : rtts_us_) {
      const bool is_answered = rtt_us != unanswered_;
      if (is_answered) answered_us.push_back(rtt_us);
      rtts_ms.push_back(is_answered ? static_cast<double>(rtt_us) / 1000
                                    : std::numeric_limits<double>::quiet_NaN());
    }
    const uint64_t answered = answered_us.size();
    Samples rtts(std::move(answered_us));
    json.field("sent", uint64_t{rtts_us_.size()})
        .field("answered", answered)
        .field("rtt_mean_ms", rtts.mean_ms())
        .field("rtt_p50_ms", rtts.quantile_ms(0.5))
        .field("rtt_p95_ms", rtts.quantile_ms(0.95))
        .field("rtts_ms", rtts_ms);
  }

 private:
  static constexpr uint32_t unanswered_ = std::numeric_limits<uint32_t>::max();

  Endpoint end_;
  Microseconds start_us_;
  Microseconds interval_us_;
  uint64_t count_;
  uint16_t bytes_;
  std::vector<uint32_t> rtts_us_{};  // of each that was sent
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
