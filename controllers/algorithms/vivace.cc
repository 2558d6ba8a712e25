// PCC Vivace: tries a higher and a lower rate in monitor intervals of an RTT, and follows the
// gradient of a utility of throughput, RTT and losses. Dong et al., NSDI 2018, sections 3 and 4.
// The minimum rate, the minimum step and the rule that a falling RTT adds no utility come from the
// authors' program (github.com/PCCproject/PCC-Uspace, pcc_vivace_sender.cpp and
// pcc_utility_manager.cpp).
//
// The order within pairs of trials alternates instead of being random. Rates count segments of 1448
// bytes. Only acknowledgments begin intervals. The paper has no window; here a window of two
// seconds at the current rate bounds the queue of an outage.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "common/portable_math.hh"

namespace kneepoint {
namespace {

// A monitor interval: the packets sent at one rate for a round trip, their acknowledgments and
// their losses.
class Interval {
 public:
  enum class Use { none, start, higher, lower };

  Interval(Use use, double rate_mbps, uint64_t first, double now)
      : use_(use), rate_mbps_(rate_mbps), first_(first), began_s_(now) {}

  Use use() const { return use_; }
  double rate_mbps() const { return rate_mbps_; }
  bool has(uint64_t number) const { return number < end_; }
  void end(uint64_t next, double now) {
    end_ = next;
    length_s_ = now - began_s_;
  }

  void add(const Ack& ack, double lost) {
    acknowledged_ += static_cast<double>(ack.acknowledged);
    lost_ += lost;
    if (not measures_rtt(ack)) return;
    const double rtt = rtt_s(ack);
    const double sent_s = now_s(ack) - rtt - began_s_;
    ++samples_;
    sum_t_ += sent_s;
    sum_r_ += rtt;
    sum_tt_ += sent_s * sent_s;
    sum_tr_ += sent_s * rtt;
  }

  // The growth of the RTT per second, by linear regression over the times of sending.
  double rtt_gradient() const {
    const double spread = samples_ * sum_tt_ - sum_t_ * sum_t_;
    return spread > 1e-12 ? (samples_ * sum_tr_ - sum_t_ * sum_r_) / spread : 0;
  }
  double sent() const { return static_cast<double>(end_ - first_); }
  double loss() const { return lost_ > 0 ? lost_ / (acknowledged_ + lost_) : 0; }
  double sent_per_s() const { return sent() / length_s_; }

 private:
  Use use_;
  double rate_mbps_;
  uint64_t first_;
  uint64_t end_ = UINT64_MAX;
  double began_s_;
  double length_s_ = 0;
  double acknowledged_ = 0;
  double lost_ = 0;
  double samples_ = 0;
  double sum_t_ = 0;
  double sum_r_ = 0;
  double sum_tt_ = 0;
  double sum_tr_ = 0;
};

class Vivace final : public Controller {
 public:
  explicit Vivace(Parameters& parameters)
      : Controller(parameters, 1000),
        initial_window_(initial_window(parameters)),
        exponent_(parameters.real("exponent", 0.9,
                                  {.low = 0.5, .high = 0.99, .min = 0.01, .max = 1}, "1",
                                  "of the rate, in the utility")),
        latency_(parameters.real("latency", 900, {.low = 1, .high = 2000, .scale = Scale::log}, "1",
                                 "price of a growing RTT (b)")),
        loss_(parameters.real("loss", 11.35, {.low = 1, .high = 50, .scale = Scale::log}, "1",
                              "price of losses (c)")),
        tolerated_gradient_(parameters.real("tolerated_gradient", 0.01,
                                            {.low = 0.001, .high = 0.1, .scale = Scale::log}, "s/s",
                                            "growth of the RTT that is tolerated")),
        probe_(parameters.real("probe", 0.05, {.low = 0.01, .high = 0.2, .min = 1e-3, .max = 0.5},
                               "1", "how far trials lie from the rate")),
        theta_(parameters.real("theta", 1, {.low = 0.1, .high = 10, .scale = Scale::log}, "1",
                               "step for a gradient of the utility")),
        boundary_(parameters.real("boundary", 0.05,
                                  {.low = 0.01, .high = 0.5, .min = 1e-3, .max = 1}, "1",
                                  "greatest step at first, of the rate")),
        boundary_step_(parameters.real("boundary_step", 0.1, {.low = 0, .high = 0.5, .max = 1}, "1",
                                       "increase of the boundary after a bounded step")) {}

  static constexpr bool governs_recovery = true;

  double window() const override {
    return intervals_.empty() ? initial_window_ : std::min(2 * sent_per_s(), widest_window);
  }

  double pacing_us() const override { return intervals_.empty() ? 0 : 1e6 / sent_per_s(); }

  void on_sent(uint64_t sequence_number, int64_t) override { next_ = sequence_number + 1; }

  void on_ack(const Ack& ack) override {
    if (measures_rtt(ack)) {
      srtt_s_.add(rtt_ms(ack) / 1e3);
    }
    if (not srtt_s_.is_known()) return;
    const double now = now_s(ack);
    if (intervals_.empty()) {
      rate_mbps_ = to_mbps(initial_window_ / srtt_s_.value());
      begin(Interval::Use::start, rate_mbps_, now);
    }
    while (intervals_.size() > 1 and not intervals_.front().has(ack.sequence_number)) {
      judge(intervals_.front());
      intervals_.pop_front();
    }
    const double lost =
        ack.lost > reported_lost_ ? static_cast<double>(ack.lost - reported_lost_) : 0;
    reported_lost_ = ack.lost;
    if (ack.sequence_number >= first_) intervals_.front().add(ack, lost);
    if (now >= ends_s_) go_on(now);
  }

