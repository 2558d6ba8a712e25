#include "transport/tcp_sender.hh"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace kneepoint {

void RtoEstimate::add(Microseconds rtt_us) {
  if (srtt_us_ < 0) {
    srtt_us_ = rtt_us;
    rttvar_us_ = rtt_us / 2;
  } else {
    rttvar_us_ = (3 * rttvar_us_ + std::abs(srtt_us_ - rtt_us)) / 4;
    srtt_us_ = (7 * srtt_us_ + rtt_us) / 8;
  }
  rto_us_ =
      std::clamp(srtt_us_ + std::max(least_margin_us_, 4 * rttvar_us_), least_us_, longest_us_);
}

uint64_t TcpSender::window_packets() const {
  if (settings_.prr and is_recovering_) return prr_.window;
  return static_cast<uint64_t>(controller_.window());
}

bool TcpSender::may_send_new() const {
  if (not has_new()) return false;
  if (settings_.sack) return in_flight_ < window_packets();
  // RFC 6582 inflates the window by every duplicate: each says that a segment has left the network.
  return next_ - una_ < window_packets() + duplicates_;
}

// Due data that is not held back is sent.
bool TcpSender::is_held_back(Microseconds now_us) {
  if (not controller_.paces()) return false;
  if (now_us < pacer_.next_us()) {
    held_back_until_us_ = pacer_.next_us();
    return true;
  }
  pacer_.sent(now_us, controller_.pacing_us());
  return false;
}

void TcpSender::accept(Microseconds rtt_us) {
  state_ = State::established;
  peer_window_ = settings_.receive_window_packets;
  if (rtt_us >= 0) rto_.add(rtt_us);
}

std::optional<TcpSender::Segment> TcpSender::send(Microseconds now_us) {
  if (state_ == State::syn_to_send) {
    state_ = State::syn_sent;
    syn_sent_us_ = now_us;
    timer_us_ = now_us + rto_.rto_us();
    return Segment{.number = 0, .is_syn = true, .is_retransmission = syn_was_repeated_};
  }
  if (state_ != State::established) return std::nullopt;
  held_back_until_us_ = never;
  const bool is_probe = std::exchange(must_probe_, false);
  if (is_probe) {
    begin_probe();
    if (not is_probe_new_) return retransmit(next_ - 1, now_us);
  }
  if (must_retransmit_ or in_flight_ < window_packets()) {
    const auto lost = first_lost();
    if (lost and is_held_back(now_us)) return std::nullopt;
    must_retransmit_ = false;
    if (lost) return retransmit(*lost, now_us);
  }
  if (not is_probe) {
    if (not may_send_new()) return send_doubtful(now_us);
    if (is_held_back(now_us)) return std::nullopt;
  }
  scoreboard_.push_back({.sent_us = now_us});
  const uint64_t number = next_++;
  if (controller_.hears_of_sending()) controller_.on_sent(number, whole_ms(now_us));
  depart(number, now_us);
  if (timer_us_ == never) timer_us_ = now_us + rto_.rto_us();
  if (settings_.rack) plan_probe(now_us);
  return Segment{.number = number,
                 .is_capable = settings_.ecn,
                 .has_reduced = std::exchange(must_tell_reduction_, false)};
}

// The first segment that is lost and was not retransmitted since.
std::optional<uint64_t> TcpSender::first_lost() {
  const auto is_missing = [this](uint64_t number) {
    const Sent& segment = sent(number);
    return segment.is_lost and not segment.is_sacked;
  };
  if (settings_.rack) {
    while (not lost_.empty() and (lost_.top() < una_ or not is_missing(lost_.top()))) lost_.pop();
    return lost_.empty() ? std::nullopt : std::optional{lost_.top()};
  }
  const uint64_t end = std::min(examined_, next_);
  to_retransmit_ = std::max(to_retransmit_, una_);
  while (to_retransmit_ < end and not is_missing(to_retransmit_)) ++to_retransmit_;
  return to_retransmit_ < end ? std::optional{to_retransmit_} : std::nullopt;
}

// RFC 8985, section 7.3: new data, whatever the window says, or else the last segment again; then
// the retransmission timer begins anew.
void TcpSender::begin_probe() {
  is_probe_new_ = has_new();
  probe_end_ = next_ + is_probe_new_;
  probe_us_ = timer_us_ = never;
  if (not is_probe_new_ and not scoreboard_.back().is_lost) --in_flight_;
}

