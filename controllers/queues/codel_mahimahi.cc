// CoDel as in mahimahi 0.98. Where RFC 8289 drops the packet at the head and delivers the next one,
// mahimahi delivers the head and drops the next one (its issue 165). The dropped packet decides
// whether it continues to drop. The last packet of a queue is never late. Times are whole
// milliseconds.
#include <cmath>

#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class MahimahiCodelQueue final : public FifoQueue {
 public:
  MahimahiCodelQueue(const Notation& given, uint64_t seed)
      : FifoQueue(given, seed),
        target_ms_(whole_ms(time_us(given, "target"))),
        interval_ms_(whole_ms(time_us(given, "interval"))) {}

  const Packet* dequeue(Microseconds now_us) override {
    if (empty()) return nullptr;
    const Milliseconds now_ms = whole_ms(now_us);
    const Packet& head = pop(fifo_);
    const bool is_late = judge(head, now_ms);
    if (not dropping_) {
      if (is_late) start_dropping(now_ms);
      return &head;
    }
    dropping_ = is_late;
    while (dropping_ and now_ms >= drop_next_ms_) {
      dropping_ = drop_next(now_ms);
      ++count_;
      if (dropping_) drop_next_ms_ = control_law(drop_next_ms_);
    }
    return &head;
  }

 private:
  // Whether packets have stayed too long for an interval, up to this packet, which has left the
  // queue.
  bool judge(const Packet& packet, Milliseconds now_ms) {
    const Milliseconds sojourn_ms = now_ms - whole_ms(packet.queued_us);
    if (empty() or sojourn_ms < target_ms_ or bytes() <= datagram_bytes) {
      first_above_ms_ = 0;
      return false;
    }
    if (first_above_ms_ == 0) {
      first_above_ms_ = now_ms + interval_ms_;
      return false;
    }
    return now_ms >= first_above_ms_;
  }

  bool drop_next(Milliseconds now_ms) {
    const Packet& packet = pop(fifo_);
    drop(packet);
    return judge(packet, now_ms);
  }

  void start_dropping(Milliseconds now_ms) {
    drop_next(now_ms);
    dropping_ = true;
    const uint32_t drops = count_ - last_count_;
    // mahimahi's numbers are unsigned: a next drop in the future is not recent.
    const bool is_recent = now_ms >= drop_next_ms_ and now_ms - drop_next_ms_ < 16 * interval_ms_;
    count_ = drops > 1 and is_recent ? drops : 1;
    last_count_ = count_;
    drop_next_ms_ = control_law(now_ms);
  }

  Milliseconds control_law(Milliseconds time_ms) const {
    return time_ms +
           static_cast<Milliseconds>(static_cast<double>(interval_ms_) / std::sqrt(count_));
  }

  Milliseconds target_ms_;
  Milliseconds interval_ms_;
  Milliseconds first_above_ms_ = 0;
  Milliseconds drop_next_ms_ = 0;
  uint32_t count_ = 0;
  uint32_t last_count_ = 0;
  bool dropping_ = false;
};

const Queues::Registration<MahimahiCodelQueue> registration{
    "codel-mahimahi",
    {"as in mahimahi 0.98: drops the second packet", {target, interval, packets, bytes}, true}};

}  // namespace
}  // namespace kneepoint
