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
    "codel", [](QueueArguments& arguments, uint64_t) -> std::unique_ptr<PacketQueue> {
      const Microseconds target_us = arguments.require_time_us("target");
      const Microseconds interval_us = arguments.require_time_us("interval");
      const Codel codel(target_us, interval_us, arguments.take_flag("ecn").value_or(false));
      return std::make_unique<CodelQueue>(arguments.take_limit(), codel);
    }};

}  // namespace
}  // namespace kneepoint