// RFC 6675, rules 3 and 4 of NextSeg: a recovery without new data sends what has less than three
// sacked segments above it, and once the last of all, whose loss nothing else would tell.
std::optional<TcpSender::Segment> TcpSender::send_doubtful(Microseconds now_us) {
  const bool may_doubt = settings_.sack and not settings_.rack;
  if (not may_doubt or not is_recovering_ or in_flight_ >= window_packets()) return std::nullopt;
  uint64_t number = std::max(to_retransmit_, una_);
  while (number < highest_sacked_ and (sent(number).is_sacked or sent(number).is_retransmitted)) {
    ++number;
  }
  const bool is_rescue = number >= highest_sacked_;
  if ((is_rescue and is_rescued_) or is_held_back(now_us)) return std::nullopt;
  if (is_rescue) {
    is_rescued_ = true;
    for (number = next_ - 1; sent(number).is_sacked;) --number;
  } else {
    to_retransmit_ = number + 1;
  }
  Sent& segment = sent(number);
  if (not segment.is_lost) --in_flight_;  // counted once, as this copy
  return retransmit(number, now_us);
}

TcpSender::Segment TcpSender::retransmit(uint64_t number, Microseconds now_us) {
  Sent& segment = sent(number);
  segment.sent_us = now_us;
  segment.is_lost = false;
  segment.is_retransmitted = true;
  ++retransmissions_;
  depart(number, now_us);
  // Linux begins anew with the first segment, or the timer could expire before its answer comes.
  if (timer_us_ == never or (settings_.rack and number == una_)) restart_timer(now_us);
  return {.number = number, .is_retransmission = true};  // never capable: RFC 3168, 6.1.5
}

void TcpSender::depart(uint64_t number, Microseconds now_us) {
  ++in_flight_;
  ++prr_.out;
  if (settings_.rack) transmissions_.push_back({now_us, number});
  if (log_ != nullptr) log_->sent(now_us, flow_, number);
}

void TcpSender::acknowledged(const TcpAcknowledgment& ack, Microseconds now_us) {
  peer_window_ = ack.window_packets;
  if (ack.is_of_syn) {
    if (state_ != State::syn_sent) return;
    state_ = State::established;
    timer_us_ = never;
    if (not syn_was_repeated_) rto_.add(now_us - syn_sent_us_);
    return;
  }
  if (state_ != State::established or ack.next_expected > next_) return;
  measure(ack, now_us);
  const uint64_t acknowledged = ack.next_expected > una_ ? ack.next_expected - una_ : 0;
  const bool is_duplicate = acknowledged == 0 and ack.next_expected == una_ and next_ > una_;
  if (settings_.rack) fack_ = highest_sacked_;
  uint64_t delivered = take_cumulative(ack.next_expected, now_us);
  oldest_sacked_us_ = never;
  if (settings_.sack) {
    delivered += take_blocks(ack, now_us);
    if (settings_.rack) measure_by_sack(now_us);
  } else if (acknowledged > 0) {
    // Duplicates take the place of SACK: each has told of a segment. The window deflates by them.
    const uint64_t known = std::min(duplicates_, acknowledged - 1);
    delivered -= known;
    duplicates_ -= known;
  }
  if (is_recovering_ and not is_repairing()) {
    is_recovering_ = false;
    duplicates_ = 0;
  }
  const uint64_t lost = segments_lost_;
  if (probe_end_ != none_) hear_of_probe(ack, acknowledged > 0, now_us);
  find_losses(is_duplicate, now_us);
  if (settings_.prr and is_recovering_) {
    reduce_in_proportion(delivered, acknowledged > 0 and segments_lost_ == lost);
  }
  if (is_recovering_ and not settings_.sack and acknowledged > 0) {
    // A partial acknowledgment: the next hole is also lost.
    mark_lost_below(una_ + 1);
    must_retransmit_ = true;
  }
  if (ack.echoes_mark) hear_of_mark(now_us);
  if (acknowledged == 0) return;
  restart_timer(now_us);
  tell_controller(ack, delivered, now_us);
}

