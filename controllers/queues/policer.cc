// A token bucket that drops packets for which it has no tokens, like policers of access networks
// (Flach et al.: An Internet-wide analysis of traffic policing, SIGCOMM 2016).
#include <algorithm>

#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class PolicerQueue final : public FifoQueue {
 public:
  PolicerQueue(const Notation& given, uint64_t seed)
      : FifoQueue(given, seed), bytes_per_us_(given["rate_mbps"] / 8), burst_(given["burst"]) {}

  void enqueue(const Packet& packet, Microseconds now_us) override {
    tokens_ = std::min(tokens_ + static_cast<double>(now_us - filled_us_) * bytes_per_us_, burst_);
    filled_us_ = now_us;
    if (tokens_ < packet.bytes or is_full_for(packet)) return drop(packet);
    tokens_ -= packet.bytes;
    push(fifo_, packet, now_us);
  }

 private:
  double bytes_per_us_;
  double burst_;            // bytes
  double tokens_ = burst_;  // bytes
  Microseconds filled_us_ = 0;
};

const Queues::Registration<PolicerQueue> registration{
    "policer",
    {"drops packets that exceed a rate and a burst, and passes the others",
     {{"rate_mbps", NotationType::positive, 0, 100'000, std::nullopt, "Mbit/s",
       "rate at which tokens arrive", true},
      {"burst", NotationType::whole, datagram_bytes, max_counted, std::nullopt, "bytes",
       "size of the bucket", true},
      packets,
      bytes}}};

}  // namespace
}  // namespace kneepoint
