// The rule of CoDel, RFC 8289 section 5, over any part of a queue.
#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "queues/registry.hh"

namespace kneepoint {

// Drops packets at the head while packets stay too long.
class Codel {
 public:
  // With `ecn`, packets of ECN-capable transports are marked instead of dropped.
  explicit Codel(const Notation& given)
      : target_us_(time_us(given, "target")),
        interval_us_(time_us(given, "interval")),
        marks_(given["ecn"] != 0) {}

  // The next packet of `fifo`, a part of the queue.
  const Packet* dequeue(PacketQueue& queue, Fifo& fifo, Microseconds now_us) {
    auto [packet, above_target] = take(queue, fifo, now_us);
    if (dropping_) {
      if (not above_target) dropping_ = false;
      while (dropping_ and static_cast<double>(now_us) >= drop_next_us_) {
        ++count_;
        if (marks_ and queue.mark(*packet)) {
          drop_next_us_ = control_law(drop_next_us_);
          break;
        }
        queue.drop(*packet);
        std::tie(packet, above_target) = take(queue, fifo, now_us);
        if (above_target) {
          drop_next_us_ = control_law(drop_next_us_);
        } else {
          dropping_ = false;
        }
      }
    } else if (above_target) {
      if (not marks_ or not queue.mark(*packet)) {
        queue.drop(*packet);
        std::tie(packet, above_target) = take(queue, fifo, now_us);
      }
      start_dropping(now_us);
    }
    return packet;
  }

 private:
  // The packet at the head, and whether the sojourn time has been above the target for an interval.
  std::pair<Packet*, bool> take(PacketQueue& queue, Fifo& fifo, Microseconds now_us) {
    if (fifo.empty()) {
      first_above_us_ = 0;
      return {nullptr, false};
    }
    Packet& packet = queue.pop(fifo);
    if (now_us - packet.queued_us < target_us_ or fifo.bytes() <= datagram_bytes) {
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
  bool marks_;
  Microseconds first_above_us_ = 0;
  double drop_next_us_ = 0;
  uint32_t count_ = 0;
  uint32_t last_count_ = 0;
  bool dropping_ = false;
};

}  // namespace kneepoint