// By the newest segment that it acknowledges, unless that was sent twice (Karn).
void TcpSender::measure(const TcpAcknowledgment& ack, Microseconds now_us) {
  last_rtt_us_ = -1;
  if (ack.next_expected <= una_) return;
  const Sent& newest = sent(ack.next_expected - 1);
  if (newest.is_retransmitted or newest.is_sacked) return;
  last_rtt_us_ = now_us - newest.sent_us;
  rto_.add(last_rtt_us_);
  ++rtt_samples_;
}

// As in Linux: the oldest segment that is newly sacked, sent once, gives the RTT if nothing else
// does; and while what was sent before the first segment's last copy arrives, the timer waits.
void TcpSender::measure_by_sack(Microseconds now_us) {
  if (oldest_sacked_us_ == never) return;
  if (last_rtt_us_ < 0) rto_.add(now_us - oldest_sacked_us_);
  if (not scoreboard_.empty() and oldest_sacked_us_ < scoreboard_.front().sent_us) {
    restart_timer(now_us);
  }
}

uint64_t TcpSender::take_cumulative(uint64_t next_expected, Microseconds now_us) {
  uint64_t delivered = 0;
  for (; una_ < next_expected; ++una_) {
    const Sent& segment = scoreboard_.front();
    if (segment.is_sacked) {
      --sacked_;
    } else {
      ++delivered;
      arrive(una_, segment, now_us);
    }
    scoreboard_.pop_front();
  }
  examined_ = std::max(examined_, una_);
  highest_sacked_ = std::max(highest_sacked_, una_);
  return delivered;
}

// Blocks grow: what the last acknowledgment said of one need not be read again.
uint64_t TcpSender::take_blocks(const TcpAcknowledgment& ack, Microseconds now_us) {
  uint64_t delivered = 0;
  for (size_t i = 0; i < ack.block_count; ++i) {
    const auto [begin, end] = ack.blocks[i];
    SackBlock known{end, end};
    for (size_t j = 0; j < last_block_count_; ++j) {
      const SackBlock& last = last_blocks_[j];
      if (begin <= last.begin and last.end <= end) known = last;
    }
    delivered += sack(begin, known.begin, now_us);
    delivered += sack(known.end, end, now_us);
    highest_sacked_ = std::max(highest_sacked_, std::min(end, next_));
  }
  last_block_count_ = ack.block_count;
  last_blocks_ = ack.blocks;
  return delivered;
}

uint64_t TcpSender::sack(uint64_t begin, uint64_t end, Microseconds now_us) {
  uint64_t delivered = 0;
  end = std::min(end, next_);
  for (uint64_t number = std::max(begin, una_); number < end; ++number) {
    Sent& segment = sent(number);
    if (segment.is_sacked) continue;
    segment.is_sacked = true;
    ++sacked_;
    ++delivered;
    if (not segment.is_retransmitted) {
      oldest_sacked_us_ = std::min(oldest_sacked_us_, segment.sent_us);
    }
    arrive(number, segment, now_us);
  }
  return delivered;
}

void TcpSender::arrive(uint64_t number, const Sent& segment, Microseconds now_us) {
  if (not segment.is_lost) --in_flight_;
  if (settings_.rack) {
    rack_.delivered(number, segment.sent_us, segment.is_retransmitted, fack_, now_us);
  }
}

// Segments neither sacked nor marked before: they have left the network.
void TcpSender::mark_lost_below(uint64_t end) {
  for (examined_ = std::max(examined_, una_); examined_ < end; ++examined_) {
    const Sent& segment = sent(examined_);
    if (segment.is_sacked or segment.is_lost or segment.is_retransmitted) continue;
    mark_lost(examined_);
    ++segments_lost_;
  }
}

void TcpSender::mark_lost(uint64_t number) {
  sent(number).is_lost = true;
  --in_flight_;
  if (settings_.rack) lost_.push(number);
}

