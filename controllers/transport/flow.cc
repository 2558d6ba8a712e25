#include "transport/flow.hh"

#include <algorithm>
#include <cmath>

namespace kneepoint {

Sender::Sender(uint16_t flow, const ControllerHandle& controller, const HostModel& host,
               Lateness lateness, FlowLog* log)
    : flow_(flow),
      controller_(controller),
      log_(log),
      packet_us_(std::llround(host.packet_us)),
      lateness_(lateness) {}

void Sender::arrive(Microseconds time_us, const Packet& packet) {
  Packet acknowledgment = packet;
  acknowledgment.queued_ms = stamp(whole_ms(time_us));  // the kernel's time, whenever we read it
  inbox_.push(lateness_.read_time(time_us), acknowledgment);
}

void Sender::step(Microseconds now_us) {
  busy_until_us_ = std::max(busy_until_us_, now_us);
  if (inbox_.next_us() <= now_us) {
    take_acknowledgment(now_us);
    last_activity_us_ = now_us;
  } else if (started_) {
    const Milliseconds now_ms = whole_ms(now_us);
    controller_.on_keepalive(now_ms);
    if (log_ != nullptr) log_->keepalive(now_us, flow_, controller_.window());
    send();
    lateness_us_ = lateness_.draw_timer();
  }
  started_ = true;
  while (window_is_open()) send();
  schedule_keepalive();
}

void Sender::take_acknowledgment(Microseconds now_us) {
  const Packet& packet = inbox_.pop();
  next_ack_expected_ = std::max(next_ack_expected_, packet.sequence_number + 1);
  const Ack ack{.sequence_number = packet.sequence_number,
                .sent_ms = packet.sent_ms,
                .received_ms = packet.received_ms,
                .ack_received_ms = packet.queued_ms};
  controller_.on_ack(ack);
  if (log_ != nullptr) log_->acknowledged(now_us, flow_, ack, controller_.window());
}

bool Sender::window_is_open() const {
  return sequence_number_ - next_ack_expected_ < static_cast<uint64_t>(controller_.window());
}

void Sender::send() {
  Arrival& departure = outbox_.push();
  Packet& packet = departure.packet;
  packet = Packet{};
  packet.sequence_number = sequence_number_++;
  packet.sent_ms = stamp(whole_ms(busy_until_us_));
  packet.flow = flow_;
  controller_.on_sent(packet.sequence_number, packet.sent_ms);
  if (log_ != nullptr) log_->sent(busy_until_us_, flow_, packet.sequence_number);
  last_activity_us_ = busy_until_us_;
  busy_until_us_ += packet_us_;
  departure.time_us = busy_until_us_;
}

void Sender::schedule_keepalive() {
  const auto wait_ms = static_cast<Milliseconds>(controller_.keepalive_ms());
  wake_up_us_ = last_activity_us_ + wait_ms * 1000 + lateness_us_;
}

Receiver::Receiver(const HostModel& host, Lateness lateness)
    : response_us_(std::llround(host.receiver_us + host.packet_us)), lateness_(lateness) {}

Arrival Receiver::answer(Microseconds time_us, Packet packet) {
  ++packets_delivered_;
  packet.received_ms = stamp(whole_ms(time_us));
  packet.bytes = acknowledgment_bytes;
  return {lateness_.read_time(time_us) + response_us_, packet};
}

}  // namespace kneepoint
