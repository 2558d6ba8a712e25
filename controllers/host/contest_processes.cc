#include "host/contest_processes.hh"

#include <algorithm>

namespace kneepoint {

SenderProcess::SenderProcess(const Endpoint& end, const ControllerHandle& controller,
                             Lateness lateness, const Lifetime& lifetime, FlowLog* log)
    : end_(end),
      blank_{.flow = end.flow,
             .ecn = (controller.needs() & needs::counted_marks) != 0 ? Ecn::counted
                                                                     : Ecn::not_capable},
      sender_(end.flow, controller, log),
      lateness_(lateness),
      lifetime_(lifetime) {
  plan();
}

void SenderProcess::arrive(Microseconds time_us, const Packet& packet) {
  const Microseconds read_us = lateness_.read_time(time_us);
  if (read_us < std::min(next_event_us(), end_.runs_ahead_until_us)) {
    read(packet, time_us, read_us);
    fill_window(read_us);
    if (wake_up_us_ < planned_us_) plan();
  } else {
    Packet acknowledgment = packet;
    acknowledgment.queued_us = time_us;  // the kernel's time of arrival, not the time of reading
    inbox_.push(read_us, acknowledgment);
    if (inbox_.next_us() < planned_us_) plan();
  }
}

void SenderProcess::act(Microseconds now_us) {
  if (inbox_.next_us() <= now_us) {
    const Packet acknowledgment = inbox_.pop();
    read(acknowledgment, acknowledgment.queued_us, now_us);
    fill_window(now_us);
  } else if (wake_up_us_ <= now_us) {
    act_on_timer(now_us);
  }
  plan();
}

inline void SenderProcess::act_on_timer(Microseconds now_us) {
  busy_until_us_ = std::max(busy_until_us_, now_us);
  if (sender_.packets_sent() >= max_sent(now_us)) {
    wake_up_us_ = never;
    return;
  }
  if (started_ and now_us < sender_.idle_deadline_us()) {
    sender_.release(now_us);
    lateness_us_ = lateness_.draw_timer();
  } else if (started_) {
    sender_.keepalive(now_us);
    send(now_us, sender_.has_heartbeats());
    lateness_us_ = lateness_.draw_timer();
  } else {
    sender_.start(now_us);
    started_ = true;
  }
  fill_window(now_us);
}

inline void SenderProcess::read(const Packet& acknowledgment, Microseconds arrived_us,
                                Microseconds now_us) {
  busy_until_us_ = std::max(busy_until_us_, now_us);
  sender_.acknowledged(acknowledgment.sequence_number, now_us, now_us, [&] {
    return Ack{.sequence_number = acknowledgment.sequence_number,
               .sent_ms = acknowledgment.sent_ms,
               .received_ms = acknowledgment.received_ms,
               .ack_received_ms = whole_ms(arrived_us),
               .marked = acknowledgment.tells_mark};
  });
  if (end_.meter != nullptr) {
    end_.meter->measured(arrived_us - sent_us(acknowledgment), now_us);
    end_.meter->saw_window(sender_.window(), now_us);
    if (acknowledgment.sequence_number + 1 == lifetime_.packets) end_.meter->completed(arrived_us);
  }
}

inline void SenderProcess::fill_window(Microseconds now_us) {
  wake_up_us_ = now_us;  // immediate answers to its packets wait in the inbox
  const uint64_t max = max_sent(now_us);
  while (sender_.window_is_open() and sender_.packets_sent() < max) send(now_us);
  wake_up_us_ = sender_.packets_sent() < max ? sender_.wakes_us() + lateness_us_ : never;
}

inline void SenderProcess::send(Microseconds now_us, bool is_heartbeat) {
  Packet packet = blank_;
  if (is_heartbeat) packet.bytes = acknowledgment_bytes;
  packet.sequence_number = sender_.packets_sent();
  packet.sent_ms = stamp(whole_ms(busy_until_us_));
  if (end_.meter != nullptr) {
    packet.sent_rest_us = static_cast<uint16_t>(busy_until_us_ % 1000);
    end_.meter->sent(false);
  }
  sender_.sent(busy_until_us_);
  busy_until_us_ += end_.packet_us;
  end_.send(busy_until_us_, now_us, packet);
}

}  // namespace kneepoint