// RFC 6675: lost is what has three sacked segments above it. RFC 6582: three duplicates.
void TcpSender::find_losses(bool is_duplicate, Microseconds now_us) {
  if (settings_.rack) {
    find_losses_by_time(now_us);
  } else if (settings_.sack) {
    uint64_t above = 0;
    uint64_t number = highest_sacked_;
    while (number > std::max(una_, examined_) and above < duplicate_threshold_) {
      above += sent(--number).is_sacked;
    }
    if (above == duplicate_threshold_) mark_lost_below(number);
    const bool is_lost = not scoreboard_.empty() and scoreboard_.front().is_lost;
    if (is_lost and not is_recovering_ and not is_repairing()) enter_recovery(now_us);
  } else if (is_duplicate) {
    ++duplicates_;
    if (duplicates_ == duplicate_threshold_ and not is_recovering_ and not is_repairing()) {
      mark_lost_below(una_ + 1);
      enter_recovery(now_us);
    }
  } else if (not is_recovering_) {
    duplicates_ = 0;
  }
}

// RFC 8985, section 6.2, step 5: lost is what is late, retransmissions too. Whatever is out was
// sent in the order of the list, so that the search ends at the first that nothing has overtaken.
void TcpSender::find_losses_by_time(Microseconds now_us) {
  const bool is_certain = is_repairing() or sacked_ >= duplicate_threshold_;
  const Microseconds window_us = rack_.window_us(is_certain, rto_.smoothed_us());
  const uint64_t lost = segments_lost_;
  reordering_us_ = never;
  if (highest_sacked_ > una_) probe_us_ = never;  // what is below will be found by time
  for (size_t place = 0; place < transmissions_.size();) {
    const auto [sent_us, number] = transmissions_[place];
    if (rack_.was_sent_before(sent_us)) break;
    if (is_out(number, sent_us) and rack_.was_overtaken(number, sent_us)) {
      const Microseconds due_us = rack_.due_us(sent_us, window_us);
      if (due_us > now_us) {
        reordering_us_ = due_us;  // the last is the latest
      } else {
        mark_lost(number);
        ++segments_lost_;
      }
    }
    if (place == 0 and not is_out(number, sent_us)) {
      transmissions_.pop_front();
    } else {
      ++place;
    }
  }
  if (segments_lost_ > lost and not is_repairing()) enter_recovery(now_us);
}

// Whether that transmission is neither acknowledged, nor lost, nor repeated.
bool TcpSender::is_out(uint64_t number, Microseconds sent_us) {
  if (number < una_) return false;
  const Sent& segment = sent(number);
  return segment.sent_us == sent_us and not segment.is_sacked and not segment.is_lost;
}

// RFC 8985, section 7.4: if the probe repaired the loss that it was sent for, nothing else tells.
void TcpSender::hear_of_probe(const TcpAcknowledgment& ack, bool is_progress, Microseconds now_us) {
  if (ack.next_expected < probe_end_) return;
  const bool has_repaired = not is_probe_new_ and ack.next_expected > probe_end_;
  const bool came_twice = not is_progress and ack.block_count == 0;
  if (not is_probe_new_ and not has_repaired and not came_twice) return;
  probe_end_ = none_;
  if (not has_repaired) return;
  ++loss_events_;
  reduce(Loss::Kind::lost, now_us);
}

void TcpSender::enter_recovery(Microseconds now_us) {
  prr_ = {.recover_fs = window_packets()};
  is_recovering_ = true;
  is_rescued_ = false;
  must_retransmit_ = true;
  recovery_end_ = next_;
  probe_us_ = never;
  probe_end_ = none_;
  ++loss_events_;
  // A mark in the same round trip has reduced the window.
  if (una_ >= reduction_end_) reduce(Loss::Kind::lost, now_us);
}

// RFC 6937, section 3.1, with its slow start reduction bound as Linux has it: one packet more only
// for an acknowledgment that moves the left edge and finds nothing lost.
void TcpSender::reduce_in_proportion(uint64_t delivered, bool is_progress) {
  if (delivered == 0) return;
  const auto ssthresh = static_cast<uint64_t>(controller_.window());
  prr_.delivered += delivered;
  uint64_t count = 0;
  if (in_flight_ > ssthresh) {
    const uint64_t due = (prr_.delivered * ssthresh + prr_.recover_fs - 1) / prr_.recover_fs;
    count = due - std::min(due, prr_.out);
  } else {
    const uint64_t owed = prr_.delivered - std::min(prr_.delivered, prr_.out);
    count = std::min(ssthresh - in_flight_, std::max(owed, delivered) + is_progress);
  }
  if (prr_.out == 0) count = std::max<uint64_t>(count, 1);  // the fast retransmission
  prr_.window = in_flight_ + count;
}

