// PIE as in mahimahi 0.98 (draft-ietf-aqm-pie-09): the delay is the queue's length over a departure
// rate that is measured over 16 kB, updates come every 30 ms, the gains have three steps, and
// changes of the probability have no bound. Times and delays are whole milliseconds. mahimahi seeds
// its random numbers from random_device; here they follow from the run's seed.
#include <algorithm>

#include "common/random.hh"
#include "queues/fifo.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class MahimahiPieQueue final : public FifoQueue {
 public:
  MahimahiPieQueue(const Notation& given, uint64_t seed)
      : FifoQueue(given, seed),
        reference_ms_(whole_ms(time_us(given, "qdelay_ref"))),
        burst_ms_(whole_ms(time_us(given, "max_burst"))),
        random_(seed) {}

  void enqueue(const Packet& packet, Microseconds now_us) override {
    update(whole_ms(now_us));
    // A packet that finds the queue full draws no number.
    if (not is_full_for(packet) and drops_early()) {
      drop(packet);
    } else {
      FifoQueue::enqueue(packet, now_us);
    }
  }

  const Packet* dequeue(Microseconds now_us) override {
    const Packet* const packet = FifoQueue::dequeue(now_us);
    if (packet == nullptr) return nullptr;
    measure_rate(*packet, whole_ms(now_us));
    update(whole_ms(now_us));
    return packet;
  }

 private:
  static constexpr Milliseconds update_interval_ms_ = 30;
  static constexpr uint64_t measured_bytes_ = 16'384;

  bool drops_early() {
    if (allowance_ms_ > 0) return false;
    if (old_delay_ms_ < reference_ms_ / 2 and probability_ < 0.2) return false;
    if (bytes() < 2 * datagram_bytes) return false;
    return random_.uniform() < probability_;
  }

  // While at least 16 kB wait, the rate at which the last 16 kB left, in whole bytes per
  // millisecond.
  void measure_rate(const Packet& packet, Milliseconds now_ms) {
    if (not is_measuring_ and bytes() >= measured_bytes_) begin_measuring(now_ms);
    if (not is_measuring_) return;
    departed_bytes_ += packet.bytes;
    const Milliseconds time_ms = now_ms - measuring_since_ms_;
    if (departed_bytes_ <= measured_bytes_ or time_ms == 0) return;
    const uint64_t sample = departed_bytes_ / static_cast<uint64_t>(time_ms);
    rate_bytes_per_ms_ =
        rate_bytes_per_ms_ == 0 ? sample : rate_bytes_per_ms_ - rate_bytes_per_ms_ / 8 + sample / 8;
    is_measuring_ = false;
    if (bytes() >= measured_bytes_) begin_measuring(now_ms);
    allowance_ms_ = std::max<Milliseconds>(0, allowance_ms_ - time_ms);
  }

  void begin_measuring(Milliseconds now_ms) {
    is_measuring_ = true;
    measuring_since_ms_ = now_ms;
    departed_bytes_ = 0;
  }

  void update(Milliseconds now_ms) {
    for (; now_ms - updated_ms_ > update_interval_ms_; updated_ms_ += update_interval_ms_) {
      update_probability();
    }
  }

  void update_probability() {
    old_delay_ms_ = delay_ms_;
    delay_ms_ =
        rate_bytes_per_ms_ == 0 ? 0 : static_cast<Milliseconds>(bytes() / rate_bytes_per_ms_);
    probability_ += (0.125 * static_cast<double>(delay_ms_ - reference_ms_) +
                     1.25 * static_cast<double>(delay_ms_ - old_delay_ms_)) /
                    divisor();
    const bool decays = probability_ <= 1 and (delay_ms_ > 0 or bytes() == 0);
    probability_ = std::clamp(probability_, 0.0, 1.0);
    if (delay_ms_ == 0 and old_delay_ms_ == 0 and decays) probability_ *= 0.98;
    allowance_ms_ = std::max<Milliseconds>(0, allowance_ms_ - update_interval_ms_);
    if (probability_ == 0 and delay_ms_ < reference_ms_ / 2 and
        old_delay_ms_ < reference_ms_ / 2 and rate_bytes_per_ms_ > 0) {
      is_measuring_ = false;
      rate_bytes_per_ms_ = 0;
      allowance_ms_ = burst_ms_;
    }
  }

  double divisor() const {
    if (probability_ < 0.01) return 128;
    return probability_ < 0.1 ? 32 : 16;
  }

  Milliseconds reference_ms_;
  Milliseconds burst_ms_;
  Random random_;
  Milliseconds updated_ms_ = 0;
  Milliseconds allowance_ms_ = 0;
  Milliseconds delay_ms_ = 0;
  Milliseconds old_delay_ms_ = 0;
  double probability_ = 0;
  bool is_measuring_ = false;
  Milliseconds measuring_since_ms_ = 0;
  uint64_t departed_bytes_ = 0;
  uint64_t rate_bytes_per_ms_ = 0;
};

const Queues::Registration<MahimahiPieQueue> registration{
    "pie-mahimahi",
    {"as in mahimahi 0.98: delays by a measured rate",
     {qdelay_ref, max_burst, packets, bytes},
     true}};

}  // namespace
}  // namespace kneepoint
