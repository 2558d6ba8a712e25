// Controlled delay, RFC 8289 section 5: drops at the head while packets have stayed too long.
#include <cmath>
#include <tuple>
#include <utility>

#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class CodelQueue final : public FifoQueue {
 public:
  CodelQueue(Limit limit, Microseconds target_us, Microseconds interval_us)
      : FifoQueue(limit), target_us_(target_us), interval_us_(interval_us) {}

  const Packet* dequeue(Microseconds now_us) override {
    auto [packet, above_target] = take(now_us);
    if (dropping_) {
      if (not above_target) dropping_ = false;
      while (dropping_ and static_cast<double>(now_us) >= drop_next_us_) {
        drop(*packet);
        ++count_;
        std::tie(packet, above_target) = take(now_us);
        if (above_target) {
          drop_next_us_ = control_law(drop_next_us_);
        } else {
          dropping_ = false;
        }
      }
    } else if (above_target) {
      drop(*packet);
      std::tie(packet, above_target) = take(now_us);
      start_dropping(now_us);
    }
    return packet;
  }

 private:
  // The packet at the head, and whether the sojourn time has been above the target for an interval.
  std::pair<const Packet*, bool> take(Microseconds now_us) {
    if (empty()) {
      first_above_us_ = 0;
      return {nullptr, false};
    }
    const Packet& packet = pop();
    if (now_us - packet.queued_us < target_us_ or bytes() <= datagram_bytes) {
      first_above_us_ = 0;
      return {&packet, false};
    }
    if (first_above_us_ == 0) {
      first_above_us_ = now_us + interval_us_;
      return {&packet, false};
    }
    return {&packet, now_us >= first_above_us_};
  }

  void start_dropping(Microseconds now_us) {
    dropping_ = true;
    const uint32_t drops = count_ - last_count_;
    const bool recent =
        static_cast<double>(now_us) - drop_next_us_ < 16.0 * static_cast<double>(interval_us_);
    count_ = drops > 1 and recent ? drops : 1;
    last_count_ = count_;
    drop_next_us_ = control_law(static_cast<double>(now_us));
  }

  double control_law(double time_us) const {
    return time_us + static_cast<double>(interval_us_) / std::sqrt(count_);
  }

  Microseconds target_us_;
  Microseconds interval_us_;
  Microseconds first_above_us_ = 0;
  double drop_next_us_ = 0;
  uint32_t count_ = 0;
  uint32_t last_count_ = 0;
  bool dropping_ = false;
};

const QueueRegistration registration{
    "codel", [](QueueArguments& arguments, uint64_t) -> std::unique_ptr<PacketQueue> {
      const Microseconds target_us = arguments.require_time_us("target");
      const Microseconds interval_us = arguments.require_time_us("interval");
      return std::make_unique<CodelQueue>(arguments.take_limit(), target_us, interval_us);
    }};

}  // namespace
}  // namespace kneepoint
