// DualPI2, RFC 9332 appendix A: two coupled queues, of classic packets and of those of L4S (ECT(1)
// or marked already), with marks and drops spread evenly in place of drawn.
#include <algorithm>
#include <functional>

#include "common/block_queue.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

struct DualPi2Settings {
  double target_s;
  double most_rtt_s;
  double coupling;       // k
  double ramp_begin_us;  // minTh, below which L4S is not marked by its own delay
  double ramp_us;        // range, up to where all of it is; 0: a step
  double classic_share;  // of the link, that L4S leaves at least
  Limit limit;
};

class DualPi2Queue final : public PacketQueue {
 public:
  explicit DualPi2Queue(const DualPi2Settings& settings) : settings_(settings) {}

  // On a slow link the ramp begins where two packets take as long (lines on `floor`), and a buffer
  // without a bound holds 250 ms.
  void know_capacity(Capacity bytes_until) override {
    constexpr Microseconds long_us = 100'000'000;  // so that what varies is averaged
    const double bytes_per_us = bytes_until(long_us) / static_cast<double>(long_us);
    const double floor_us = 2 * datagram_bytes / bytes_per_us;
    const double end_us = settings_.ramp_begin_us + settings_.ramp_us;
    settings_.ramp_begin_us = std::max(settings_.ramp_begin_us, floor_us);
    settings_.ramp_us = std::max(end_us - settings_.ramp_begin_us, 0.0);
    constexpr auto unbounded = static_cast<uint64_t>(most_counted);
    if (settings_.limit.packets == unbounded and settings_.limit.bytes == unbounded) {
      settings_.limit.bytes = static_cast<uint64_t>(250'000 * bytes_per_us) + datagram_bytes;
    }
  }

  void enqueue(const Packet& packet, Microseconds now_us) override {
    update(now_us);
    const Limit& limit = settings_.limit;
    if (packets() >= limit.packets or bytes() + packet.bytes > limit.bytes) return drop(packet);
    const bool is_l4s = packet.ecn == Ecn::counted or packet.ecn == Ecn::congestion_experienced;
    Packet& queued = (is_l4s ? l4s_ : classic_).packets.push();
    queued = packet;
    queued.queued_us = now_us;
    count_in(packet);
  }

  const Packet* dequeue(Microseconds now_us) override {
    update(now_us);
    while (not empty()) {
      const bool is_l4s = serves_l4s();
      Part& part = is_l4s ? l4s_ : classic_;
      Packet& packet = part.packets.pop();
      count_out(packet);
      const double dropped = base_ * base_;
      const bool is_overload = coupled() >= 1;
      if (not is_l4s) {
        // ECN serves no longer in overload.
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

 private:
  struct Part {
    BlockQueue<Packet> packets{};
    double count = 0;

    // That share of the calls, spread evenly.
    bool picks(double share) {
      count += share;
      if (count <= 1) return false;
      count -= 1;
      return true;
    }
  };

  double coupled() const { return settings_.coupling * base_; }

  double native(double delay_us) const {
    if (delay_us <= settings_.ramp_begin_us) return 0;
    return settings_.ramp_us == 0
               ? 1
               : std::min((delay_us - settings_.ramp_begin_us) / settings_.ramp_us, 1.0);
  }

  // By weights: classic packets earn their share by what L4S sends before them.
  bool serves_l4s() {
    if (l4s_.packets.empty()) return false;
    if (classic_.packets.empty()) return true;
    if (classic_credit_bytes_ >= classic_.packets.front().bytes) {
      classic_credit_bytes_ -= classic_.packets.front().bytes;
      return false;
    }
    const double share = settings_.classic_share;
    classic_credit_bytes_ += l4s_.packets.front().bytes * share / (1 - share);
    return true;
  }

  // The base probability p', by the delay of the first classic packet.
  void update(Microseconds now_us) {
    const double interval_s = std::min(settings_.target_s, settings_.most_rtt_s / 3);
    const double alpha = 0.1 * interval_s / (settings_.most_rtt_s * settings_.most_rtt_s);
    const double beta = 0.3 / settings_.most_rtt_s;
    const auto interval_us = static_cast<Microseconds>(interval_s * 1e6);
    for (; next_update_us_ <= now_us; next_update_us_ += interval_us) {
      const double delay_s =
          classic_.packets.empty()
              ? 0
              : static_cast<double>(next_update_us_ - classic_.packets.front().queued_us) / 1e6;
      base_ += alpha * (delay_s - settings_.target_s) + beta * (delay_s - last_delay_s_);
      base_ = std::clamp(base_, 0.0, 1.0);
      last_delay_s_ = delay_s;
    }
  }

  DualPi2Settings settings_;
  Part l4s_{};
  Part classic_{};
  double classic_credit_bytes_ = 0;
  Microseconds next_update_us_ = 0;
  double last_delay_s_ = 0;
  double base_ = 0;
};

const QueueRegistration registration{
    "dualpi2",
    {"two coupled queues, one for L4S, RFC 9332 appendix A",
     {{"target", ParameterType::positive, 0, 1000, 15, "ms", "delay of classic packets"},
      {"rtt_max", ParameterType::positive, 0, 10'000, 100, "ms", "for which it is stable"},
      {"k", ParameterType::positive, 0, 100, 2, "1", "coupling of marks to classic drops"},
      {"min_th", ParameterType::real, 0, 1000, 0.8, "ms", "delay from which L4S is marked"},
      {"range", ParameterType::real, 0, 1000, 0.4, "ms", "up to where all of it is; 0: a step"},
      {"classic_share", ParameterType::positive, 0, 0.5, 0.0625, "share", "that L4S leaves"},
      packets,
      bytes},
     false,
     true},
    [](const Notation& given, uint64_t) -> std::unique_ptr<PacketQueue> {
      return std::make_unique<DualPi2Queue>(DualPi2Settings{.target_s = given["target"] / 1000,
                                                            .most_rtt_s = given["rtt_max"] / 1000,
                                                            .coupling = given["k"],
                                                            .ramp_begin_us = given["min_th"] * 1000,
                                                            .ramp_us = given["range"] * 1000,
                                                            .classic_share = given["classic_share"],
                                                            .limit = limit_of(given)});
    }};

}  // namespace
}  // namespace kneepoint
