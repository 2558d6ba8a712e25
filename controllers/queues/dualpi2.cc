// DualPI2, RFC 9332 appendix A: two coupled queues, one for classic packets and one for L4S packets
// (ECT(1) or already marked). Marks and drops are spread evenly instead of drawn at random.
#include <algorithm>

#include "queues/registry.hh"

namespace kneepoint {
namespace {

class DualPi2Queue final : public PacketQueue {
 public:
  DualPi2Queue(const Notation& given, uint64_t)
      : target_s_(given["target"] / 1000),
        max_rtt_s_(given["rtt_max"] / 1000),
        coupling_(given["k"]),
        ramp_begin_us_(given["min_th"] * 1000),
        ramp_us_(given["range"] * 1000),
        classic_share_(given["classic_share"]),
        limit_(given) {}

  // On a slow link the ramp begins at the transmission time of two packets (`floor` in the
  // appendix), and a buffer without a bound holds 250 ms.
  void know_capacity(Capacity bytes_until, Microseconds end_us) override {
    // Long enough to average a rate that varies.
    const Microseconds long_us = std::min<Microseconds>(100'000'000, end_us);
    const double bytes_per_us = bytes_until(long_us) / static_cast<double>(long_us);
    const double floor_us = 2 * datagram_bytes / bytes_per_us;
    const double ramp_end_us = ramp_begin_us_ + ramp_us_;
    ramp_begin_us_ = std::max(ramp_begin_us_, floor_us);
    ramp_us_ = std::max(ramp_end_us - ramp_begin_us_, 0.0);
    constexpr auto unbounded = static_cast<uint64_t>(max_counted);
    if (limit_.packets == unbounded and limit_.bytes == unbounded) {
      limit_.bytes = static_cast<uint64_t>(250'000 * bytes_per_us) + datagram_bytes;
    }
  }

  void enqueue(const Packet& packet, Microseconds now_us) override {
    update(now_us);
    if (limit_.is_exceeded_by(packets() + 1, bytes() + packet.bytes)) return drop(packet);
    const bool is_l4s = packet.ecn == Ecn::counted or packet.ecn == Ecn::congestion_experienced;
    push((is_l4s ? l4s_ : classic_).fifo, packet, now_us);
  }

  const Packet* dequeue(Microseconds now_us) override {
    update(now_us);
    while (not empty()) {
      const bool is_l4s = serves_l4s();
      Part& part = is_l4s ? l4s_ : classic_;
      Packet& packet = pop(part.fifo);
      const double dropped = base_ * base_;
      const bool is_overload = coupled() >= 1;
      if (not is_l4s) {
        // In overload packets are dropped instead of marked.
        if (not part.picks(dropped) or (not is_overload and mark(packet))) return &packet;
      } else {
        const double own = native(static_cast<double>(now_us - packet.queued_us));
        if (not is_overload) {
          if (part.picks(std::max(own, coupled()))) mark(packet);
          return &packet;
        }
        if (not part.picks(dropped)) {
          mark(packet);
          return &packet;
        }
      }
      drop(packet);
    }
    return nullptr;
  }

  Microseconds oldest_us() const override {
    return std::min(l4s_.fifo.oldest_us(), classic_.fifo.oldest_us());
  }

 private:
  struct Part {
    Fifo fifo{};
    double count = 0;

    // Returns true in `share` of the calls, spread evenly.
    bool picks(double share) {
      count += share;
      if (count <= 1) return false;
      count -= 1;
      return true;
    }
  };

  double coupled() const { return coupling_ * base_; }

  double native(double delay_us) const {
    if (delay_us <= ramp_begin_us_) return 0;
    return ramp_us_ == 0 ? 1 : std::min((delay_us - ramp_begin_us_) / ramp_us_, 1.0);
  }

  // Serves by weights: classic packets earn their share with the L4S bytes sent before them.
  bool serves_l4s() {
    if (l4s_.fifo.empty()) return false;
    if (classic_.fifo.empty()) return true;
    if (classic_credit_bytes_ >= classic_.fifo.front().bytes) {
      classic_credit_bytes_ -= classic_.fifo.front().bytes;
      return false;
    }
    classic_credit_bytes_ += l4s_.fifo.front().bytes * classic_share_ / (1 - classic_share_);
    return true;
  }

  // The base probability p', by the delay of the first classic packet.
  void update(Microseconds now_us) {
    const double interval_s = std::min(target_s_, max_rtt_s_ / 3);
    const double alpha = 0.1 * interval_s / (max_rtt_s_ * max_rtt_s_);
    const double beta = 0.3 / max_rtt_s_;
    const auto interval_us = static_cast<Microseconds>(interval_s * 1e6);
    for (; next_update_us_ <= now_us; next_update_us_ += interval_us) {
      const double delay_s =
          classic_.fifo.empty()
              ? 0
              : static_cast<double>(next_update_us_ - classic_.fifo.front().queued_us) / 1e6;
      base_ += alpha * (delay_s - target_s_) + beta * (delay_s - last_delay_s_);
      base_ = std::clamp(base_, 0.0, 1.0);
      last_delay_s_ = delay_s;
    }
  }

  double target_s_;
  double max_rtt_s_;
  double coupling_;       // k
  double ramp_begin_us_;  // minTh: L4S's own delay marks no packets below it
  double ramp_us_;        // range: minTh + range marks all packets; 0: a step
  double classic_share_;  // of the link, guaranteed to classic packets
  Limit limit_;
  Part l4s_{};
  Part classic_{};
  double classic_credit_bytes_ = 0;
  Microseconds next_update_us_ = 0;
  double last_delay_s_ = 0;
  double base_ = 0;
};

const Queues::Registration<DualPi2Queue> registration{
    "dualpi2",
    {"two coupled queues, one for L4S, RFC 9332 appendix A",
     {{"target", NotationType::positive, 0, 1000, 15, "ms", "delay of classic packets"},
      {"rtt_max", NotationType::positive, 0, 10'000, 100, "ms",
       "maximum RTT for which it is stable"},
      {"k", NotationType::positive, 0, 100, 2, "1", "coupling of marks to classic drops"},
      {"min_th", NotationType::real, 0, 1000, 0.8, "ms", "delay from which L4S packets are marked"},
      {"range", NotationType::real, 0, 1000, 0.4, "ms",
       "range of delays in which the marked share grows to 1; 0: a step"},
      {"classic_share", NotationType::positive, 0, 0.5, 0.0625, "share",
       "share of the link that L4S leaves to classic packets"},
      packets,
      bytes},
     false,
     true}};

}  // namespace
}  // namespace kneepoint
