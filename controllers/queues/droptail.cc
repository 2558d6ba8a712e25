// A finite queue that drops packets that arrive when it is full.
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

const Queues::Registration<FifoQueue> registration{
    "droptail", {"drops packets that arrive when it is full", {packets, bytes}, true}};

}  // namespace
}  // namespace kneepoint
