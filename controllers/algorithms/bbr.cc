// BBR, version 1: paces at the bottleneck's bandwidth with a window of two bandwidth-delay
// products, and probes for bandwidth and minimum RTT in turn.
// draft-cardwell-iccrg-bbr-congestion-control-00, section 4; for timeouts and spurious losses,
// Linux's tcp_bbr.c.
#include <algorithm>

#include "algorithms/bbr_model.hh"
#include "algorithms/delivery_rate.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class Bbr final : public Windowed {
 public:
  explicit Bbr(Parameters& parameters)
      : Windowed(parameters, 1000),
        high_gain_(parameters.real("high_gain", 2.885, {.low = 1.5, .high = 4, .min = 1}, "1",
                                   "gain of rate and window until the pipe is full (2/ln 2); Drain "
                                   "paces with its inverse")),
        cwnd_gain_(cwnd_gain(parameters)),
        probe_gain_(parameters.real(
            "probe_gain", 1.25, {.low = 1, .high = 1.5, .min = 1, .max = 1.9}, "1",
            "gain of the rate in one of eight phases; the next phase is as far below 1")),
        rate_rounds_(parameters.integer("rate_rounds", 10, {.low = 2, .high = 20, .min = 1}, "RTT",
                                        "time over which the maximum rate is taken")),
        full_growth_(parameters.real(
            "full_growth", 1.25, {.low = 1.05, .high = 2, .min = 1}, "1",
            "the pipe is full when the rate has grown by less than this in three rounds")),
        rtprop_filter_s_(parameters.real("min_rtt_s", 10, {.low = 1, .high = 30, .min = 0.1}, "s",
                                         "time over which the min RTT is taken")),
        probe_rtt_(parameters, "time at four packets, to measure the min RTT"),
        initial_cwnd_(cwnd_),
        pacing_rate_(high_gain_, initial_cwnd_) {
    set_send_quantum();
  }

  static constexpr bool governs_recovery = true;

  double pacing_us() const override { return pacing_rate_.gap_us(); }

  void on_sent(uint64_t sequence_number, int64_t now_ms) override {
    if (idle_.ends(static_cast<double>(now_ms) / 1e3, delivery_)) {
      restart_from_idle(static_cast<double>(now_ms) / 1e3);
    }
    delivery_.on_sent(sequence_number, now_ms);
    idle_.sent(now_ms, pacing_rate_.gap_us());
  }

  void on_ack(const Ack& ack) override {
    const double now = now_s(ack);
    const auto rs = delivery_.on_ack(ack);
    const auto acked = static_cast<double>(ack.acknowledged);
    if (measures_rtt(ack) and pacing_rate_.init(effective_rtt_s(ack))) set_send_quantum();
    update_btlbw(rs);
    if (state_ == State::probe_bw) check_cycle_phase(now);
    if (round_start_ and not rs->is_app_limited) full_bw_.check(btlbw_.best(), full_growth_);
    if (state_ == State::startup and full_bw_.reached) state_ = State::drain;
    if (state_ == State::drain and delivery_.in_flight() <= inflight(1)) enter_probe_bw(now);
    update_rtprop(ack, now);
    set_pacing_rate(pacing_gain());
    set_cwnd(ack, acked);
  }

  // Section 4.2.3.4; bbr_ssthresh and bbr_set_state of Linux.
  void on_loss(const Loss& loss) override {
    if (loss.kind == Loss::Kind::marked) return;
    delivery_.on_loss(loss);
    save_cwnd();
    recovery_.begin(delivery_);
    if (loss.kind != Loss::Kind::timed_out) return;
    cwnd_ = 1;
    is_repairing_ = packet_conservation_ = false;
    full_bw_.reset();
  }

  // The search for a full pipe starts again (bbr_undo_cwnd of Linux).
  void on_undo(const Undo&) override {
    leave_recovery();
    recovery_.undo();
    full_bw_.reset();
  }

 private:
  enum class State { startup, drain, probe_bw, probe_rtt };

  // Section 4.1.1.
  void update_btlbw(const std::optional<RateSample>& rs) {
    round_start_ = false;
    if (not rs or rs->delivery_rate <= 0) return;
    round_start_ = round_.update_round(*rs, delivery_);
    if (round_start_) {
      ++round_count_;
      packet_conservation_ = false;
    }
    if (rs->delivery_rate >= btlbw_.best() or not rs->is_app_limited) {
      btlbw_.add(rs->delivery_rate, round_count_, rate_rounds_);
    }
  }

  // Section 4.1.2; for ProbeRTT, section 4.3.5.
  void update_rtprop(const Ack& ack, double now) {
    const bool is_expired = now > rtprop_stamp_ + rtprop_filter_s_;
    if (measures_rtt(ack) and (effective_rtt_s(ack) <= rtprop_ or is_expired)) {
      rtprop_ = effective_rtt_s(ack);
      rtprop_stamp_ = now;
    }
    if (is_expired and state_ != State::probe_rtt and not idle_restart_) {
      save_cwnd();
      state_ = State::probe_rtt;
      probe_rtt_.begin();
    }
    if (state_ == State::probe_rtt and
        probe_rtt_.handle(now, min_pipe_cwnd, round_start_, delivery_, round_)) {
      exit_probe_rtt(now);
    }
    idle_restart_ = false;
  }

  void exit_probe_rtt(double now) {
    rtprop_stamp_ = now;
    cwnd_ = prior_cwnd_.restored(cwnd_);
    state_ = State::startup;
    if (full_bw_.reached) enter_probe_bw(now);
  }

  // Section 4.3.1.3. As in Linux, a ProbeRTT that ended while the sender was idle is left, too.
  void restart_from_idle(double now) {
    idle_restart_ = true;
    if (state_ == State::probe_bw) {
      set_pacing_rate(1);
    } else if (state_ == State::probe_rtt and probe_rtt_.is_done(now)) {
      exit_probe_rtt(now);
    }
  }

  // The draft draws the first phase from all but the draining phase; here it is always the phase
  // after draining.
  void enter_probe_bw(double now) {
    state_ = State::probe_bw;
    cycle_index_ = 2;
    cycle_stamp_ = now;
  }

  // Section 4.3.4.3.
  void check_cycle_phase(double now) {
    if (not is_next_cycle_phase(now - cycle_stamp_ > rtprop_)) return;
    cycle_index_ = (cycle_index_ + 1) % cycle_length_;
    cycle_stamp_ = now;
  }
  bool is_next_cycle_phase(bool is_full_length) const {
    const double prior_inflight = delivery_.prior_in_flight();
    if (cycle_index_ == 0) {
      return is_full_length and
             (delivery_.newly_lost() > 0 or prior_inflight >= inflight(probe_gain_));
    }
    return is_full_length or (cycle_index_ == 1 and prior_inflight <= inflight(1));
  }

  double pacing_gain() const {
    if (state_ == State::startup) return high_gain_;
    if (state_ == State::drain) return 1 / high_gain_;
    if (state_ == State::probe_rtt or cycle_index_ > 1) return 1;
    return cycle_index_ == 0 ? probe_gain_ : 2 - probe_gain_;
  }

  // Section 4.2.1.
  void set_pacing_rate(double pacing_gain) {
    const double rate = pacing_gain * btlbw_.best();
    if (rate == pacing_rate_.rate() or (not full_bw_.reached and rate < pacing_rate_.rate())) {
      return;
    }
    pacing_rate_.set(rate);
    set_send_quantum();
  }

  // Section 4.2.2: one segment below 1.2 Mbit/s, two below 24 Mbit/s, then the segments of a
  // millisecond, up to 64 KB.
  void set_send_quantum() {
    const double rate_mbps = pacing_rate_.rate() * smss_bits / 1e6;
    send_quantum_ = rate_mbps < 1.2  ? 1
                    : rate_mbps < 24 ? 2
                                     : std::min(pacing_rate_.rate() / 1e3, 64e3 * 8 / smss_bits);
  }

  // Section 4.2.3.2: `gain` bandwidth-delay products, and three send quanta for the hosts'
  // offloading.
  double inflight(double gain) const {
    if (rtprop_ == infinity) return initial_cwnd_;
    return gain * btlbw_.best() * rtprop_ + 3 * send_quantum_;
  }

  // Section 4.2.3.4.
  void save_cwnd() { prior_cwnd_.save(cwnd_, recovery_.is_on() or state_ == State::probe_rtt); }
  void leave_recovery() {
    is_repairing_ = packet_conservation_ = false;
    cwnd_ = prior_cwnd_.restored(cwnd_);
  }
  void modulate_cwnd_for_recovery(const Ack& ack, double acked) {
    cwnd_ = std::max(cwnd_ - delivery_.newly_lost(), 1.0);
    if (recovery_.ends(ack)) {
      leave_recovery();
    } else if (ack.is_recovering and recovery_.is_on() and not is_repairing_) {
      is_repairing_ = packet_conservation_ = true;
      round_.start_round(delivery_);
      cwnd_ = delivery_.in_flight() + acked;
    }
    if (packet_conservation_) cwnd_ = std::max(cwnd_, delivery_.in_flight() + acked);
  }

  // Section 4.2.3.6.
  void set_cwnd(const Ack& ack, double acked) {
    modulate_cwnd_for_recovery(ack, acked);
    if (not packet_conservation_) {
      const double target_cwnd = inflight(full_bw_.reached ? cwnd_gain_ : high_gain_);
      if (full_bw_.reached) {
        cwnd_ = std::min(cwnd_ + acked, target_cwnd);
      } else if (cwnd_ < target_cwnd or delivery_.delivered() < initial_cwnd_) {
        cwnd_ += acked;
      }
      cwnd_ = std::clamp(cwnd_, min_pipe_cwnd, widest_window);
    }
    if (state_ == State::probe_rtt) cwnd_ = std::min(cwnd_, min_pipe_cwnd);
  }

  static constexpr int cycle_length_ = 8;

  double high_gain_;
  double cwnd_gain_;
  double probe_gain_;
  double rate_rounds_;
  double full_growth_;
  double rtprop_filter_s_;
  ProbeRtt probe_rtt_;
  double initial_cwnd_;
  PacingRate pacing_rate_;
  double send_quantum_ = 0;
  DeliveryRate delivery_{};
  WindowedMax btlbw_{};  // windowed by rounds
  DeliveryRounds round_{};
  double round_count_ = 0;
  bool round_start_ = false;
  FullBw full_bw_{};
  double rtprop_ = infinity;
  double rtprop_stamp_ = infinity;
  State state_ = State::startup;
  int cycle_index_ = 0;
  double cycle_stamp_ = 0;
  IdleRestart idle_{};
  bool idle_restart_ = false;
  LossRecovery recovery_{};
  bool is_repairing_ = false;  // in a fast recovery that has begun to conserve packets
  bool packet_conservation_ = false;
  PriorCwnd prior_cwnd_{};
};

const Registration<Bbr> registration{"bbr", "paces at the greatest rate that was delivered",
                                     "draft-cardwell-iccrg-bbr-congestion-control-00"};

}  // namespace
}  // namespace kneepoint
