// Controlled delay, RFC 8289: one queue under CoDel's rule.
#include "queues/codel.hh"

#include "queues/fifo.hh"

namespace kneepoint {
namespace {

class CodelQueue final : public FifoQueue {
 public:
  CodelQueue(const Notation& given, uint64_t seed) : FifoQueue(given, seed), codel_(given) {}

  const Packet* dequeue(Microseconds now_us) override {
    return codel_.dequeue(*this, fifo_, now_us);
  }

 private:
  Codel codel_;
};

const Queues::Registration<CodelQueue> registration{
    "codel", {"controlled delay, RFC 8289", {target, interval, ecn(false), packets, bytes}}};

}  // namespace
}  // namespace kneepoint
