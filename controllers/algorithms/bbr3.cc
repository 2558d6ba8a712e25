// BBR, version 3: like the first, with bounds of rate and flight that follow losses, and probes for
// more at a time that suits flows of Reno. draft-ietf-ccwg-bbr.
//
// Senders here always have data. What the draft draws at random has its mean. Losses are judged by
// the packet whose acknowledgment tells of them.
#include <algorithm>

#include "algorithms/bbr3_model.hh"
#include "algorithms/bbr_model.hh"
#include "algorithms/delivery_rate.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Bbr3 final : public Windowed {
 public:
  explicit Bbr3(Constants& constants)
      : Windowed(constants, 1000),
        startup_gain_(constants.real("startup_gain", 2.77, {.low = 1.5, .high = 4, .least = 1}, "1",
                                     "gain of the rate until the pipe is full")),
        cwnd_gain_(cwnd_gain(constants)),
        up_gain_(constants.real("up_gain", 1.25, {.low = 1, .high = 1.5, .least = 1}, "1",
                                "gain of the rate while it probes for more")),
        loss_threshold_(constants.real("loss_threshold", 0.02,
                                       {.low = 0.005, .high = 0.2, .most = 1, .scale = Scale::log},
                                       "1", "share of losses that ends a probe")),
        beta_(constants.real("beta", 0.7, {.low = 0.5, .high = 0.9, .most = 1}, "1",
                             "least share of a bound that losses leave")),
        probe_wait_s_(constants.real("probe_wait_s", 2.5, {.low = 1, .high = 5, .least = 0.1}, "s",
                                     "longest time between probes for more")),
        probe_rtt_(constants, "time at half the product that finds it"),
        initial_window_(cwnd_) {}

  static constexpr bool governs_recovery = true;

  double pacing_us() const override { return gap_us_; }

  void on_sent(uint64_t sequence_number, int64_t now_ms) override {
    delivery_.on_sent(sequence_number, now_ms);
  }

  void on_ack(const Ack& ack) override {
    const double now = now_s(ack);
    if (is_recovering_ and not ack.is_recovering) cwnd_ = std::max(cwnd_, before_.cwnd);
    is_recovering_ = ack.is_recovering;
    is_limited_by_window_ = delivery_.flight() > cwnd_ - 1;
    const auto sample = delivery_.on_ack(ack);
    if (delivery_.lost() > 0) short_.lose(delivery_);
    if (sample) learn(*sample);
    if (measures_rtt(ack)) rtt_.add(rtt_ms(ack) / 1e3, now);
    if (not sample or not rtt_.is_known()) return;
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    extra_.add(acknowledged, now, rate(), cwnd_, rounds_, pipe_.is_full ? 10 : 1);
    move(*sample, acknowledged, now);
    short_.advance(*sample, delivery_);
    control(acknowledged);
  }

  void on_loss(const Loss& loss) override {
    delivery_.on_loss(loss);
    save();
    if (loss.kind == Loss::Kind::timed_out) cwnd_ = 1;
  }

  // Section 5.5.11.2.
  void on_undo(const Undo&) override {
    cwnd_ = std::max(cwnd_, before_.cwnd);
    pipe_.begin();
    short_.undo(before_.short_rate, before_.short_flight);
    long_.reach(before_.long_flight);
    if (has_left_startup_) pipe_.is_full = false;
    if (state_ == State::probe_rtt) return;
    if (has_left_startup_) {
      state_ = State::startup;
    } else if (has_left_up_ and state_ != State::up) {
      refill();
    }
  }

 private:
  enum class State { startup, drain, down, cruise, refill, up, probe_rtt };

  // What is in force when a recovery begins (section 5.5.11.1 and, of the window, 5.6.4.4).
  struct Before {
    double cwnd = 0;
    double short_rate = 0;
    double short_flight = 0;
    double long_flight = 0;
  };

  void save() {
    const bool is_reduced = is_recovering_ or state_ == State::probe_rtt or cwnd_ < least_window_;
    before_ = {is_reduced ? std::max(before_.cwnd, cwnd_) : cwnd_, short_.rate(), short_.flight(),
               long_.flight()};
    has_left_startup_ = has_left_up_ = false;
  }

  double most_rate() const { return rates_.best(); }
  double rate() const { return std::min(most_rate(), short_.rate()); }
  double bdp(double gain) const { return gain * rate() * rtt_.least_s(); }
  bool is_probing() const {
    return state_ == State::startup or state_ == State::refill or state_ == State::up;
  }
  bool is_in_probe_bw() const { return state_ >= State::down and state_ <= State::up; }

  // A quantum, of a millisecond, is what TCP's hosts send at once (section 5.5.7).
  void set_rate(double packets_per_s) {
    pacing_rate_ = std::max(packets_per_s, 1.0);
    gap_us_ = 1e6 / pacing_rate_;
    quantum_ = std::max(std::min(pacing_rate_ / 1e3, 64e3 * 8 / segment_bits_), 2.0);
  }
  // Room for three.
  double with_quanta(double packets) const {
    return std::max(packets, std::max(3 * quantum_, least_window_)) + (state_ == State::up ? 2 : 0);
  }
  double probe_rtt_window() const { return std::max(bdp(0.5), least_window_); }
  double target_flight() const { return std::min(bdp(1), cwnd_); }

  // Rounds, the greatest rate of two cycles, and the bounds of losses.
  void learn(const RateSample& sample) {
    ends_round_ = round_.ends(sample, delivery_);
    if (ends_round_) {
      ++rounds_;
      ++rounds_since_probe_;
    }
    if (sample.packets_per_s >= most_rate() or not sample.is_limited) {
      rates_.add(sample.packets_per_s, cycles_, 1);
    }
    if (not short_.learn(sample, delivery_)) return;
    const bool is_lossy = short_.lost() > loss_threshold_ * sample.flight;
    if (state_ == State::startup and is_lossy and short_.ranges() >= 6) {
      pipe_.is_full = has_left_startup_ = true;
      long_.bound(std::max(bdp(1), short_.latest_flight()));
    }
    if (not is_probing()) short_.bound(most_rate(), cwnd_, beta_);
    short_.end_round();
  }

  void move(const RateSample& sample, double acknowledged, double now) {
    if (ends_round_ and not sample.is_limited) pipe_.look(sample.packets_per_s, 1.25);
    if (state_ == State::startup and pipe_.is_full) {
      state_ = State::drain;
      drain_round_ = rounds_;
    }
    if (state_ == State::drain and
        (delivery_.flight() <= with_quanta(bdp(1)) or rounds_ > drain_round_ + 3)) {
      go_down(now);
    }
    if (pipe_.is_full and not adapt(sample, acknowledged, now) and is_in_probe_bw()) {
      advance(sample, now);
    }
    if (rtt_.is_stale() and state_ != State::probe_rtt) {
      state_ = State::probe_rtt;
      probe_rtt_.begin();
      is_stopping_ = true;
      round_.begin(delivery_);
    }
    if (state_ != State::probe_rtt or
        not probe_rtt_.is_over(now, probe_rtt_window(), ends_round_, delivery_, round_)) {
      return;
    }
    rtt_.probed(now);
    short_.forget();
    state_ = State::startup;
    if (not pipe_.is_full) return;
    go_down(now);
    state_ = State::cruise;
  }

  // What a probe's acknowledgments say of the flight; whether they have decided the state.
  bool adapt(const RateSample& sample, double acknowledged, double now) {
    if (is_stopping_ and ends_round_) {
      is_probe_sample_ = is_stopping_ = false;
      if (is_in_probe_bw() and not sample.is_limited) ++cycles_;
      if (is_in_probe_bw() and was_cautious_ and not was_too_high_) {
        refill();
        return true;
      }
    }
    if (sample.lost > loss_threshold_ * sample.flight) {
      if (not is_probe_sample_) return false;
      was_too_high_ = true;
      is_probe_sample_ = false;
      if (not sample.is_limited) long_.bound(std::max(sample.flight, beta_ * target_flight()));
      if (state_ == State::up) {
        has_left_up_ = true;
        go_down(now);
      }
      return state_ == State::down;
    }
    if (not long_.is_known()) return false;
    long_.reach(sample.flight);
    if (state_ == State::up and is_limited_by_window_ and cwnd_ >= long_.flight()) {
      long_.raise(acknowledged);
      if (ends_round_) long_.steepen(cwnd_);
    }
    return false;
  }

  void advance(const RateSample& sample, double now) {
    if (state_ == State::down or state_ == State::cruise) {
      const bool is_time = now > cycle_began_s_ + probe_wait_s_ or
                           rounds_since_probe_ >= std::min(target_flight(), 63.0);
      if (is_time) return refill();
      const bool is_drained =
          delivery_.flight() <= std::min(long_.with_headroom(least_window_), with_quanta(bdp(1)));
      if (state_ == State::down and is_drained) state_ = State::cruise;
    } else if (state_ == State::refill) {
      if (not ends_round_) return;
      is_probe_sample_ = true;
      round_.begin(delivery_);
      pipe_.begin(sample.packets_per_s);
      state_ = State::up;
      long_.steepen(cwnd_);
    } else {
      was_cautious_ = was_too_high_ and delivery_.flight() >= long_.flight();
      const bool is_bounded = is_limited_by_window_ and cwnd_ >= long_.flight();
      if (is_bounded) pipe_.begin(sample.packets_per_s);
      if (not was_cautious_ and not pipe_.is_full_now) return;
      was_too_high_ = false;
      go_down(now);
    }
  }

  void go_down(double now) {
    state_ = State::down;
    short_.begin();
    long_.end_probe();
    rounds_since_probe_ = 0;
    cycle_began_s_ = now;
    is_stopping_ = true;
    round_.begin(delivery_);
  }

  void refill() {
    state_ = State::refill;
    short_.forget();
    long_.begin_probe();
    was_cautious_ = is_stopping_ = false;
    round_.begin(delivery_);
  }

  double pacing_gain() const {
    return state_ == State::startup ? startup_gain_
           : state_ == State::drain ? 0.5
           : state_ == State::down  ? 0.9
           : state_ == State::up    ? up_gain_
                                    : 1;
  }

  void control(double acknowledged) {
    const double paced = pacing_gain() * rate() * 0.99;  // a percent less, against queues
    if (paced != pacing_rate_ and (pipe_.is_full or paced > pacing_rate_)) set_rate(paced);
    const double gain = cwnd_gain_ + (state_ == State::up ? 0.25 : 0);
    const double most = with_quanta(bdp(gain) + extra_.most());
    if (pipe_.is_full) {
      cwnd_ = std::min(cwnd_ + acknowledged, most);
    } else if (cwnd_ < most or delivery_.delivered() < initial_window_) {
      cwnd_ += acknowledged;
    }
    if (state_ == State::probe_rtt) cwnd_ = std::min(cwnd_, probe_rtt_window());
    const bool has_room = state_ == State::cruise or state_ == State::probe_rtt;
    const double bound = has_room           ? long_.with_headroom(least_window_)
                         : is_in_probe_bw() ? long_.flight()
                                            : widest_window;
    cwnd_ = std::min(cwnd_, std::min(bound, short_.flight()));
    cwnd_ = std::clamp(cwnd_, least_window_, widest_window);
  }

  static constexpr double least_window_ = 4;
  static constexpr double segment_bits_ = 1448 * 8;

  double startup_gain_;
  double cwnd_gain_;
  double up_gain_;
  double loss_threshold_;
  double beta_;
  double probe_wait_s_;
  ProbeRtt probe_rtt_;
  double initial_window_;
  double pacing_rate_ = 0;  // packets/s
  double gap_us_ = 0;
  double quantum_ = 2;
  State state_ = State::startup;
  DeliveryRate delivery_{};
  WindowedMost rates_{};  // by cycles
  Aggregation extra_{};
  LeastRtt rtt_{};
  FullPipe pipe_{};
  ShortTerm short_{};
  LongTerm long_{};
  DeliveryRounds round_{};
  double rounds_ = 0;
  double cycles_ = 0;
  double drain_round_ = 0;
  double rounds_since_probe_ = 0;
  double cycle_began_s_ = 0;
  bool ends_round_ = false;
  bool is_limited_by_window_ = false;
  bool is_probe_sample_ = false;
  bool is_stopping_ = false;  // the acknowledgments of a probe end with this round
  bool was_too_high_ = false;
  bool was_cautious_ = false;
  Before before_{};
  bool is_recovering_ = false;
  bool has_left_startup_ = false;  // as losses of this recovery had it
  bool has_left_up_ = false;
};

const Registration<Bbr3> registration{
    "bbr3", "paces at the delivered rate within what losses allow", "draft-ietf-ccwg-bbr"};

}  // namespace
}  // namespace kneepoint
