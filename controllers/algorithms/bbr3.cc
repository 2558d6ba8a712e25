// BBR, version 3: like the first, with bounds of rate and flight that follow losses, and probes for
// more at a time that suits flows of Reno. draft-ietf-ccwg-bbr.
//
// Senders here always have data. What the draft draws at random has its mean. Losses are judged by
// the packet whose acknowledgment tells of them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/bbr3_model.hh"
#include "algorithms/by_number.hh"
#include "algorithms/delivery_rate.hh"
#include "algorithms/full_pipe.hh"
#include "algorithms/losses_told.hh"
#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"

namespace kneepoint {
namespace {

class Bbr3 final : public Controller {
 public:
  explicit Bbr3(Constants& constants)
      : Controller(constants, 1000),
        initial_window_(initial_window(constants)),
        startup_gain_(constants.real({.name = "startup_gain",
                                      .fallback = 2.77,
                                      .low = 1.5,
                                      .high = 4,
                                      .least = 1,
                                      .unit = "1",
                                      .meaning = "gain of the rate until the pipe is full"})),
        cwnd_gain_(constants.real({.name = "cwnd_gain",
                                   .fallback = 2,
                                   .low = 1,
                                   .high = 3,
                                   .least = 0.5,
                                   .unit = "1",
                                   .meaning = "window, in bandwidth-delay products"})),
        up_gain_(constants.real({.name = "up_gain",
                                 .fallback = 1.25,
                                 .low = 1,
                                 .high = 1.5,
                                 .least = 1,
                                 .unit = "1",
                                 .meaning = "gain of the rate while it probes for more"})),
        loss_threshold_(constants.real({.name = "loss_threshold",
                                        .fallback = 0.02,
                                        .low = 0.005,
                                        .high = 0.2,
                                        .most = 1,
                                        .scale = Scale::log,
                                        .unit = "1",
                                        .meaning = "share of losses that ends a probe"})),
        beta_(constants.real({.name = "beta",
                              .fallback = 0.7,
                              .low = 0.5,
                              .high = 0.9,
                              .most = 1,
                              .unit = "1",
                              .meaning = "least share of a bound that losses leave"})),
        probe_wait_s_(constants.real({.name = "probe_wait_s",
                                      .fallback = 2.5,
                                      .low = 1,
                                      .high = 5,
                                      .least = 0.1,
                                      .unit = "s",
                                      .meaning = "longest time between probes for more"})),
        probe_rtt_s_(constants.real({.name = "probe_rtt_ms",
                                     .fallback = 200,
                                     .low = 50,
                                     .high = 500,
                                     .least = 1,
                                     .unit = "ms",
                                     .meaning = "time at half the product that finds it"}) /
                     1000),
        cwnd_(initial_window_) {}

  static constexpr bool governs_recovery = true;

  double window() const override { return cwnd_; }
  double pacing_us() const override { return gap_us_; }

  void on_sent(uint64_t sequence_number, int64_t now_ms) override {
    delivery_.on_sent(sequence_number, now_ms);
    records_.at_new(sequence_number) = {++flight_, short_.all_lost()};
  }

  void on_ack(const Ack& ack) override {
    const double now = now_s(ack);
    if (is_recovering_ and not ack.is_recovering) cwnd_ = std::max(cwnd_, before_.cwnd);
    is_recovering_ = ack.is_recovering;
    const auto sample = delivery_.on_ack(ack);
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    is_limited_by_window_ = flight_ > cwnd_ - 1;
    flight_ = static_cast<double>(ack.flight);
    const double lost = losses_.on_ack(ack);
    if (lost > 0) short_.lose(lost, delivery_.delivered());
    const Record sent = records_.take(ack.sequence_number);
    if (sample) learn(*sample, sent);
    if (measures_rtt(ack)) rtt_.add(rtt_ms(ack) / 1e3, now);
    if (not sample or not rtt_.is_known()) return;
    extra_.add(acknowledged, now, rate(), cwnd_, rounds_, pipe_.is_full ? 10 : 1);
    move(*sample, sent, acknowledged, now);
    short_.advance(*sample, delivery_.delivered());
    control(acknowledged);
  }

  void on_loss(const Loss& loss) override {
    losses_.on_loss(loss);
    save();
    if (loss.kind == Loss::Kind::timed_out) cwnd_ = 1;
  }