 private:
  using Use = Interval::Use;

  static double to_mbps(double packets_per_s) { return packets_per_s * segment_bits_ / 1e6; }
  double sent_per_s() const { return trial_mbps_ * 1e6 / segment_bits_; }

  void begin(Use use, double rate_mbps, double now) {
    if (intervals_.empty()) {
      first_ = next_;
    } else {
      intervals_.back().end(next_, now);
    }
    trial_mbps_ = rate_mbps;
    intervals_.emplace_back(use, rate_mbps, next_, now);
    const double sending_s = min_packets_ / sent_per_s();
    ends_s_ = now + std::max(srtt_s_.value(), sending_s);
  }

  // Begins the next trial, or an interval at the rate itself while results are outstanding.
  void go_on(double now) {
    if (is_starting_ and not awaits_) {
      rate_mbps_ = 2 * start_mbps_;
      awaits_ = true;
      begin(Use::start, rate_mbps_, now);
    } else if (not is_starting_ and trials_ < 2) {
      const bool is_higher = (trials_ == 0) == begins_higher_;
      ++trials_;
      begin(is_higher ? Use::higher : Use::lower,
            rate_mbps_ * (is_higher ? 1 + probe_ : 1 - probe_), now);
    } else {
      begin(Use::none, rate_mbps_, now);
    }
  }

  double utility(const Interval& interval) const {
    const double gradient = interval.rtt_gradient();
    const double counted = gradient < tolerated_gradient_ ? 0 : gradient;  // a fall counts as none
    const double mbps = to_mbps(interval.sent_per_s());
    return portable::pow(mbps, exponent_) - latency_ * mbps * counted -
           loss_ * mbps * interval.loss();
  }

  void judge(const Interval& interval) {
    if (interval.use() == Use::none) return;
    const double value = utility(interval);
    if (interval.use() == Use::start) {
      start(interval.rate_mbps(), value);
    } else {
      (interval.use() == Use::higher ? higher_ : lower_) = value;
      if (++judged_ == 2) step();
    }
  }

  // Doubles the rate as long as the utility grows.
  void start(double rate_mbps, double value) {
    awaits_ = false;
    is_starting_ = is_starting_ and value > start_utility_;
    if (not is_starting_) {
      rate_mbps_ = trial_mbps_ = start_mbps_;
      return;
    }
    start_mbps_ = rate_mbps;
    start_utility_ = value;
  }

  void step() {
    trials_ = judged_ = 0;
    begins_higher_ = not begins_higher_;
    const double gradient = (higher_ - lower_) / (2 * probe_ * rate_mbps_);
    const bool rises = gradient > 0;
    same_ = rises == rose_ ? same_ + 1 : 1;
    if (rises != rose_) bounded_ = 0;
    rose_ = rises;
    const double confidence = same_ <= 3 ? same_ : 2 * same_ - 3;
    const double wanted = confidence * theta_ * std::abs(gradient);
    // The boundary rises with each step that reaches it, and falls to the boundary that a smaller
    // step needs.
    const double max = (boundary_ + bounded_ * boundary_step_) * rate_mbps_;
    if (wanted > max) {
      ++bounded_;
    } else if (boundary_step_ > 0) {
      const double needed = (wanted / rate_mbps_ - boundary_) / boundary_step_;
      bounded_ = std::max(std::ceil(needed), 0.0);
    }
    const double moved = std::max(std::min(wanted, max), min_step_mbps_);
    rate_mbps_ = std::max(rate_mbps_ + (rises ? moved : -moved), min_mbps_);
  }

  static constexpr double segment_bits_ = 1448 * 8;
  static constexpr double min_packets_ = 10;  // packets in an interval
  static constexpr double min_mbps_ = 0.5;
  static constexpr double min_step_mbps_ = 0.5;

  double initial_window_;
  double exponent_;
  double latency_;
  double loss_;
  double tolerated_gradient_;
  double probe_;
  double theta_;
  double boundary_;
  double boundary_step_;
  std::deque<Interval> intervals_{};  // with packets in flight
  double rate_mbps_ = 0;
  double trial_mbps_ = 0;
  SmoothedRtt srtt_s_{};
  uint64_t reported_lost_ = 0;  // packets lost so far
  uint64_t next_ = 0;           // the next packet to be sent
  uint64_t first_ = 0;          // the first packet of an interval
  double ends_s_ = 0;
  bool is_starting_ = true;
  bool awaits_ = true;  // the result of a start
  double start_mbps_ = 0;
  double start_utility_ = std::numeric_limits<double>::lowest();
  bool begins_higher_ = true;
  int trials_ = 0;
  int judged_ = 0;
  double higher_ = 0;
  double lower_ = 0;
  bool rose_ = true;
  double same_ = 0;
  double bounded_ = 0;
};

const Registration<Vivace> registration{"vivace", "follows the gradient of a utility of its rate",
                                        "Dong et al., NSDI 2018"};

}  // namespace
}  // namespace kneepoint
