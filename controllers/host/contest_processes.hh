// The processes of one contest flow on the emulated host: its sender and its receiver.
#pragma once

#include <cstdint>

#include "common/ring.hh"
#include "host/host_model.hh"
#include "host/shell.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "transport/contest_receiver.hh"
#include "transport/contest_sender.hh"
#include "transport/packet.hh"

namespace kneepoint {

class SenderProcess {
 public:
  SenderProcess(uint16_t flow, const ControllerHandle& controller, const HostModel& host,
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

  uint64_t packets_sent() const { return sender_.packets_sent(); }

 private:
  void read_acknowledgment(Microseconds now_us);
  void send();

  uint16_t flow_;
  ContestSender sender_;
  Microseconds packet_us_;
  Lateness lateness_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next keepalive
  Inbox inbox_{};
  Ring<Arrival> outbox_{};
  Microseconds busy_until_us_ = 0;
  Microseconds wake_up_us_ = 0;  // the flow starts at once
  bool started_ = false;
};

class ReceiverProcess {
 public:
  ReceiverProcess(const HostModel& host, Lateness lateness);

  // The acknowledgment of a datagram that arrives at `time_us`, and when it leaves.
  Arrival answer(Microseconds time_us, Packet packet);

  uint64_t packets_received() const { return receiver_.packets_received(); }

 private:
  ContestReceiver receiver_{};
  Microseconds response_us_;
  Lateness lateness_;
};

}  // namespace kneepoint
