#include "host/contest_processes.hh"

#include <algorithm>
#include <cmath>

#include "common/progress.hh"

namespace kneepoint {

SenderProcess::SenderProcess(Agenda& agenda, size_t endpoint, uint16_t flow,
                             const ControllerHandle& controller, const HostModel& host,
                             Lateness lateness, Departures departures, Lifetime lifetime,
                             FlowLog* log, FlowMeter* meter)
    : agenda_(agenda),
      endpoint_(endpoint),
      blank_{.flow = flow,
             .ecn = (controller.needs() & needs::counted_marks) != 0 ? Ecn::counted
                                                                     : Ecn::not_capable},
      sender_(flow, controller, log),
      packet_us_(std::llround(host.packet_us)),
      lateness_(lateness),
      departures_(departures),
      lifetime_(lifetime),
      meter_(meter) {
  plan();
}

void SenderProcess::arrive(Microseconds time_us, const Packet& packet) {
  const Microseconds read_us = lateness_.read_time(time_us);
  if (knows_all_until(read_us)) {
    read(packet, time_us, read_us);
    fill_window(read_us);
    if (wake_up_us_ < planned_us_) plan();
  } else {
    Packet acknowledgment = packet;
    acknowledgment.queued_us = time_us;  // the kernel's time, whenever we read it
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
  if (sender_.packets_sent() >= most_sent(now_us)) {
    wake_up_us_ = never;
    return;
  }
  if (started_ and now_us < sender_.silence_ends_us()) {
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
  if (meter_ != nullptr) {
    meter_->measured(arrived_us - sent_us(acknowledgment), now_us);
    meter_->saw_window(sender_.window(), now_us);
    if (acknowledgment.sequence_number + 1 == lifetime_.packets) meter_->completed(arrived_us);
  }
}

inline void SenderProcess::fill_window(Microseconds now_us) {
  const uint64_t most = most_sent(now_us);
  while (sender_.window_is_open() and sender_.packets_sent() < most) send(now_us);
  wake_up_us_ = sender_.packets_sent() < most ? sender_.wakes_us() + lateness_us_ : never;
}

inline void SenderProcess::send(Microseconds now_us, bool is_heartbeat) {
  Packet packet = blank_;
  if (is_heartbeat) packet.bytes = acknowledgment_bytes;
  packet.sequence_number = sender_.packets_sent();
  packet.sent_ms = stamp(whole_ms(busy_until_us_));
  if (meter_ != nullptr) {
    packet.sent_rest_us = static_cast<uint16_t>(busy_until_us_ % 1000);
    meter_->sent(false);
  }
  sender_.sent(busy_until_us_);
  busy_until_us_ += packet_us_;
  departures_.of(busy_until_us_, now_us).arrive(busy_until_us_, packet);
}

}  // namespace kneepoint
