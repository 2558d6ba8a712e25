// A finite queue that makes room for the packet that arrives by dropping the oldest ones.
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class DropheadQueue final : public FifoQueue {
 public:
  using FifoQueue::FifoQueue;

  void enqueue(const Packet& packet, Microseconds now_us) override {
    push(packet, now_us);
    while (overfull()) drop(pop());
  }
};

const QueueRegistration registration{
    "drophead",
    {"drops the oldest packet when it is full", {packets, bytes}, true},
    [](const Notation& given, uint64_t) -> std::unique_ptr<PacketQueue> {
      return std::make_unique<DropheadQueue>(limit_of(given));
    }};

}  // namespace
}  // namespace kneepoint