// RFC 3168, section 6.1.2: at most once in a round trip, whether by marks or by losses.
void TcpSender::hear_of_mark(Microseconds now_us) {
  if (not settings_.ecn or is_recovering_ or una_ < reduction_end_) return;
  reduce(Loss::Kind::marked, now_us);
}

void TcpSender::reduce(Loss::Kind kind, Microseconds now_us) {
  if (settings_.ecn) {
    reduction_end_ = next_;
    must_tell_reduction_ = true;
  }
  controller_.on_loss(
      {.now_ms = whole_ms(now_us), .now_us = now_us, .kind = kind, .in_flight = next_ - una_});
}

// Of segments that are newly delivered: windows must not grow again by what SACK has reported
// before (DeliveredData of RFC 6937).
void TcpSender::tell_controller(const TcpAcknowledgment& ack, uint64_t delivered,
                                Microseconds now_us) {
  const Microseconds rtt_us =
      std::max<Microseconds>(last_rtt_us_ >= 0 ? last_rtt_us_ : rto_.smoothed_us(), 0);
  const Ack heard{.sequence_number = ack.next_expected - 1,
                  .sent_ms = whole_ms(now_us) - whole_ms(rtt_us),
                  .received_ms = whole_ms(now_us) - whole_ms(rtt_us / 2),
                  .ack_received_ms = whole_ms(now_us),
                  .now_us = now_us,
                  .rtt_us = last_rtt_us_,
                  .acknowledged = delivered,
                  .in_flight = in_flight_,
                  .is_recovering = is_recovering_ or ack.echoes_mark,
                  .measured_rtt_us = last_rtt_us_,
                  .flight = in_flight_,
                  .delivered = una_ + (settings_.sack ? sacked_ : duplicates_)};
  controller_.on_ack(heard);
  if (log_ != nullptr)
    log_->acknowledged(now_us, flow_, heard.sequence_number, heard.rtt_ms(), controller_.window());
}

void TcpSender::restart_timer(Microseconds now_us) {
  timer_us_ = una_ == next_ ? never : now_us + rto_.rto_us();
  if (settings_.rack) plan_probe(now_us);
}

// RFC 8985, section 7.2: of a tail that no loss is known in, one probe at a time.
void TcpSender::plan_probe(Microseconds now_us) {
  probe_us_ = never;
  const bool is_in_order = highest_sacked_ <= una_ and not is_repairing();
  if (una_ == next_ or not is_in_order or probe_end_ != none_) return;
  const Microseconds smoothed_us = rto_.smoothed_us();
  Microseconds wait_us = smoothed_us < 0 ? 1'000'000 : 2 * smoothed_us;
  if (next_ - una_ == 1) wait_us += longest_delayed_ack_us_;
  probe_us_ = std::min(now_us + wait_us, timer_us_);
}

void TcpSender::timer(Microseconds now_us) {
  if (reordering_us_ <= now_us) {
    find_losses_by_time(now_us);
  } else if (probe_us_ <= now_us) {
    probe_us_ = never;
    must_probe_ = true;
  } else {
    time_out(now_us);
  }
}

void TcpSender::time_out(Microseconds now_us) {
  rto_.back_off();
  ++timeouts_;
  if (state_ == State::syn_sent) {
    state_ = State::syn_to_send;
    syn_was_repeated_ = true;
    timer_us_ = never;
    return;
  }
  ++loss_events_;
  // What is not sacked is retransmitted, in slow start; with RACK what may still arrive is not
  // (RFC 8985, section 6.3).
  is_recovering_ = false;
  recovery_end_ = next_;
  to_retransmit_ = una_;
  duplicates_ = 0;
  reordering_us_ = probe_us_ = never;
  probe_end_ = none_;
  for (uint64_t number = una_; number < next_; ++number) {
    const Sent& segment = sent(number);
    if (segment.is_sacked) continue;
    const bool may_arrive = settings_.rack and rack_.due_us(segment.sent_us, 0) > now_us;
    if (may_arrive and number > una_) continue;
    if (not segment.is_lost) mark_lost(number);
  }
  examined_ = next_;
  must_retransmit_ = true;
  reduce(Loss::Kind::timed_out, now_us);
  timer_us_ = now_us + rto_.rto_us();
}

}  // namespace kneepoint
