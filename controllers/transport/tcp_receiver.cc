#include "transport/tcp_receiver.hh"

#include <algorithm>
#include <iterator>

namespace kneepoint {

std::optional<TcpAcknowledgment> TcpReceiver::receive(const TcpSegment& segment, bool is_marked,
                                                      Microseconds now_us) {
  marks_ += is_marked;
  echoes_mark_ =
      not settings_.counts_marks and (is_marked or (echoes_mark_ and not segment.has_reduced));
  if (segment.is_syn) {
    TcpAcknowledgment ack = acknowledge();
    ack.is_of_syn = true;
    return ack;
  }
  // RFC 7323, section 4.3: the timestamp of the first segment that a delayed acknowledgment
  // answers.
  if (segment.number <= next_expected_ - has_unacknowledged_) echo_us_ = segment.sent_us;
  if (segment.number != next_expected_) {
    if (segment.number > next_expected_) insert(segment.number);
    return acknowledge();
  }
  const bool fills_gap = not gathered_.empty();
  ++next_expected_;
  if (fills_gap and gathered_.begin()->first == next_expected_) {
    next_expected_ = gathered_.begin()->second;
    gathered_.erase(gathered_.begin());
  }
  if (settings_.delayed_ack_us == 0 or fills_gap or has_unacknowledged_) return acknowledge();
  if (quick_acks_ > 0) {
    --quick_acks_;
    return acknowledge();
  }
  has_unacknowledged_ = true;
  timer_us_ = now_us + settings_.delayed_ack_us;
  return std::nullopt;
}

void TcpReceiver::insert(uint64_t number) {
  std::rotate(latest_.begin(), latest_.end() - 1, latest_.end());
  latest_.front() = number;
  uint64_t begin = number;
  uint64_t end = number + 1;
  const auto after = gathered_.upper_bound(number);
  if (after != gathered_.begin()) {
    const auto [before_begin, before_end] = *std::prev(after);
    if (number < before_end) return;  // it is there already
    if (number == before_end) begin = before_begin;
  }
  if (after != gathered_.end() and after->first == end) {
    end = after->second;
    gathered_.erase(after);
  }
  gathered_[begin] = end;
}

TcpAcknowledgment TcpReceiver::acknowledge() {
  has_unacknowledged_ = false;
  timer_us_ = never;
  TcpAcknowledgment ack{.next_expected = next_expected_,
                        .window_packets = settings_.offered_packets(),
                        .echoes_mark = echoes_mark_,
                        .marks = marks_,
                        .echo_us = echo_us_};
  if (gathered_.empty()) return ack;
  for (const uint64_t number : latest_) {
    const auto after = gathered_.upper_bound(number);
    if (after == gathered_.begin()) continue;
    const auto block = std::prev(after);
    if (number >= block->second) continue;
    const bool is_told =
        std::any_of(ack.blocks.begin(), ack.blocks.begin() + ack.block_count,
                    [&](const SackBlock& told) { return told.begin == block->first; });
    if (not is_told) ack.blocks[ack.block_count++] = {block->first, block->second};
  }
  return ack;
}

}  // namespace kneepoint
