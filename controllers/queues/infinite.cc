// A queue without limit: mahimahi's default.
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class InfiniteQueue final : public FifoQueue {
 public:
  using FifoQueue::FifoQueue;

  bool is_infinite() const override { return true; }
};

const Queues::Registration<InfiniteQueue> registration{"infinite", {"mahimahi's default"}};

}  // namespace
}  // namespace kneepoint
