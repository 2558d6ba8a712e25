// A finite queue that drops what arrives when it is full.
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

const QueueRegistration registration{
    "droptail", [](QueueArguments& arguments, uint64_t) -> std::unique_ptr<PacketQueue> {
      return std::make_unique<FifoQueue>(arguments.require_limit());
    }};

}  // namespace
}  // namespace kneepoint
