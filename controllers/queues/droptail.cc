// A finite queue that drops what arrives when it is full.
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

const QueueRegistration registration{
    "droptail",
    {"drops what arrives when it is full", {packets, bytes}, true},
    [](const Notation& given, uint64_t) -> std::unique_ptr<PacketQueue> {
      return std::make_unique<FifoQueue>(limit_of(given));
    }};

}  // namespace
}  // namespace kneepoint