  // Section 5.5.11.2.
  void on_undo(const Undo&) override {
    cwnd_ = std::max(cwnd_, before_.cwnd);
    pipe_.begin();
    short_.undo(before_.short_rate, before_.short_flight);
    long_flight_ = std::max(long_flight_, before_.long_flight);
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
  struct Record {
    double flight;  // with the packet
    double lost;    // before it
  };

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
               long_flight_};
    has_left_startup_ = has_left_up_ = false;
  }

  double most_rate() const { return rates_.best(); }
  double rate() const { return std::min(most_rate(), short_.rate()); }
  double bdp(double gain) const { return gain * rate() * rtt_.least_s(); }
  bool is_probing() const {
    return state_ == State::startup or state_ == State::refill or state_ == State::up;
  }
  bool is_in_probe_bw() const { return state_ >= State::down and state_ <= State::up; }

  // Room for three quanta, of a millisecond, as TCP's hosts need (section 5.5.7).
  double with_quanta(double packets) const {
    const double quantum = std::max(std::min(pacing_rate_ / 1e3, 64e3 * 8 / segment_bits_), 2.0);
    return std::max({packets, 3 * quantum, least_window_}) + (state_ == State::up ? 2 : 0);
  }
  double with_headroom() const {
    if (long_flight_ == never_) return never_;
    return std::max(long_flight_ - std::max(1.0, 0.15 * long_flight_), least_window_);
  }
  double probe_rtt_window() const { return std::max(bdp(0.5), least_window_); }
  double target_flight() const { return std::min(bdp(1), cwnd_); }

  // Rounds, the greatest rate of two cycles, and the bounds of losses.
  void learn(const RateSample& sample, const Record& sent) {
    const double delivered = delivery_.delivered();
    ends_round_ = sample.delivered_before >= next_round_;
    if (ends_round_) {
      begin_round();
      ++rounds_;
      ++rounds_since_probe_;
    }
    if (sample.packets_per_s >= most_rate() or not sample.is_limited) {
      rates_.add(sample.packets_per_s, cycles_, 1);
    }
    if (not short_.learn(sample, delivered)) return;
    const bool is_lossy = short_.lost() > loss_threshold_ * sent.flight;
    if (state_ == State::startup and is_lossy and short_.ranges() >= 6) {
      pipe_.is_full = has_left_startup_ = true;
      long_flight_ = std::max(bdp(1), short_.latest_flight());
    }
    if (not is_probing()) short_.bound(most_rate(), cwnd_, beta_);
    short_.end_round();
  }

  void begin_round() { next_round_ = delivery_.delivered(); }

  void move(const RateSample& sample, const Record& sent, double acknowledged, double now) {
    if (ends_round_ and not sample.is_limited) pipe_.look(sample.packets_per_s, 1.25);
    if (state_ == State::startup and pipe_.is_full) {
      state_ = State::drain;
      drain_round_ = rounds_;
    }
    if (state_ == State::drain and (flight_ <= with_quanta(bdp(1)) or rounds_ > drain_round_ + 3)) {
      go_down(now);
    }
    if (pipe_.is_full and not adapt(sample, sent, acknowledged, now) and is_in_probe_bw()) {
      advance(sample, now);
    }
    if (rtt_.is_stale() and state_ != State::probe_rtt) {
      state_ = State::probe_rtt;
      probe_ends_s_ = 0;
      is_stopping_ = true;
      begin_round();
    }
    if (state_ == State::probe_rtt) probe_rtt(now);
  }

  // What a probe's acknowledgments say of the flight; whether they have decided the state.
  bool adapt(const RateSample& sample, const Record& sent, double acknowledged, double now) {
    if (is_stopping_ and ends_round_) {
      is_probe_sample_ = is_stopping_ = false;
      if (is_in_probe_bw() and not sample.is_limited) ++cycles_;
      if (is_in_probe_bw() and was_cautious_ and not was_too_high_) {
        refill();
        return true;
      }
    }
    if (short_.all_lost() - sent.lost > loss_threshold_ * sent.flight) {
      if (not is_probe_sample_) return false;
      was_too_high_ = true;
      is_probe_sample_ = false;
      if (not sample.is_limited) long_flight_ = std::max(sent.flight, beta_ * target_flight());
      if (state_ == State::up) {
        has_left_up_ = true;
        go_down(now);
      }
      return state_ == State::down;
    }
    if (long_flight_ == never_) return false;
    long_flight_ = std::max(long_flight_, sent.flight);
    if (state_ == State::up and is_limited_by_window_ and cwnd_ >= long_flight_) {
      long_flight_ += acknowledged / up_packets_for_one_;
      if (ends_round_) steepen();
    }
    return false;
  }

