#include "transport/tcp_sender.hh"

#include <algorithm>
#include <utility>

#include "transport/rack.hh"

namespace kneepoint {

namespace {

constexpr double longest_pause_us = 60e6;

}  // namespace

TcpSender::TcpSender(uint16_t flow, const ControllerHandle& controller, const TcpSettings& settings,
                     uint64_t segments, FlowLog* log)
    : flow_(flow),
      controller_(controller),
      settings_(settings),
      end_(segments),
      log_(log),
      board_(settings.sack),
      owns_cwnd_in_recovery_(controller.owns_cwnd_in_recovery()),
      recovery_(settings.prr and not owns_cwnd_in_recovery_),
      timer_(settings),
      ecn_(settings.counts_marks ? Ecn::counted
           : settings.ecn        ? Ecn::capable
                                 : Ecn::not_capable) {
  if (settings.rack and settings.sack) {
    detection_ = std::make_unique<RackDetection>(board_, recovery_, timer_);
  } else {
    settings_.rack = false;
    detection_ = std::make_unique<DuplicateDetection>(board_, recovery_);
  }
}

uint64_t TcpSender::window_packets() const {
  if (recovery_.has_window()) return recovery_.window_packets();
  return std::max<uint64_t>(static_cast<uint64_t>(controller_.window()), 1);
}

// A window below one packet is one packet and a pause: a segment every RTT/cwnd, as in Swift's
// algorithm 1. Otherwise the window would stay closed for ever.
double TcpSender::gap_us() const {
  const double paced_us = controller_.paces() ? controller_.pacing_us() : 0;
  if (board_.in_flight() > 0) return paced_us;
  const double window = controller_.window();
  if (window >= 1 or timer_.smoothed_us() < 0) return paced_us;
  const double pause_us = static_cast<double>(timer_.smoothed_us()) / window;
  return std::max(paced_us, std::min(longest_pause_us, pause_us));
}

bool TcpSender::try_consume_pacing(Microseconds now_us) {
  if (now_us < pacer_.next_us()) {
    held_back_until_us_ = pacer_.next_us();
    return false;
  }
  const double gap_us = this->gap_us();
  if (controller_.paces() or gap_us > 0) pacer_.sent(now_us, gap_us);
  return true;
}

void TcpSender::answer_syn(Microseconds now_us) {
  if (is_open()) return;
  syn_was_repeated_ = state_ == State::syn_answered;
  state_ = State::syn_answered;
  syn_sent_us_ = now_us;
}

void TcpSender::accept(Microseconds now_us) {
  if (state_ != State::syn_answered) return;
  peer_window_ = settings_.offered_packets();
  open(now_us);
}

void TcpSender::open(Microseconds now_us) {
  state_ = State::established;
  timer_.stop();
  if (not syn_was_repeated_) timer_.measured(now_us - syn_sent_us_);
}

std::optional<TcpSegment> TcpSender::send(Microseconds now_us) {
  if (state_ == State::syn_to_send) return send_syn(now_us);
  if (state_ != State::established) return std::nullopt;
  held_back_until_us_ = never;
  const bool is_probe = std::exchange(must_probe_, false);
  if (is_probe) {
    // RFC 8985, section 7.3: new data, regardless of the window, or else the last segment again;
    // then the timer begins anew.
    detection_->probed(has_new());
    timer_.stop();
    if (not has_new()) return retransmit(board_.next() - 1, now_us);
  }
  const uint64_t window = window_packets();
  if (must_retransmit_ or board_.in_flight() < window) {
    if (const auto lost = board_.first_lost()) return send_lost(*lost, now_us);
    must_retransmit_ = false;
  }
  if (is_probe) return send_new(now_us);
  if (not has_new() or not board_.has_room(window)) return send_doubtful(window, now_us);
  if (not try_consume_pacing(now_us)) return std::nullopt;
  return send_new(now_us);
}

TcpSegment TcpSender::send_syn(Microseconds now_us) {
  state_ = State::syn_sent;
  syn_sent_us_ = now_us;
  timer_.start(now_us);
  return {.number = 0, .is_syn = true, .is_retransmission = syn_was_repeated_};
}

std::optional<TcpSegment> TcpSender::send_lost(uint64_t number, Microseconds now_us) {
  if (not try_consume_pacing(now_us)) return std::nullopt;
  must_retransmit_ = false;
  return retransmit(number, now_us);
}

TcpSegment TcpSender::send_new(Microseconds now_us) {
  const uint64_t number = board_.send(now_us);
  if (controller_.handles_sent()) controller_.on_sent(number, whole_ms(now_us));
  depart(number, now_us);
  if (timer_.expires_us() == never) timer_.start(now_us);
  detection_->plan_probe(now_us);
  return {.number = number, .ecn = ecn_, .has_reduced = std::exchange(must_tell_reduction_, false)};
}

// RFC 6675, rules 3 and 4 of NextSeg: a recovery without new data sends segments with fewer than
// three sacked segments above them, and once the last segment of all, whose loss nothing else would
// reveal.
std::optional<TcpSegment> TcpSender::send_doubtful(uint64_t window, Microseconds now_us) {
  const bool may_doubt = settings_.sack and not settings_.rack and recovery_.is_fast();
  if (not may_doubt or board_.in_flight() >= window) return std::nullopt;
  const auto doubtful = board_.first_doubtful();
  if (not doubtful and recovery_.has_rescued()) return std::nullopt;
  if (not try_consume_pacing(now_us)) return std::nullopt;
  if (not doubtful) recovery_.rescued();
  return retransmit(doubtful ? *doubtful : board_.last_unsacked(), now_us);
}

TcpSegment TcpSender::retransmit(uint64_t number, Microseconds now_us) {
  board_.send_again(number, now_us);
  first_again_us_ = std::min(first_again_us_, now_us);
  depart(number, now_us);
  // Linux restarts the timer with the first outstanding segment; otherwise the timer could expire
  // before this segment is acknowledged.
  const bool is_first = settings_.rack and number == board_.una();
  if (timer_.expires_us() == never or is_first) restart_timer(now_us);
  // RFC 3168, section 6.1.5: retransmissions are not ECN-capable; RFC 8311, section 4.3: they may
  // be, if marks are counted.
  return {.number = number,
          .is_retransmission = true,
          .ecn = settings_.counts_marks ? Ecn::counted : Ecn::not_capable};
}

void TcpSender::depart(uint64_t number, Microseconds now_us) {
  recovery_.sent();
  detection_->sent(number, now_us);
  if (log_ != nullptr) log_->sent(now_us, flow_, number);
}

void TcpSender::acknowledged(const TcpAcknowledgment& ack, Microseconds now_us) {
  peer_window_ = ack.window_packets;
  if (ack.is_of_syn) {
    if (state_ == State::syn_sent) open(now_us);
    return;
  }
  if (state_ != State::established or ack.next_expected > board_.next()) return;
  measure(ack, now_us);
  const bool is_progress = ack.next_expected > board_.una();
  const bool is_spurious = settings_.undo and is_progress and
                           recovery_.is_repairing(board_.una()) and ack.echo_us < first_again_us_;
  const auto& deliveries = board_.take(ack);
  if (is_spurious) undo(ack, now_us);
  if (settings_.rack) measure_by_sack(deliveries, now_us);
  recovery_.acknowledged(board_.una());
  if (not recovery_.is_repairing(board_.una()) and board_.unrepaired() == 0) {
    first_again_us_ = never;
  }
  const uint64_t losses = board_.losses();
  const auto found = detection_->acknowledged(ack, deliveries, is_progress, now_us);
  if (found.was_repaired) {
    ++loss_events_;
    reduce(Loss::Kind::lost, now_us);
  }
  if (found.calls_for_recovery) begin_recovery(now_us);
  if (recovery_.has_window()) {
    recovery_.delivered(deliveries.size(), is_progress and board_.losses() == losses,
                        board_.in_flight(), static_cast<uint64_t>(controller_.window()));
  }
  if (recovery_.is_fast() and not settings_.sack and is_progress) {
    // A partial acknowledgment: the next hole is also lost.
    board_.mark_original_lost(board_.una());
    must_retransmit_ = true;
  }
  if (ack.echoes_mark) hear_of_mark(now_us);
  if (is_progress) restart_timer(now_us);
  if (is_progress or (owns_cwnd_in_recovery_ and not deliveries.empty())) {
    tell_controller(ack, deliveries, now_us);
  }
}

// Measures the RTT by the newest acknowledged segment, unless this segment was sent twice (Karn).
void TcpSender::measure(const TcpAcknowledgment& ack, Microseconds now_us) {
  last_rtt_us_ = -1;
  if (ack.next_expected <= board_.una()) return;
  const Scoreboard::Segment& newest = board_.segment(ack.next_expected - 1);
  if (newest.is_retransmitted or newest.is_sacked) return;
  last_rtt_us_ = now_us - newest.sent_us;
  timer_.measured(last_rtt_us_);
  ++rtt_samples_;
}

// As in Linux: the oldest newly sacked segment that was sent once gives the RTT if nothing else
// does; and while segments arrive that were sent before the last copy of the first outstanding
// segment, the timer restarts.
void TcpSender::measure_by_sack(const std::vector<Scoreboard::Delivery>& deliveries,
                                Microseconds now_us) {
  Microseconds oldest_us = never;
  for (const auto& [number, segment] : deliveries) {
    if (segment.is_sacked and not segment.is_retransmitted) {
      oldest_us = std::min(oldest_us, segment.sent_us);
    }
  }
  if (oldest_us == never) return;
  if (last_rtt_us_ < 0) timer_.measured(now_us - oldest_us);
  const bool is_empty = board_.outstanding() == 0;
  if (not is_empty and oldest_us < board_.segment(board_.una()).sent_us) restart_timer(now_us);
}

// RFC 3522: the segment that moved the left edge was sent before any retransmission; it was late,
// not lost. As in Linux (tcp_undo_cwnd_reduction), no segment counts as lost any more, and the RTT
// of the late segment enters the next timeout.
void TcpSender::undo(const TcpAcknowledgment& ack, Microseconds now_us) {
  board_.unmark();
  recovery_.undone();
  detection_->undone();
  must_retransmit_ = false;
  reduction_end_ = 0;
  if (last_rtt_us_ < 0) {
    last_rtt_us_ = now_us - ack.echo_us;
    timer_.measured(last_rtt_us_);
    ++rtt_samples_;
  }
  controller_.on_undo({.now_ms = whole_ms(now_us), .now_us = now_us});
}

void TcpSender::begin_recovery(Microseconds now_us) {
  if (recovery_.is_repairing(board_.una())) return;
  recovery_.begin(board_.next(), window_packets());
  detection_->recovery_began();
  must_retransmit_ = true;
  ++loss_events_;
  // Unless a mark in the same round trip has reduced the window already.
  if (board_.una() >= reduction_end_) reduce(Loss::Kind::lost, now_us);
}

// RFC 3168, section 6.1.2: at most once in a round trip, whether by marks or by losses.
void TcpSender::hear_of_mark(Microseconds now_us) {
  if (not settings_.ecn or recovery_.is_fast() or board_.una() < reduction_end_) return;
  reduce(Loss::Kind::marked, now_us);
}

void TcpSender::reduce(Loss::Kind kind, Microseconds now_us, bool is_repeated) {
  if (settings_.ecn) {
    reduction_end_ = board_.next();
    must_tell_reduction_ = true;
  }
  controller_.on_loss({.now_ms = whole_ms(now_us),
                       .now_us = now_us,
                       .kind = kind,
                       .in_flight = board_.outstanding(),
                       .is_repeated = is_repeated});
}

// Whether the window was the limit before `delivered` segments were delivered.
bool TcpSender::is_cwnd_limited(uint64_t delivered) const {
  const uint64_t window = window_packets();
  const bool has_all_sent = board_.next() >= end_;
  return window <= max_outstanding() and
         not(has_all_sent and board_.in_flight() + delivered < window);
}

// Reports newly delivered segments: windows must not grow again by segments that SACK has reported
// before (DeliveredData of RFC 6937).
void TcpSender::tell_controller(const TcpAcknowledgment& ack,
                                const std::vector<Scoreboard::Delivery>& deliveries,
                                Microseconds now_us) {
  uint64_t newest = ack.next_expected - 1;
  if (owns_cwnd_in_recovery_ and not deliveries.empty()) {
    newest = std::ranges::max(deliveries, {}, &Scoreboard::Delivery::number).number;
  }
  const Microseconds rtt_us =
      std::max<Microseconds>(last_rtt_us_ >= 0 ? last_rtt_us_ : timer_.smoothed_us(), 0);
  const uint64_t marks = settings_.counts_marks ? std::max(ack.marks, marks_) : 0;
  const Ack heard{.sequence_number = newest,
                  .sent_ms = whole_ms(now_us) - whole_ms(rtt_us),
                  .ack_received_ms = whole_ms(now_us),
                  .now_us = now_us,
                  .rtt_us = last_rtt_us_,
                  .acknowledged = deliveries.size(),
                  .in_flight = board_.in_flight(),
                  .delivered = board_.delivered(),
                  .lost = board_.losses(),
                  .marked = marks - std::exchange(marks_, marks),
                  .is_recovering = recovery_.is_fast() or ack.echoes_mark,
                  .is_cwnd_limited = is_cwnd_limited(deliveries.size())};
  controller_.on_ack(heard);
  if (log_ != nullptr)
    log_->acknowledged(now_us, flow_, heard.sequence_number, heard.rtt_ms(), controller_.window());
}

void TcpSender::restart_timer(Microseconds now_us) {
  if (board_.outstanding() == 0) {
    timer_.stop();
  } else {
    timer_.start(now_us);
  }
  detection_->plan_probe(now_us);
}

void TcpSender::timer(Microseconds now_us) {
  if (detection_->timer_us() > now_us) {
    time_out(now_us);
    return;
  }
  const auto found = detection_->timer(now_us);
  must_probe_ = found.must_probe;
  if (found.calls_for_recovery) begin_recovery(now_us);
}

void TcpSender::time_out(Microseconds now_us) {
  timer_.back_off();
  if (state_ == State::syn_sent) {
    state_ = State::syn_to_send;
    syn_was_repeated_ = true;
    timer_.stop();
    return;
  }
  // Segments that are not sacked are retransmitted in slow start; with RACK, only if they can no
  // longer arrive (RFC 8985, section 6.3).
  recovery_.timed_out(board_.next());
  board_.forget_duplicates();
  detection_->timed_out();
  for (uint64_t number = board_.una(); number < board_.next(); ++number) {
    const Scoreboard::Segment& segment = board_.segment(number);
    if (segment.is_sacked or segment.is_lost) continue;
    if (number > board_.una() and detection_->may_arrive(segment.sent_us, now_us)) continue;
    board_.mark_lost(number);
  }
  must_retransmit_ = true;
  ++loss_events_;
  const bool is_repeated = std::exchange(timed_out_, board_.una()) == board_.una();
  reduce(Loss::Kind::timed_out, now_us, is_repeated);
  timer_.start(now_us);
}

}  // namespace kneepoint
