#include "host/contest_processes.hh"

#include <algorithm>
#include <cmath>

namespace kneepoint {

SenderProcess::SenderProcess(uint16_t flow, const ControllerHandle& controller,
                             const HostModel& host, Lateness lateness, FlowLog* log)
    : flow_(flow),
      sender_(flow, controller, log),
      packet_us_(std::llround(host.packet_us)),
      lateness_(lateness) {}

void SenderProcess::arrive(Microseconds time_us, const Packet& packet) {
  Packet acknowledgment = packet;
  acknowledgment.queued_us = time_us;  // the kernel's time, whenever we read it
  inbox_.push(lateness_.read_time(time_us), acknowledgment);
}

void SenderProcess::step(Microseconds now_us) {
  busy_until_us_ = std::max(busy_until_us_, now_us);
  if (inbox_.next_us() <= now_us) {
    read_acknowledgment(now_us);
  } else if (started_) {
    sender_.keepalive(now_us);
    send();
    lateness_us_ = lateness_.draw_timer();
  }
  started_ = true;
  while (sender_.window_is_open()) send();
  wake_up_us_ = sender_.silence_ends_us() + lateness_us_;
}

void SenderProcess::read_acknowledgment(Microseconds now_us) {
  const Packet& packet = inbox_.pop();
  sender_.acknowledged({.sequence_number = packet.sequence_number,
                        .sent_ms = packet.sent_ms,
                        .received_ms = packet.received_ms,
                        .ack_received_ms = whole_ms(packet.queued_us)},
                       now_us, now_us);
}

void SenderProcess::send() {
  Arrival& departure = outbox_.push();
  departure.packet = {.sequence_number = sender_.packets_sent(),
                      .sent_ms = stamp(whole_ms(busy_until_us_)),
                      .flow = flow_};
  sender_.sent(busy_until_us_);
  busy_until_us_ += packet_us_;
  departure.time_us = busy_until_us_;
}

ReceiverProcess::ReceiverProcess(const HostModel& host, Lateness lateness)
    : response_us_(std::llround(host.receiver_us + host.packet_us)), lateness_(lateness) {}

Arrival ReceiverProcess::answer(Microseconds time_us, Packet packet) {
  packet.received_ms = stamp(receiver_.answer(time_us).received_ms);
  packet.bytes = acknowledgment_bytes;
  return {lateness_.read_time(time_us) + response_us_, packet};
}

}  // namespace kneepoint
