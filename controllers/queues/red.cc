// Random early detection (Floyd, Jacobson: Random early detection gateways for congestion
// avoidance, IEEE/ACM Transactions on Networking 1(4), 1993), in packets; gentle as an option.
#include <algorithm>

#include "common/portable_math.hh"
#include "common/random.hh"
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class RedQueue final : public FifoQueue {
 public:
  RedQueue(const Notation& given, uint64_t seed)
      : FifoQueue(given, seed),
        min_(given["min"]),
        max_(given["max"]),
        max_probability_(given["max_p"]),
        weight_(given["weight"]),
        transmission_us_(datagram_bytes * 8 / given["rate_mbps"]),
        is_gentle_(given["gentle"] != 0),
        marks_(given["ecn"] != 0),
        random_(seed) {}

  void enqueue(const Packet& packet, Microseconds now_us) override {
    average(now_us);
    switch (decide()) {
      case Decision::pass:
        return FifoQueue::enqueue(packet, now_us);
      case Decision::notify: {
        // Beyond max_th it drops packets of all flows (RFC 3168, section 7).
        Packet marked = packet;
        if (marks_ and mark(marked)) return FifoQueue::enqueue(marked, now_us);
        return drop(packet);
      }
      case Decision::drop:
        return drop(packet);
    }
  }

  const Packet* dequeue(Microseconds now_us) override {
    const Packet* const packet = FifoQueue::dequeue(now_us);
    if (empty() and packet != nullptr) idle_since_us_ = now_us;
    return packet;
  }

 private:
  enum class Decision { pass, notify, drop };

  // An idle period counts as if this many small packets had found the queue empty.
  void average(Microseconds now_us) {
    if (empty()) {
      const double missed = static_cast<double>(now_us - idle_since_us_) / transmission_us_;
      average_ *= portable::exp(std::max(missed * log_of_rest_, -50.0));
    } else {
      average_ += weight_ * (static_cast<double>(packets()) - average_);
    }
  }

  Decision decide() {
    if (average_ < min_) {
      since_last_ = -1;
      return Decision::pass;
    }
    if (average_ >= (is_gentle_ ? 2 * max_ : max_)) {
      since_last_ = 0;
      return Decision::drop;
    }
    const double probability =
        average_ < max_ ? max_probability_ * (average_ - min_) / (max_ - min_)
                        : max_probability_ + (1 - max_probability_) * (average_ - max_) / max_;
    // Spreads the picked packets evenly: the probability grows with the packets since the last
    // pick.
    ++since_last_;
    const double spread = 1 - static_cast<double>(since_last_) * probability;
    if (spread > 0 and random_.uniform() >= probability / spread) return Decision::pass;
    since_last_ = 0;
    return Decision::notify;
  }

  double min_;              // the paper's min_th
  double max_;              // max_th
  double max_probability_;  // max_p
  double weight_;           // w_q
  double transmission_us_;  // s: of a packet, by which idle time is counted
  bool is_gentle_;          // beyond max_th the probability grows to 1 at twice max_th
  bool marks_;
  Random random_;
  double log_of_rest_ = portable::log(1 - weight_);
  double average_ = 0;
  int64_t since_last_ = -1;  // packets since the last pick
  Microseconds idle_since_us_ = 0;
};

constexpr double max_packets = 1e6;

const Queues::Registration<RedQueue> registration{
    "red",
    {"random early detection, Floyd and Jacobson 1993, in packets",
     {{"min", NotationType::positive, 0, max_packets, std::nullopt, "packets",
       "average below which no packet is dropped", true, "max"},
      {"max", NotationType::positive, 0, max_packets, std::nullopt, "packets",
       "average from which all packets are dropped", true},
      {"max_p", NotationType::positive, 0, 1, 0.02, "probability", "probability of a drop at max"},
      {"weight", NotationType::positive, 0, 0.5, 0.002, "share",
       "weight of a new packet in the average"},
      {"rate_mbps", NotationType::positive, 0, 100'000, 10, "Mbit/s",
       "rate at which the average decays while the queue is idle"},
      flag("gentle", false, "the probability grows from max_p at max to 1 at twice max"),
      ecn(false),
      packets,
      bytes}}};

}  // namespace
}  // namespace kneepoint
