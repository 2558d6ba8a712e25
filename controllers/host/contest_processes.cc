#include "host/contest_processes.hh"

#include <algorithm>
#include <cmath>

#include "common/progress.hh"

namespace kneepoint {

SenderProcess::SenderProcess(Agenda& agenda, uint16_t flow, const ControllerHandle& controller,
                             const HostModel& host, Lateness lateness, Departures departures,
                             FlowLog* log)
    : agenda_(agenda),
      flow_(flow),
      sender_(flow, controller, log),
      packet_us_(std::llround(host.packet_us)),
      lateness_(lateness),
      departures_(departures) {
  plan();
}

void SenderProcess::arrive(Microseconds time_us, const Packet& packet) {
  const Microseconds read_us = lateness_.read_time(time_us);
  if (not is_acting_ and read_us < std::min(next_event_us(), departures_.ahead_until_us)) {
    read(packet, time_us, read_us);
    fill_window(read_us);
  } else {
    Packet acknowledgment = packet;
    acknowledgment.queued_us = time_us;  // the kernel's time, whenever we read it
    inbox_.push(read_us, acknowledgment);
    if (not is_acting_) plan();
  }
}

void SenderProcess::act(Microseconds now_us) {
  if (inbox_.next_us() <= now_us) {
    const Packet acknowledgment = inbox_.pop();
    read(acknowledgment, acknowledgment.queued_us, now_us);
  } else {
    busy_until_us_ = std::max(busy_until_us_, now_us);
    if (started_) {
      sender_.keepalive(now_us);
      is_acting_ = true;
      send(now_us);
      is_acting_ = false;
      lateness_us_ = lateness_.draw_timer();
    } else {
      sender_.start(now_us);
      started_ = true;
    }
  }
  fill_window(now_us);
}

void SenderProcess::read(const Packet& acknowledgment, Microseconds arrived_us,
                         Microseconds now_us) {
  note_progress();
  busy_until_us_ = std::max(busy_until_us_, now_us);
  sender_.acknowledged({.sequence_number = acknowledgment.sequence_number,
                        .sent_ms = acknowledgment.sent_ms,
                        .received_ms = acknowledgment.received_ms,
                        .ack_received_ms = whole_ms(arrived_us)},
                       now_us, now_us);
}

void SenderProcess::fill_window(Microseconds now_us) {
  is_acting_ = true;
  while (sender_.window_is_open()) send(now_us);
  is_acting_ = false;
  wake_up_us_ = sender_.silence_ends_us() + lateness_us_;
  plan();
}

void SenderProcess::send(Microseconds now_us) {
  const Packet packet{.sequence_number = sender_.packets_sent(),
                      .sent_ms = stamp(whole_ms(busy_until_us_)),
                      .flow = flow_};
  sender_.sent(busy_until_us_);
  busy_until_us_ += packet_us_;
  const bool is_next = busy_until_us_ == now_us or busy_until_us_ < departures_.ahead_until_us;
  Hop& hop = is_next ? departures_.first_hop : departures_.outbox;
  hop.arrive(busy_until_us_, packet);
}

ReceiverProcess::ReceiverProcess(const HostModel& host, Lateness lateness, Hop& way_back)
    : response_us_(std::llround(host.receiver_us + host.packet_us)),
      lateness_(lateness),
      way_back_(way_back) {}

void ReceiverProcess::arrive(Microseconds time_us, const Packet& packet) {
  Packet acknowledgment = packet;
  acknowledgment.received_ms = stamp(receiver_.answer(time_us).received_ms);
  acknowledgment.bytes = acknowledgment_bytes;
  way_back_.arrive(lateness_.read_time(time_us) + response_us_, acknowledgment);
}

}  // namespace kneepoint
