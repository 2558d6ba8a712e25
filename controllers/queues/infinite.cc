// A queue without limit: mahimahi's default.
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class InfiniteQueue final : public FifoQueue {
 public:
  bool is_infinite() const override { return true; }
};

const QueueRegistration registration{"infinite",
                                     {"mahimahi's default"},
                                     [](const Notation&, uint64_t) -> std::unique_ptr<PacketQueue> {
                                       return std::make_unique<InfiniteQueue>();
                                     }};

}  // namespace
}  // namespace kneepoint
