// BBR, version 1: paces at the bottleneck's rate, with a window of twice its bandwidth-delay
// product, and probes for both in turn. draft-cardwell-iccrg-bbr-congestion-control-00, section 4.
//
// Senders here always have data: only ProbeRTT limits what they send.
#include <algorithm>
#include <utility>

#include "algorithms/bbr_model.hh"
#include "algorithms/delivery_rate.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Bbr final : public Windowed {
 public:
  explicit Bbr(Constants& constants)
      : Windowed(constants, 1000),
        high_gain_(constants.real("high_gain", 2.885, {.low = 1.5, .high = 4, .least = 1}, "1",
                                  "gain of rate and window until the pipe is full (2/ln 2); Drain "
                                  "paces with its inverse")),
        cwnd_gain_(cwnd_gain(constants)),
        probe_gain_(constants.real(
            "probe_gain", 1.25, {.low = 1, .high = 1.5, .least = 1, .most = 1.9}, "1",
            "gain of the rate in one phase of eight; the next has as much less than 1")),
        rate_rounds_(constants.integer("rate_rounds", 10, {.low = 2, .high = 20, .least = 1}, "RTT",
                                       "the rate is the greatest of so long")),
        full_growth_(
            constants.real("full_growth", 1.25, {.low = 1.05, .high = 2, .least = 1}, "1",
                           "the pipe is full when the rate has grown by less in three rounds")),
        least_span_s_(constants.real("min_rtt_s", 10, {.low = 1, .high = 30, .least = 0.1}, "s",
                                     "the least RTT is that of so long")),
        probe_rtt_(constants, "time at four packets that finds the least RTT") {}

  static constexpr bool governs_recovery = true;

  double window() const override {
    return state_ == State::probe_rtt ? std::min(cwnd_, least_window_) : cwnd_;
  }

  double pacing_us() const override { return gap_us_; }

  void on_sent(uint64_t sequence_number, int64_t now_ms) override {
    delivery_.on_sent(sequence_number, now_ms);
  }

  void on_ack(const Ack& ack) override {
    const double now = now_s(ack);
    const auto sample = delivery_.on_ack(ack);
    const bool ends_round = sample and round_.ends(*sample, delivery_);
    if (ends_round) {
      ++rounds_;
      conserves_ = false;
    }
    if (sample and (not sample->is_limited or sample->packets_per_s >= rate())) {
      rate_.add(sample->packets_per_s, rounds_, rate_rounds_);
    }
    if (ends_round and not sample->is_limited) pipe_.look(rate(), full_growth_);
    const bool is_stale = has_rtt() and now > least_found_s_ + least_span_s_;
    if (measures_rtt(ack) and (rtt_s(ack) <= least_s_ or is_stale)) {
      least_s_ = rtt_ms(ack) / 1e3;
      least_found_s_ = now;
    }
    if (rate_.is_empty() or not has_rtt()) return;
    move(now, ends_round, is_stale);
    const double wanted = pacing_gain() * rate();
    if (wanted != pacing_rate_ and (pipe_.is_full or wanted > pacing_rate_)) set_rate(wanted);
    const auto acknowledged = static_cast<double>(ack.acknowledged);
    repair(ack, acknowledged);
    set_window(acknowledged);
  }

  void on_loss(const Loss& loss) override {
    delivery_.on_loss(loss);
    if (not is_recovering_ and cwnd_ >= least_window_) before_recovery_ = cwnd_;
    if (loss.kind == Loss::Kind::lost) has_lost_ = true;
    if (loss.kind != Loss::Kind::timed_out) return;
    cwnd_ = 1;
    is_recovering_ = conserves_ = false;
  }

  // A pipe that is not known to be full is looked at anew (bbr_undo_cwnd of Linux).
  void on_undo(const Undo&) override {
    cwnd_ = std::max(cwnd_, before_recovery_);
    pipe_.begin();
  }

 private:
  enum class State { startup, drain, probe_bw, probe_rtt };

  bool has_rtt() const { return least_s_ < infinity; }
  double rate() const { return rate_.best(); }

  // Packets in flight that `gain` bandwidth-delay products are, and what hosts aggregate (section
  // 4.2.3.2).
  double inflight(double gain) const { return gain * rate() * least_s_ + 3 * quantum_; }

  // Section 4.2.2: a quantum is a segment below 1.2 Mbit/s, two below 24, then what a millisecond
  // holds.
  void set_rate(double packets_per_s) {
    pacing_rate_ = packets_per_s;
    gap_us_ = 1e6 / packets_per_s;
    const double rate_mbps = packets_per_s * segment_bits_ / 1e6;
    quantum_ = rate_mbps < 1.2  ? 1
               : rate_mbps < 24 ? 2
                                : std::min(packets_per_s / 1e3, 64e3 * 8 / segment_bits_);
  }

  double pacing_gain() const {
    if (state_ == State::startup) return high_gain_;
    if (state_ == State::drain) return 1 / high_gain_;
    if (state_ == State::probe_rtt or phase_ > 1) return 1;
    return phase_ == 0 ? probe_gain_ : 2 - probe_gain_;
  }

  void move(double now, bool ends_round, bool is_stale) {
    if (state_ == State::startup and pipe_.is_full) state_ = State::drain;
    if (state_ == State::drain and delivery_.flight() <= inflight(1)) cruise(now);
    if (state_ == State::probe_bw) advance_cycle(now);
    if (is_stale and state_ != State::probe_rtt) {
      state_ = State::probe_rtt;
      probe_rtt_.begin();
    }
    if (state_ != State::probe_rtt or
        not probe_rtt_.is_over(now, least_window_, ends_round, delivery_, round_)) {
      return;
    }
    least_found_s_ = now;
    state_ = State::startup;
    if (pipe_.is_full) cruise(now);
  }

  // The draft begins at a random phase other than the draining one; here after it, always.
  void cruise(double now) {
    state_ = State::probe_bw;
    phase_ = 2;
    phase_began_s_ = now;
  }

  void advance_cycle(double now) {
    const double flight = delivery_.flight();
    const bool is_lossy = delivery_.lost() > 0;
    const bool is_long_enough = now - phase_began_s_ > least_s_;
    const bool is_over = phase_ == 0
                             ? is_long_enough and (is_lossy or flight >= inflight(probe_gain_))
                         : phase_ == 1 ? is_long_enough or flight <= inflight(1)
                                       : is_long_enough;
    if (not is_over) return;
    phase_ = (phase_ + 1) % phases_;
    phase_began_s_ = now;
  }

  // Section 4.2.3.4: the first round of a recovery sends as much as is delivered, and its end
  // restores the window.
  void repair(const Ack& ack, double acknowledged) {
    const bool has_lost = std::exchange(has_lost_, false);
    if (has_lost and ack.is_recovering and not is_recovering_) {
      is_recovering_ = conserves_ = true;
      round_.begin(delivery_);
      cwnd_ = delivery_.flight() + acknowledged;
    } else if (is_recovering_ and not ack.is_recovering) {
      is_recovering_ = conserves_ = false;
      cwnd_ = std::max(cwnd_, before_recovery_);
    } else {
      cwnd_ = std::max(cwnd_ - delivery_.lost(), 1.0);
    }
  }

  void set_window(double acknowledged) {
    const double target = inflight(pipe_.is_full ? cwnd_gain_ : high_gain_);
    if (conserves_) {
      cwnd_ = std::max(cwnd_, delivery_.flight() + acknowledged);
    } else if (pipe_.is_full) {
      cwnd_ = std::min(cwnd_ + acknowledged, target);
    } else if (cwnd_ < target or delivery_.delivered() < initial_delivered_) {
      cwnd_ += acknowledged;
    }
    cwnd_ = std::clamp(cwnd_, least_window_, widest_window);
  }

  static constexpr int phases_ = 8;
  static constexpr double least_window_ = 4;
  static constexpr double initial_delivered_ = 10;
  static constexpr double segment_bits_ = 1448 * 8;

  double high_gain_;
  double cwnd_gain_;
  double probe_gain_;
  double rate_rounds_;
  double full_growth_;
  double least_span_s_;
  ProbeRtt probe_rtt_;
  DeliveryRate delivery_{};
  WindowedMost rate_{};     // packets/s, by rounds
  double pacing_rate_ = 0;  // packets/s
  double gap_us_ = 0;
  double quantum_ = 0;
  DeliveryRounds round_{};
  double rounds_ = 0;
  FullPipe pipe_{};
  double least_s_ = infinity;
  double least_found_s_ = 0;
  State state_ = State::startup;
  int phase_ = 0;
  double phase_began_s_ = 0;
  bool has_lost_ = false;
  bool is_recovering_ = false;
  bool conserves_ = false;
  double before_recovery_ = 0;
};

const Registration<Bbr> registration{"bbr", "paces at the greatest rate that was delivered",
                                     "draft-cardwell-iccrg-bbr-congestion-control-00"};

}  // namespace
}  // namespace kneepoint
