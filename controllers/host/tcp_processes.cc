#include "host/tcp_processes.hh"

#include <algorithm>

#include "common/progress.hh"

namespace kneepoint {

namespace {

constexpr uint16_t block_bytes = 8;  // and 4 of the option itself (RFC 2018)

}  // namespace

TcpSenderProcess::TcpSenderProcess(const TcpEnd& end, TcpSender sender, Microseconds start_us,
                                   Microseconds stop_us)
    : end_(end), sender_(sender), start_us_(start_us), stop_us_(stop_us) {
  end_.agenda.plan_endpoint(end_.endpoint, start_us_);
}

void TcpSenderProcess::arrive(Microseconds time_us, const Packet& packet) {
  inbox_.push(time_us, packet);
  plan();
}

void TcpSenderProcess::act(Microseconds now_us) {
  if (now_us >= stop_us_) {
    sender_.stop();
    stop_us_ = never;
  }
  if (now_us >= start_us_) {
    sender_.start();
    start_us_ = never;
  }
  if (inbox_.next_us() <= now_us) {
    const uint64_t number = inbox_.pop().sequence_number;
    const uint64_t samples = sender_.rtt_samples();
    sender_.acknowledged(end_.letters.take(number), now_us);
    if (end_.meter != nullptr and sender_.rtt_samples() != samples) {
      end_.meter->measured(sender_.last_rtt_us(), now_us);
    }
    if (end_.meter != nullptr and not is_done_ and sender_.is_done()) {
      is_done_ = true;
      end_.meter->completed(now_us);
    }
  } else if (sender_.timer_us() <= now_us) {
    sender_.timer(now_us);
  }
  send(now_us);
  plan();
}

void TcpSenderProcess::plan() {
  end_.agenda.plan_endpoint(end_.endpoint,
                            std::min({inbox_.next_us(), sender_.timer_us(), start_us_, stop_us_}));
}

void TcpSenderProcess::send(Microseconds now_us) {
  note_progress();
  busy_until_us_ = std::max(busy_until_us_, now_us);
  while (const auto segment = sender_.send(now_us)) {
    busy_until_us_ += end_.packet_us;
    if (not segment->is_syn) {
      ++packets_sent_;
      if (end_.meter != nullptr) end_.meter->sent(segment->is_retransmission);
    }
    end_.way.arrive(busy_until_us_,
                    {.sequence_number = segment->number,
                     .sent_ms = stamp(whole_ms(now_us)),
                     .bytes = segment->is_syn ? tcp_acknowledgment_bytes : tcp_segment_bytes,
                     .flow = end_.flow,
                     .sent_rest_us = static_cast<uint16_t>(now_us % 1000),
                     .is_syn = segment->is_syn});
  }
  if (end_.meter != nullptr) end_.meter->saw_window(sender_.window(), now_us);
}

TcpReceiverProcess::TcpReceiverProcess(const TcpEnd& end, const TcpSettings& settings)
    : end_(end), receiver_(settings) {}

void TcpReceiverProcess::arrive(Microseconds time_us, const Packet& packet) {
  inbox_.push(time_us, packet);
  end_.agenda.plan_endpoint(end_.endpoint, std::min(inbox_.next_us(), receiver_.timer_us()));
}

void TcpReceiverProcess::act(Microseconds now_us) {
  if (inbox_.next_us() <= now_us) {
    const Packet packet = inbox_.pop();
    const auto ack = receiver_.receive({packet.sequence_number, packet.is_syn, false}, now_us);
    packets_received_ += not packet.is_syn;
    if (not packet.is_syn and end_.meter != nullptr) {
      end_.meter->received(int64_t{packet.sent_ms} * 1000 + packet.sent_rest_us, now_us,
                           tcp_payload_bytes, receiver_.in_order());
    }
    if (ack) send(*ack, now_us);
  } else {
    send(receiver_.timer(), now_us);
  }
  end_.agenda.plan_endpoint(end_.endpoint, std::min(inbox_.next_us(), receiver_.timer_us()));
}

void TcpReceiverProcess::send(const TcpAcknowledgment& ack, Microseconds now_us) {
  busy_until_us_ = std::max(busy_until_us_, now_us) + end_.packet_us;
  const auto blocks = static_cast<uint16_t>(ack.block_count);
  const auto bytes =
      static_cast<uint16_t>(tcp_acknowledgment_bytes + (blocks > 0 ? 4 + blocks * block_bytes : 0));
  end_.way.arrive(busy_until_us_,
                  {.sequence_number = end_.letters.send(ack), .bytes = bytes, .flow = end_.flow});
}

}  // namespace kneepoint
