// The router of accel-brake control (Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan: ABC,
// HotNets 2017 and NSDI 2020): a marked packet is a brake, an unmarked packet an accelerate.
#include <algorithm>
#include <deque>
#include <utility>

#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class AbcQueue final : public FifoQueue {
 public:
  AbcQueue(const Notation& given, uint64_t seed)
      : FifoQueue(given, seed),
        utilization_(given["eta"]),
        drain_us_(given["delta"] * 1000),
        standing_us_(given["dt"] * 1000),
        averaged_us_(time_us(given, "averaged")) {}

  void know_capacity(Capacity bytes_until, Microseconds /* end_us */) override {
    bytes_until_ = std::move(bytes_until);
  }

  const Packet* dequeue(Microseconds now_us) override {
    if (empty()) return nullptr;
    Packet& packet = pop(fifo_);
    const double carried_bytes = carried(packet, now_us);
    // If all acknowledgments of a round trip are accelerates, they double the rate: hence the half.
    const double share = target_bytes(now_us) / (2 * carried_bytes);
    tokens_ += std::clamp(share, 0.0, 1.0);
    if (tokens_ >= 1) {
      tokens_ -= 1;
    } else {
      mark(packet);
    }
    return &packet;
  }

 private:
  // The bytes carried in the last T, with this packet.
  double carried(const Packet& packet, Microseconds now_us) {
    carried_bytes_ += packet.bytes;
    carried_.emplace_back(now_us, packet.bytes);
    while (carried_.front().first <= now_us - averaged_us_) {
      carried_bytes_ -= carried_.front().second;
      carried_.pop_front();
    }
    return static_cast<double>(carried_bytes_);
  }

  // The bytes that the link should carry in T: fewer if the queue would take too long to drain.
  double target_bytes(Microseconds now_us) const {
    const Microseconds from_us = std::max<Microseconds>(now_us - averaged_us_, 0);
    const double capacity_bytes = bytes_until_(now_us) - bytes_until_(from_us);
    const double waiting_us = static_cast<double>(bytes() * static_cast<uint64_t>(averaged_us_));
    const double standing_us = standing_us_ * capacity_bytes;
    const double excess = std::max(waiting_us - standing_us, 0.0) / drain_us_;
    return utilization_ * capacity_bytes - excess;
  }

  double utilization_;        // the paper's eta
  double drain_us_;           // delta: the time in which a queue should drain
  double standing_us_;        // d_t: the tolerated queueing delay
  Microseconds averaged_us_;  // T, over which rates are measured
  Capacity bytes_until_{};
  std::deque<std::pair<Microseconds, uint32_t>> carried_{};
  uint64_t carried_bytes_ = 0;
  double tokens_ = 0;
};

const Queues::Registration<AbcQueue> registration{
    "abc",
    {"accel-brake control, Goyal et al. 2017 and 2020: its marks are brakes",
     {{"eta", NotationType::positive, 0, 1, 0.98, "share", "share of the capacity that it aims at"},
      {"delta", NotationType::positive, 0, 1e6, 133, "ms", "time in which its queue should drain"},
      {"dt", NotationType::real, 0, 1e6, 20, "ms", "tolerated queueing delay"},
      {"averaged", NotationType::whole, 1, 60'000, 50, "ms", "time over which rates are measured"},
      packets,
      bytes},
     false,
     true}};

}  // namespace
}  // namespace kneepoint
