// BBR, version 3: paces at the bottleneck's bandwidth, within bounds on the rate and on the packets
// in flight that follow losses, and probes for bandwidth at intervals that let Reno flows coexist.
// Functions and variables have the names of draft-ietf-ccwg-bbr, and stand in the order of its
// sections.
//
// A random draw of the draft is its mean here, and a draw of 0 or 1 is 0. A packet is a segment:
// the draft's bytes are packets here.
#include <algorithm>
#include <optional>
#include <utility>

#include "algorithms/bbr3_model.hh"
#include "algorithms/bbr_model.hh"
#include "algorithms/delivery_rate.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Bbr3 final : public Windowed {
 public:
  explicit Bbr3(Parameters& parameters)
      : Windowed(parameters, 1000),
        startup_pacing_gain_(parameters.real("startup_gain", 2.77,
                                             {.low = 1.5, .high = 4, .min = 1}, "1",
                                             "gain of the rate until the pipe is full")),
        default_cwnd_gain_(cwnd_gain(parameters)),
        probe_up_pacing_gain_(
            parameters.real("up_gain", 1.25, {.low = 1, .high = 1.5, .min = 1}, "1",
                            "gain of the rate while it probes for more bandwidth")),
        loss_thresh_(parameters.real("loss_threshold", 0.02,
                                     {.low = 0.005, .high = 0.2, .max = 1, .scale = Scale::log},
                                     "1", "share of losses that ends a probe")),
        beta_(parameters.real("beta", 0.7, {.low = 0.5, .high = 0.9, .max = 1}, "1",
                              "minimum share of a bound that losses leave")),
        bw_probe_wait_(parameters.real("probe_wait_s", 2.5, {.low = 1, .high = 5, .min = 0.1}, "s",
                                       "maximum time between probes for more bandwidth")),
        probe_rtt_(parameters, "time at half the bandwidth-delay product, to measure the min RTT"),
        initial_cwnd_(cwnd_),
        pacing_rate_(startup_pacing_gain_, initial_cwnd_) {
    set_send_quantum();
  }

  static constexpr bool governs_recovery = true;

  double pacing_us() const override { return pacing_rate_.gap_us(); }

  // Section 5.2.2.
  void on_sent(uint64_t sequence_number, int64_t now_ms) override {
    const double now = static_cast<double>(now_ms) / 1e3;
    if (idle_.ends(now, delivery_)) handle_restart_from_idle(now);
    delivery_.on_sent(sequence_number, now_ms);
    idle_.sent(now_ms, pacing_rate_.gap_us());
    if (delivery_.in_flight() > cwnd_ - 1) cwnd_limited_end_ = sequence_number + 1;
  }

  // Section 5.2.3.
  void on_ack(const Ack& ack) override {
    const double now = now_s(ack);
    const auto generated = delivery_.on_ack(ack);
    for (const LostPacket& packet : delivery_.lost_packets()) handle_lost_packet(packet, now);
    if (measures_rtt(ack) and pacing_rate_.init(effective_rtt_s(ack))) set_send_quantum();
    const RateSample rs = generated.value_or(RateSample{});
    if (generated) is_cwnd_limited_ = ack.sequence_number < cwnd_limited_end_;
    update_model_and_state(rs, ack, now);
    if (recovery_.ends(ack)) restore_cwnd();
    update_control_parameters(static_cast<double>(ack.acknowledged));
  }

  // Section 5.6.4.4. After a timeout the draft's cwnd is one segment beyond the packets in flight;
  // the transport does not report how many packets a timeout leaves in flight, so that cwnd is one
  // segment.
  void on_loss(const Loss& loss) override {
    if (loss.kind == Loss::Kind::marked) return;
    const bool has_timed_out = loss.kind == Loss::Kind::timed_out;
    delivery_.on_loss(loss);
    if (has_timed_out or not recovery_.is_on()) save_state_upon_loss();
    recovery_.begin(delivery_);
    if (has_timed_out) cwnd_ = 1;
  }

  // HandleSpuriousLossDetection, section 5.5.11.2.
  void on_undo(const Undo&) override {
    recovery_.undo();
    restore_cwnd();
    full_bw_.reset();
    short_term_.undo(undo_bw_shortterm_, undo_inflight_shortterm_);
    long_term_.raise_to(undo_inflight_longterm_);
    const auto undo_state = std::exchange(undo_state_, std::nullopt);
    if (not undo_state or undo_state == state_) return;
    if (undo_state == State::startup) full_bw_.reached = false;
    if (state_ == State::probe_rtt) return;
    if (undo_state == State::startup) {
      state_ = State::startup;
    } else {
      start_probe_bw_refill();
    }
  }

 private:
  enum class State {
    startup,
    drain,
    probe_bw_down,
    probe_bw_cruise,
    probe_bw_refill,
    probe_bw_up,
    probe_rtt
  };
  enum class AckPhase { init, refilling, probe_starting, probe_feedback, probe_stopping };

  void update_model_and_state(const RateSample& rs, const Ack& ack, double now) {
    short_term_.update_latest_delivery_signals(rs, delivery_);
    update_congestion_signals(rs);
    extra_acked_.update_ack_aggregation(static_cast<double>(ack.acknowledged), now, bw_, cwnd_,
                                        round_count_, full_bw_.reached);
    if (round_start_ and not rs.is_app_limited) full_bw_.check(rs.delivery_rate, 1.25);
    check_startup_done(rs, ack);
    check_drain_done(now);
    update_probe_bw_cycle_phase(rs, static_cast<double>(ack.acknowledged), now);
    min_rtt_.update_min_rtt(measures_rtt(ack) ? effective_rtt_s(ack) : -1, now);
    check_probe_rtt(rs, now);
    short_term_.advance_latest_delivery_signals(rs);
    bw_ = std::min(max_bw(), short_term_.bw_shortterm());  // BoundBWForModel
  }

  void update_control_parameters(double newly_acked) {
    set_pacing_rate_with_gain(pacing_gain());
    set_cwnd(newly_acked);
  }

  // Section 5.3.1.
  void check_startup_done(const RateSample& rs, const Ack& ack) {
    if (state_ != State::startup) return;
    check_startup_high_loss(rs, ack);
    if (not full_bw_.reached) return;
    state_ = State::drain;
    drain_start_round_ = round_count_;
  }

  void check_startup_high_loss(const RateSample& rs, const Ack& ack) {
    if (not short_term_.loss_round_start()) return;
    const bool is_high = is_inflight_too_high(rs.lost, rs.tx_in_flight) and
                         lost_ranges_in_round_ >= startup_full_loss_cnt_;
    lost_ranges_in_round_ = 0;
    if (not is_high or not recovery_.has_lasted_a_round(ack)) return;
    undo_state_ = State::startup;
    full_bw_.reached = true;
    long_term_.bound(std::max(bdp(), short_term_.inflight_latest()));
  }

  // Section 5.3.2.
  void check_drain_done(double now) {
    if (state_ != State::drain) return;
    const bool is_late = round_count_ > drain_start_round_ + 3;
    if (is_late or delivery_.in_flight() <= inflight(bw_)) start_probe_bw_down(now);
  }

  // Section 5.3.3.5.
  bool is_time_to_probe_bw(double now) const {
    return now > cycle_stamp_ + bw_probe_wait_ or
           rounds_since_probe_up_ >= std::min(target_inflight(), 63.0);
  }
  double target_inflight() const { return std::min(bdp(), cwnd_); }

  // Section 5.3.3.6.
  void start_probe_bw_down(double now) {
    short_term_.reset_congestion_signals();
    long_term_.start_down();
    rounds_since_probe_up_ = 0;
    cycle_stamp_ = now;
    ack_phase_ = AckPhase::probe_stopping;
    round_.start_round(delivery_);
    state_ = State::probe_bw_down;
  }

  void start_probe_bw_refill() {
    short_term_.reset_short_term_model();
    long_term_.start_refill();
    prev_probe_precautionary_ = false;
    ack_phase_ = AckPhase::refilling;
    round_.start_round(delivery_);
    state_ = State::probe_bw_refill;
  }

  void start_probe_bw_up(const RateSample& rs) {
    ack_phase_ = AckPhase::probe_starting;
    round_.start_round(delivery_);
    full_bw_.reset(rs.delivery_rate);
    state_ = State::probe_bw_up;
    long_term_.raise_inflight_longterm_slope(cwnd_);
  }

  void update_probe_bw_cycle_phase(const RateSample& rs, double newly_acked, double now) {
    if (not full_bw_.reached or adapt_long_term_model(rs, newly_acked)) return;
    switch (state_) {
      case State::probe_bw_down:
        if (is_time_to_probe_bw(now)) return start_probe_bw_refill();
        if (is_time_to_cruise()) state_ = State::probe_bw_cruise;
        return;
      case State::probe_bw_cruise:
        if (is_time_to_probe_bw(now)) start_probe_bw_refill();
        return;
      case State::probe_bw_refill:
        if (not round_start_) return;
        is_bw_probe_sample_ = true;
        return start_probe_bw_up(rs);
      case State::probe_bw_up:
        if (not is_time_to_go_down(rs)) return;
        prev_probe_too_high_ = false;
        return start_probe_bw_down(now);
      default:
        return;
    }
  }

  bool is_in_a_probe_bw_state() const {
    return state_ >= State::probe_bw_down and state_ <= State::probe_bw_up;
  }
  bool is_probing_bw() const {
    return state_ == State::startup or state_ == State::probe_bw_refill or
           state_ == State::probe_bw_up;
  }

  bool is_time_to_cruise() const {
    return delivery_.in_flight() <=
           std::min(long_term_.inflight_with_headroom(min_pipe_cwnd), inflight(max_bw()));
  }

  bool is_bounded_by_inflight_longterm() const {
    return is_cwnd_limited_ and cwnd_ >= long_term_.inflight_longterm();
  }

  bool is_time_to_go_down(const RateSample& rs) {
    if (prev_probe_too_high_ and delivery_.in_flight() >= long_term_.inflight_longterm()) {
      prev_probe_precautionary_ = true;
      return true;
    }
    if (is_bounded_by_inflight_longterm()) {
      full_bw_.reset(rs.delivery_rate);
      return false;
    }
    return full_bw_.now;
  }

  // Returns whether it has changed the state.
  bool adapt_long_term_model(const RateSample& rs, double newly_acked) {
    if (round_start_ and ack_phase_ == AckPhase::probe_starting) {
      ack_phase_ = AckPhase::probe_feedback;
    }
    if (round_start_ and ack_phase_ == AckPhase::probe_stopping) {
      is_bw_probe_sample_ = false;
      ack_phase_ = AckPhase::init;
      if (is_in_a_probe_bw_state() and not rs.is_app_limited) max_bw_.advance_max_bw_filter();
      if (is_in_a_probe_bw_state() and prev_probe_precautionary_ and not prev_probe_too_high_) {
        start_probe_bw_refill();
        return true;
      }
    }
    if (not long_term_.is_set() or is_inflight_too_high(rs.lost, rs.tx_in_flight)) return false;
    long_term_.raise_to(rs.tx_in_flight);
    if (state_ == State::probe_bw_up and is_bounded_by_inflight_longterm()) {
      long_term_.probe_inflight_longterm_upward(newly_acked, cwnd_, round_start_);
    }
    return false;
  }

  // Section 5.3.4.3.
  void check_probe_rtt(const RateSample& rs, double now) {
    if (min_rtt_.probe_rtt_expired() and state_ != State::probe_rtt and not idle_restart_) {
      save_cwnd();
      state_ = State::probe_rtt;
      probe_rtt_.begin();
      ack_phase_ = AckPhase::probe_stopping;
      round_.start_round(delivery_);
    }
    if (state_ == State::probe_rtt and
        probe_rtt_.handle(now, probe_rtt_cwnd(), round_start_, delivery_, round_)) {
      exit_probe_rtt(now);
    }
    if (rs.delivered > 0) idle_restart_ = false;
  }

  // Section 5.3.4.4.
  void exit_probe_rtt(double now) {
    min_rtt_.schedule_probe_rtt(now);
    restore_cwnd();
    short_term_.reset_short_term_model();
    state_ = State::startup;
    if (not full_bw_.reached) return;
    start_probe_bw_down(now);
    state_ = State::probe_bw_cruise;
  }

  // Section 5.4.1.
  void handle_restart_from_idle(double now) {
    idle_restart_ = true;
    extra_acked_.restart(now);
    if (is_in_a_probe_bw_state()) {
      set_pacing_rate_with_gain(1);
    } else if (state_ == State::probe_rtt and probe_rtt_.is_done(now)) {
      exit_probe_rtt(now);
    }
  }

  // Sections 5.5.1 and 5.5.10.3.
  void update_congestion_signals(const RateSample& rs) {
    round_start_ = round_.update_round(rs, delivery_);
    if (round_start_) {
      ++round_count_;
      ++rounds_since_probe_up_;
    }
    max_bw_.update_max_bw(rs);
    if (not short_term_.loss_round_start()) return;
    short_term_.adapt_lower_bounds_from_congestion(max_bw(), cwnd_, beta_, is_probing_bw());
  }

  double max_bw() const { return max_bw_.max_bw(); }

  // Section 5.5.10.2.
  bool is_inflight_too_high(double lost, double tx_in_flight) const {
    return lost > tx_in_flight * loss_thresh_;
  }

  void handle_inflight_too_high(double inflight_at_loss, bool is_app_limited, double now) {
    prev_probe_too_high_ = true;
    is_bw_probe_sample_ = false;
    if (not is_app_limited) {
      long_term_.bound(std::max(inflight_at_loss, target_inflight() * beta_));
    }
    if (state_ != State::probe_bw_up) return;
    undo_state_ = State::probe_bw_up;
    start_probe_bw_down(now);
  }

  void handle_lost_packet(const LostPacket& packet, double now) {
    if (short_term_.note_loss(delivery_) and not recovery_.is_on()) save_state_upon_loss();
    lost_ranges_in_round_ += packet.begins_range;
    if (not is_bw_probe_sample_ or not is_inflight_too_high(packet.lost, packet.tx_in_flight)) {
      return;
    }
    handle_inflight_too_high(inflight_at_loss(packet), packet.is_app_limited, now);
  }

  // The volume in flight at which losses crossed the threshold: at some part of this packet, never
  // before it, as in Google's implementation.
  double inflight_at_loss(const LostPacket& packet) const {
    const double inflight_prev = packet.tx_in_flight - 1;
    const double lost_prev = packet.lost - 1;
    const double lost_prefix = (loss_thresh_ * inflight_prev - lost_prev) / (1 - loss_thresh_);
    return inflight_prev + std::max(lost_prefix, 0.0);
  }

  // Section 5.5.11.1.
  void save_state_upon_loss() {
    save_cwnd();
    undo_state_.reset();
    undo_bw_shortterm_ = short_term_.bw_shortterm();
    undo_inflight_shortterm_ = short_term_.inflight_shortterm();
    undo_inflight_longterm_ = long_term_.inflight_longterm();
  }

  // Section 5.6.1.
  double pacing_gain() const {
    switch (state_) {
      case State::startup:
        return startup_pacing_gain_;
      case State::drain:
        return 0.5;
      case State::probe_bw_down:
        return 0.9;
      case State::probe_bw_up:
        return probe_up_pacing_gain_;
      default:
        return 1;
    }
  }
  double cwnd_gain_now() const {
    return state_ == State::probe_bw_up ? default_cwnd_gain_ + 0.25
           : state_ == State::probe_rtt ? probe_rtt_cwnd_gain_
                                        : default_cwnd_gain_;
  }

  // Section 5.6.2; one percent below the bandwidth, so that the queue drains.
  void set_pacing_rate_with_gain(double pacing_gain) {
    const double rate = pacing_gain * bw_ * 0.99;
    if (rate == pacing_rate_.rate() or (not full_bw_.reached and rate < pacing_rate_.rate())) {
      return;
    }
    pacing_rate_.set(rate);
    set_send_quantum();
  }

  // Section 5.6.3: the packets of a millisecond, at least two and up to 64 KB.
  void set_send_quantum() {
    send_quantum_ = std::max(std::min(pacing_rate_.rate() / 1e3, 64e3 * 8 / smss_bits), 2.0);
  }

  // Section 5.6.4.2, with TCP's offload budget.
  double bdp() const { return bw_ * min_rtt_.min_rtt(); }
  double bdp_multiple(double bw, double gain) const {
    return min_rtt_.min_rtt() == infinity ? initial_cwnd_ : gain * bw * min_rtt_.min_rtt();
  }
  double quantization_budget(double inflight_cap) const {
    const double budget = std::max(3 * send_quantum_, min_pipe_cwnd);
    return std::max(inflight_cap, budget) + (state_ == State::probe_bw_up ? 2 : 0);
  }
  double inflight(double bw) const { return quantization_budget(bdp_multiple(bw, 1)); }

  // Section 5.6.4.4.
  void save_cwnd() { prior_cwnd_.save(cwnd_, recovery_.is_on() or state_ == State::probe_rtt); }
  void restore_cwnd() { cwnd_ = prior_cwnd_.restored(cwnd_); }

  // Section 5.6.4.5.
  double probe_rtt_cwnd() const {
    return std::max(bdp_multiple(bw_, probe_rtt_cwnd_gain_), min_pipe_cwnd);
  }

  // Section 5.6.4.6.
  void set_cwnd(double newly_acked) {
    const double max_inflight =
        quantization_budget(bdp_multiple(bw_, cwnd_gain_now()) + extra_acked_.extra_acked());
    if (full_bw_.reached) {
      cwnd_ = std::min(cwnd_ + newly_acked, max_inflight);
    } else if (cwnd_ < max_inflight or delivery_.delivered() < initial_cwnd_) {
      cwnd_ += newly_acked;
    }
    cwnd_ = std::clamp(cwnd_, min_pipe_cwnd, widest_window);
    if (state_ == State::probe_rtt) cwnd_ = std::min(cwnd_, probe_rtt_cwnd());
    bound_cwnd_for_model();
  }

  // Section 5.6.4.7.
  void bound_cwnd_for_model() {
    double cap = infinity;
    if (state_ == State::probe_rtt or state_ == State::probe_bw_cruise) {
      cap = long_term_.inflight_with_headroom(min_pipe_cwnd);
    } else if (is_in_a_probe_bw_state()) {
      cap = long_term_.inflight_longterm();
    }
    cap = std::max(std::min(cap, short_term_.inflight_shortterm()), min_pipe_cwnd);
    cwnd_ = std::min(cwnd_, cap);
  }

  static constexpr int startup_full_loss_cnt_ = 6;
  static constexpr double probe_rtt_cwnd_gain_ = 0.5;

  double startup_pacing_gain_;
  double default_cwnd_gain_;
  double probe_up_pacing_gain_;
  double loss_thresh_;
  double beta_;
  double bw_probe_wait_;
  ProbeRtt probe_rtt_;
  double initial_cwnd_;
  PacingRate pacing_rate_;
  double send_quantum_ = 0;

  State state_ = State::startup;
  DeliveryRate delivery_{};
  MaxBwFilter max_bw_{};
  MinRtt min_rtt_{};
  ExtraAcked extra_acked_{};
  FullBw full_bw_{};
  ShortTermModel short_term_{};
  LongTermModel long_term_{};
  double bw_ = 0;

  DeliveryRounds round_{};
  bool round_start_ = false;
  double round_count_ = 0;
  double drain_start_round_ = 0;
  bool is_cwnd_limited_ = false;
  uint64_t cwnd_limited_end_ = 0;  // follows the last packet that filled the window

  AckPhase ack_phase_ = AckPhase::init;
  bool is_bw_probe_sample_ = false;
  bool prev_probe_too_high_ = false;
  bool prev_probe_precautionary_ = false;
  double rounds_since_probe_up_ = 0;
  double cycle_stamp_ = 0;
  IdleRestart idle_{};
  bool idle_restart_ = false;

  LossRecovery recovery_{};
  int lost_ranges_in_round_ = 0;
  PriorCwnd prior_cwnd_{};
  std::optional<State> undo_state_{};
  double undo_bw_shortterm_ = 0;
  double undo_inflight_shortterm_ = 0;
  double undo_inflight_longterm_ = 0;
};

const Registration<Bbr3> registration{
    "bbr3", "paces at the delivered rate, within bounds that losses set", "draft-ietf-ccwg-bbr"};

}  // namespace
}  // namespace kneepoint