  // In each round twice as much as in the one before.
  void steepen() {
    up_packets_for_one_ = std::max(cwnd_ / std::exp2(up_rounds_), 1.0);
    ++up_rounds_;
  }

  void advance(const RateSample& sample, double now) {
    if (state_ == State::down or state_ == State::cruise) {
      const bool is_time = now > cycle_began_s_ + probe_wait_s_ or
                           rounds_since_probe_ >= std::min(target_flight(), 63.0);
      if (is_time) return refill();
      const bool is_drained = flight_ <= std::min(with_headroom(), with_quanta(bdp(1)));
      if (state_ == State::down and is_drained) state_ = State::cruise;
    } else if (state_ == State::refill) {
      if (not ends_round_) return;
      is_probe_sample_ = true;
      begin_round();
      pipe_.begin(sample.packets_per_s);
      state_ = State::up;
      steepen();
    } else {
      was_cautious_ = was_too_high_ and flight_ >= long_flight_;
      const bool is_bounded = is_limited_by_window_ and cwnd_ >= long_flight_;
      if (is_bounded) pipe_.begin(sample.packets_per_s);
      if (not was_cautious_ and not pipe_.is_full_now) return;
      was_too_high_ = false;
      go_down(now);
    }
  }

  void go_down(double now) {
    state_ = State::down;
    short_.begin();
    up_packets_for_one_ = never_;
    rounds_since_probe_ = 0;
    cycle_began_s_ = now;
    is_stopping_ = true;
    begin_round();
  }

  void refill() {
    state_ = State::refill;
    short_.forget();
    up_rounds_ = 0;
    was_cautious_ = is_stopping_ = false;
    begin_round();
  }

  void probe_rtt(double now) {
    delivery_.limit(flight_);
    if (probe_ends_s_ == 0) {
      if (flight_ > probe_rtt_window()) return;
      probe_ends_s_ = now + probe_rtt_s_;
      has_probed_round_ = false;
      begin_round();
      return;
    }
    has_probed_round_ = has_probed_round_ or ends_round_;
    if (not has_probed_round_ or now <= probe_ends_s_) return;
    rtt_.probed(now);
    short_.forget();
    state_ = State::startup;
    if (not pipe_.is_full) return;
    go_down(now);
    state_ = State::cruise;
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
    if (pipe_.is_full or paced > pacing_rate_) {
      pacing_rate_ = std::max(paced, 1.0);
      gap_us_ = 1e6 / pacing_rate_;
    }
    const double gain = cwnd_gain_ + (state_ == State::up ? 0.25 : 0);
    const double most = with_quanta(bdp(gain) + extra_.most());
    if (pipe_.is_full) {
      cwnd_ = std::min(cwnd_ + acknowledged, most);
    } else if (cwnd_ < most or delivery_.delivered() < initial_window_) {
      cwnd_ += acknowledged;
    }
    if (state_ == State::probe_rtt) cwnd_ = std::min(cwnd_, probe_rtt_window());
    const bool has_room = state_ == State::cruise or state_ == State::probe_rtt;
    const double bound = has_room ? with_headroom() : is_in_probe_bw() ? long_flight_ : never_;
    cwnd_ = std::clamp(std::min({cwnd_, bound, short_.flight()}), least_window_, widest_window);
  }

  static constexpr double never_ = std::numeric_limits<double>::infinity();
  static constexpr double least_window_ = 4;
  static constexpr double segment_bits_ = 1448 * 8;

  double initial_window_;
  double startup_gain_;
  double cwnd_gain_;
  double up_gain_;
  double loss_threshold_;
  double beta_;
  double probe_wait_s_;
  double probe_rtt_s_;
  double cwnd_;
  double pacing_rate_ = 0;  // packets/s
  double gap_us_ = 0;
  State state_ = State::startup;
  DeliveryRate delivery_{};
  WindowedMost rates_{};  // by cycles
  Aggregation extra_{};
  LeastRtt rtt_{};
  FullPipe pipe_{};
  ShortTerm short_{};
  ByNumber<Record> records_{};
  LossesTold losses_{};
  double flight_ = 0;
  double rounds_ = 0;
  double next_round_ = 0;
  double cycles_ = 0;
  double long_flight_ = never_;
  double probe_ends_s_ = 0;
  double drain_round_ = 0;
  double rounds_since_probe_ = 0;
  double cycle_began_s_ = 0;
  double up_packets_for_one_ = never_;
  double up_rounds_ = 0;
  bool ends_round_ = false;
  bool has_probed_round_ = false;
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
