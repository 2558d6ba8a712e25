// One flow: a sender under a controller's window, and the receiver that acknowledges it.
#pragma once

#include <cstdint>
#include <memory>

#include "host/host_model.hh"
#include "host/shell.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "transport/packet.hh"

namespace kneepoint {

// The contest kit's sender: it sends while fewer datagrams than the window are unacknowledged,
// and one more, a keepalive, after a silence. Nothing is retransmitted; an acknowledgment covers
// all earlier datagrams.
class Sender {
 public:
  Sender(uint16_t flow, const ControllerHandle& controller, const HostModel& host,
         Lateness lateness, FlowLog* log);

  // An acknowledgment reaches the sender's socket.
  void arrive(Microseconds time_us, const Packet& packet);
  Microseconds next_event_us() const { return std::min(inbox_.next_us(), wake_up_us_); }

  // Handles the event at `now_us`. The datagrams that it sends leave one after the other, now and
  // later, when the caller takes them. Throws ControllerFailure.
  void step(Microseconds now_us);
  Microseconds next_departure_us() const {
    return outbox_.empty() ? never : outbox_.front().time_us;
  }
  const Packet& depart() { return outbox_.pop().packet; }

  uint64_t packets_sent() const { return sequence_number_; }

 private:
  void take_acknowledgment(Microseconds now_us);
  void send();
  bool window_is_open() const;
  void schedule_keepalive();

  uint16_t flow_;
  ControllerHandle controller_;
  FlowLog* log_;
  Microseconds packet_us_;
  Lateness lateness_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next keepalive
  Inbox inbox_{};
  Ring<Arrival> outbox_{};
  uint64_t sequence_number_ = 0;
  uint64_t next_ack_expected_ = 0;
  Microseconds busy_until_us_ = 0;
  Microseconds last_activity_us_ = 0;
  Microseconds wake_up_us_ = 0;  // the flow starts at once
  bool started_ = false;
};

// Answers every datagram with an acknowledgment.
class Receiver {
 public:
  Receiver(const HostModel& host, Lateness lateness);

  // The acknowledgment of a datagram that arrives at `time_us`, and when it leaves.
  Arrival answer(Microseconds time_us, Packet packet);

  uint64_t packets_delivered() const { return packets_delivered_; }

 private:
  Microseconds response_us_;
  Lateness lateness_;
  uint64_t packets_delivered_ = 0;
};

}  // namespace kneepoint
