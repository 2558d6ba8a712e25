// C4: a nominal rate that only measurements raise and only congestion lowers, and a window for the
// longest RTT that jitter alone explains. draft-huitema-ccwg-c4-spec.
//
// The interval of a delivery rate is the draft's, or longer if a packet left after a pause. Senders
// here always have data and send single packets, so that neither application limits nor the quantum
// matter.
#include <algorithm>

#include "algorithms/delivery_rate.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class C4 final : public Controller {
 public:
  explicit C4(Parameters& parameters)
      : Controller(parameters, 1000),
        initial_window_(initial_window(parameters)),
        push_(parameters.real("push", 1.25, {.low = 1.1, .high = 1.5, .min = 1}, "1",
                              "gain of pushing after a push that raised the rate")),
        weak_push_(parameters.real("weak_push", 1.0625, {.low = 1.01, .high = 1.25, .min = 1}, "1",
                                   "gain of pushing after a push that did not raise the rate")),
        recovery_(parameters.real("recovery", 0.9375, {.low = 0.5, .high = 1, .min = 0.1, .max = 1},
                                  "1", "gain of the round trip after a push or congestion")),
        cruise_rtts_(parameters.integer("cruise_rtts", 4, {.low = 1, .high = 16, .min = 1}, "RTT",
                                        "time between recovery and push")),
        beta_(parameters.real("beta", 0.25, {.low = 0.05, .high = 0.5, .max = 0.9}, "1",
                              "greatest decrease of the rate at congestion")),
        delay_s_(parameters.real("delay_ms", 25,
                                 {.low = 5, .high = 100, .min = 0.1, .scale = Scale::log}, "ms",
                                 "greatest delay beyond the nominal RTT that is no congestion") /
                 1000),
        jitter_s_(parameters.real("max_jitter_ms", 250, {.low = 10, .high = 500}, "ms",
                                  "greatest jitter that the nominal RTT covers") /
                  1000) {}

  double window() const override {
    if (rate_ <= 0) return initial_window_;
    return std::clamp(gain_ * rate_ * nominal_s_, min_window_, widest_window);
  }

  double pacing_us() const override {
    return rate_ <= 0 ? 0 : std::min(1e6 / (gain_ * rate_), longest_us_);
  }

  void on_sent(uint64_t sequence_number, int64_t now_ms) override {
    delivery_.on_sent(sequence_number, now_ms);
  }

  void on_ack(const Ack& ack) override {
    const auto sample = delivery_.on_ack(ack);
    // A rate from a part of the first window would be too low.
    const bool is_assessable = delivery_.delivered() >= initial_window_ and not is_congested_;
    if (sample and is_assessable) rate_ = std::max(rate_, sample->delivery_rate);
    // This acknowledgment, and all until the next era, acknowledge packets sent in the ending era.
    if (rounds_.advance(ack)) end_era();
    hear_losses(ack);
    if (loss_share_ > 0.02 + 0.5 * (1 - sensitivity())) be_congested(ack, beta_, 1);
    if (not measures_rtt(ack)) return;
    const double rtt = rtt_ms(ack) / 1e3;
    if (nominal_s_ <= 0) nominal_s_ = running_least_s_ = rtt;
    era_least_s_ = std::min(era_least_s_, rtt);
    era_most_s_ = std::max(era_most_s_, rtt);
    const double margin = std::min(delay_s_, nominal_s_ * (4 - 3 * sensitivity()) / 16);
    const double excess = rtt - nominal_s_ - margin;
    if (excess > 0) be_congested(ack, std::min(beta_, excess / margin), 2);
  }

  // Timeouts are no sign of congestion.
  void on_loss(const Loss& loss) override { delivery_.on_loss(loss); }

 private:
  enum class State { initial, recovery, cruising, pushing };

  // The sensitivity to congestion, from 0 to 1, grows with the rate: large flows react earlier.
  double sensitivity() const {
    const double bytes_per_s = rate_ * segment_bytes_;
    if (bytes_per_s <= 1e6) return 0.92 * std::max(bytes_per_s - 5e4, 0.0) / 9.5e5;
    return 0.92 + 0.08 * std::min((bytes_per_s - 1e6) / 9e6, 1.0);
  }

  void hear_losses(const Ack& ack) {
    loss_share_ = 1 - (1 - loss_share_) * kept(delivery_.newly_lost());
    loss_share_ *= kept(static_cast<double>(ack.acknowledged));
  }

  // The part of the smoothed loss share that remains after so many more packets.
  static double kept(double packets) {
    double share = 1;
    for (; packets > 0; --packets) share *= 15 / 16.0;
    return share;
  }

  void end_era() {
    if (state_ != State::initial and earlier_gain_ <= 1) measure_rtt();
    if (state_ == State::initial) {
      rtts_without_increase_ = rate_ > era_rate_ ? 0 : rtts_without_increase_ + 1;
      era_rate_ = rate_;
      enter(rtts_without_increase_ >= 3 ? State::recovery : State::initial);
    } else if (state_ == State::recovery) {
      end_recovery();
    } else if (state_ == State::cruising) {
      enter(++cruised_ >= cruise_rtts_ ? State::pushing : State::cruising);
    } else {
      has_pushed_ = true;
      enter(State::recovery);
    }
  }

  void measure_rtt() {
    if (era_most_s_ <= 0) return;
    running_least_s_ =
        era_least_s_ < running_least_s_ ? era_least_s_ : (7 * running_least_s_ + era_least_s_) / 8;
    const double max = std::min(era_most_s_, running_least_s_ + jitter_s_);
    nominal_s_ = max > nominal_s_ ? max : (7 * nominal_s_ + max) / 8;
  }

  void end_recovery() {
    if (has_pushed_) {
      const double wanted = push_gain_ > 17 / 16.0 ? (push_gain_ - 1) / 4 : 0;
      const bool has_risen = rate_ > recovered_rate_ * (1 + wanted);
      successes_ = has_risen and not is_congested_ ? successes_ + 1 : 0;
      push_gain_ = successes_ > 0 ? push_ : weak_push_;
    } else if (is_congested_) {
      successes_ = 0;
    }
    recovered_rate_ = rate_;
    has_pushed_ = is_congested_ = false;
    const bool sees_jitter = not has_seen_jitter_ and running_least_s_ < nominal_s_ * 2 / 5;
    has_seen_jitter_ = has_seen_jitter_ or sees_jitter;
    if (successes_ < 3 and not sees_jitter) return enter(State::cruising);
    successes_ = rtts_without_increase_ = 0;
    era_rate_ = rate_;
    enter(State::initial);
  }

  // In the Initial state losses count after 20 packets, and delays after `patience` round trips
  // without an increase. Signals in Recovery concern packets sent before it.
  void be_congested(const Ack& ack, double decrease, int patience) {
    if (state_ == State::recovery) {
      is_congested_ = true;
      return;
    }
    if (state_ == State::initial) {
      if (patience == 1 ? ack.delivered <= 20 : rtts_without_increase_ < patience) return;
    } else {
      rate_ *= 1 - decrease;
    }
    is_congested_ = true;
    rounds_.begin(ack);
    enter(State::recovery);
  }

  void enter(State state) {
    if (state == State::cruising and state_ != State::cruising) cruised_ = 0;
    if (state_ == State::pushing and is_congested_) push_gain_ = weak_push_;
    state_ = state;
    earlier_gain_ = gain_;
    gain_ = state == State::initial    ? initial_gain_
            : state == State::recovery ? recovery_
            : state == State::cruising ? 1
                                       : push_gain_;
    era_least_s_ = infinity;
    era_most_s_ = 0;
  }

  static constexpr double segment_bytes_ = 1448;
  static constexpr double initial_gain_ = 2;
  static constexpr double min_window_ = 2;
  static constexpr double longest_us_ = 1e6;

  double initial_window_;
  double push_;
  double weak_push_;
  double recovery_;
  double cruise_rtts_;
  double beta_;
  double delay_s_;
  double jitter_s_;
  DeliveryRate delivery_{};
  Rounds rounds_{};  // eras
  State state_ = State::initial;
  double rate_ = 0;  // nominal, packets/s
  double nominal_s_ = 0;
  double running_least_s_ = 0;
  double era_least_s_ = infinity;
  double era_most_s_ = 0;
  double gain_ = initial_gain_;
  double earlier_gain_ = initial_gain_;  // of the previous era
  double push_gain_ = weak_push_;
  double era_rate_ = 0;
  double recovered_rate_ = 0;
  int rtts_without_increase_ = 0;
  int cruised_ = 0;
  int successes_ = 0;
  bool has_pushed_ = false;
  bool is_congested_ = false;
  bool has_seen_jitter_ = false;
  double loss_share_ = 0;
};

const Registration<C4> registration{"c4", "a nominal rate, and the longest RTT without congestion",
                                    "draft-huitema-ccwg-c4-spec"};

}  // namespace
}  // namespace kneepoint
