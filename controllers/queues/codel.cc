// Controlled delay, RFC 8289: one queue under CoDel's rule.
#include "queues/codel.hh"

#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class CodelQueue final : public FifoQueue {
 public:
  CodelQueue(Limit limit, const Codel& codel) : FifoQueue(limit), codel_(codel) {}

  const Packet* dequeue(Microseconds now_us) override { return codel_.dequeue(*this, now_us); }

 private:
  friend class kneepoint::Codel;

  Codel codel_;
};

const QueueRegistration registration{
    "codel",
    {"controlled delay, RFC 8289", {target, interval, ecn(false), packets, bytes}},
    [](const Notation& given, uint64_t) -> std::unique_ptr<PacketQueue> {
      const Codel codel(time_us(given, "target"), time_us(given, "interval"), given["ecn"] != 0);
      return std::make_unique<CodelQueue>(limit_of(given), codel);
    }};

}  // namespace
}  // namespace kneepoint
