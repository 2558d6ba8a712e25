// Proportional integral controller enhanced, RFC 8033, with the delay read from timestamps (section
// 5.3) and the constants of its appendix A.
#include <algorithm>
#include <utility>

#include "common/random.hh"
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class PieQueue final : public FifoQueue {
 public:
  PieQueue(const Notation& given, uint64_t seed)
      : FifoQueue(given, seed),
        reference_ms_(in_ms(time_us(given, "qdelay_ref"))),
        burst_us_(time_us(given, "max_burst")),
        allowance_us_(burst_us_),
        mark_threshold_(given["ecn"] != 0 ? given["mark_ecnth"] : 0),
        random_(seed) {}

  void enqueue(const Packet& packet, Microseconds now_us) override {
    update(now_us);
    if (not drops_early()) {
      FifoQueue::enqueue(packet, now_us);
      return;
    }
    // Section 5.1: drop if marks do not reduce the load.
    Packet marked = packet;
    if (probability_ < mark_threshold_ and mark(marked)) {
      FifoQueue::enqueue(marked, now_us);
    } else {
      drop(packet);
    }
  }

  const Packet* dequeue(Microseconds now_us) override {
    update(now_us);
    const Packet* packet = FifoQueue::dequeue(now_us);
    delay_ms_ = packet != nullptr and not empty() ? in_ms(now_us - packet->queued_us) : 0;
    return packet;
  }

 private:
  static constexpr Microseconds update_interval_us_ = 15'000;
  static constexpr uint64_t mean_packet_bytes_ = datagram_bytes;  // the MTU, as in Linux

  static double in_ms(Microseconds time_us) { return static_cast<double>(time_us) / 1000; }

  bool drops_early() {
    if (allowance_us_ > 0) return false;
    if (old_delay_ms_ < reference_ms_ / 2 and probability_ < 0.2) return false;
    if (bytes() <= 2 * mean_packet_bytes_) return false;
    return random_.uniform() < probability_;
  }

  void update(Microseconds now_us) {
    for (; next_update_us_ <= now_us; next_update_us_ += update_interval_us_) update_probability();
  }

  void update_probability() {
    const double error_s = (delay_ms_ - reference_ms_) / 1000;
    const double trend_s = (delay_ms_ - old_delay_ms_) / 1000;
    double step = (0.125 * error_s + 1.25 * trend_s) * scale();
    if (probability_ >= 0.1) step = std::min(step, 0.02);
    probability_ += step;
    if (delay_ms_ == 0 and old_delay_ms_ == 0) probability_ *= 0.98;
    probability_ = std::clamp(probability_, 0.0, 1.0);
    const bool calm =
        probability_ == 0 and delay_ms_ < reference_ms_ / 2 and old_delay_ms_ < reference_ms_ / 2;
    allowance_us_ =
        calm ? burst_us_ : std::max<Microseconds>(0, allowance_us_ - update_interval_us_);
    old_delay_ms_ = delay_ms_;
  }

  // Small probabilities move in small steps (RFC 8033 section 4.2).
  double scale() const {
    static constexpr std::pair<double, double> steps[] = {
        {0.000001, 1.0 / 2048}, {0.00001, 1.0 / 512}, {0.0001, 1.0 / 128},
        {0.001, 1.0 / 32},      {0.01, 1.0 / 8},      {0.1, 1.0 / 2}};
    for (const auto& [below, factor] : steps) {
      if (probability_ < below) return factor;
    }
    return 1;
  }

  double reference_ms_;
  Microseconds burst_us_;
  Microseconds allowance_us_;
  // Below this probability packets are marked instead of dropped, if their transport is
  // ECN-capable; 0: never.
  double mark_threshold_;
  Random random_;
  Microseconds next_update_us_ = 0;
  double delay_ms_ = 0;
  double old_delay_ms_ = 0;
  double probability_ = 0;
};

const Queues::Registration<PieQueue> registration{
    "pie",
    {"proportional integral controller enhanced, RFC 8033",
     {qdelay_ref,
      max_burst,
      ecn(false),
      {"mark_ecnth", NotationType::positive, 0, 1, 0.1, "probability",
       "probability above which it drops"},
      packets,
      bytes}}};

}  // namespace
}  // namespace kneepoint
