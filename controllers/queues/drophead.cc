// A finite queue that makes room for an arriving packet by dropping the oldest packets.
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class DropheadQueue final : public FifoQueue {
 public:
  using FifoQueue::FifoQueue;

  void enqueue(const Packet& packet, Microseconds now_us) override {
    push(fifo_, packet, now_us);
    while (limit_.is_exceeded_by(packets(), bytes())) drop(pop(fifo_));
  }
};

const Queues::Registration<DropheadQueue> registration{
    "drophead",
    {"drops the oldest packet when it is full", {kneepoint::packets, kneepoint::bytes}, true}};

}  // namespace
}  // namespace kneepoint
