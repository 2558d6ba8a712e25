// The processes of one contest flow on the emulated host: its sender and its receiver.
#pragma once

#include <cstdint>

#include "host/agenda.hh"
#include "host/host_model.hh"
#include "host/process.hh"
#include "host/shell.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "transport/contest_receiver.hh"
#include "transport/contest_sender.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Where a sender's datagrams go.
struct Departures {
  Hop& first_hop;  // for those that leave at once, and before `ahead_until_us` for all
  Hop& outbox;     // for those that leave later
  // Until then the sender decides ahead of the loop, as soon as it is known what it will hear: it
  // is alone on its way, and what it does not decide yet cannot reach the end of the run.
  Microseconds ahead_until_us;
};

// Sends towards its receiver. What reaches it are acknowledgments.
class SenderProcess final : public Process {
 public:
  // The agenda and what `departures` names must outlive the process.
  SenderProcess(Agenda& agenda, uint16_t flow, const ControllerHandle& controller,
                const HostModel& host, Lateness lateness, Departures departures, FlowLog* log);

  void arrive(Microseconds time_us, const Packet& packet) override;

  // Throws ControllerFailure, like arrive.
  void act(Microseconds now_us) override;

  uint64_t packets_sent() const { return sender_.packets_sent(); }

 private:
  Microseconds next_event_us() const { return std::min(inbox_.next_us(), wake_up_us_); }
  void plan() { agenda_.plan_endpoint(flow_, next_event_us()); }
  void read(const Packet& acknowledgment, Microseconds arrived_us, Microseconds now_us);
  void fill_window(Microseconds now_us);
  void send(Microseconds now_us);

  Agenda& agenda_;
  uint16_t flow_;
  ContestSender sender_;
  Microseconds packet_us_;
  Lateness lateness_;
  Departures departures_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next keepalive
  Inbox inbox_{};
  Microseconds busy_until_us_ = 0;
  Microseconds wake_up_us_ = 0;  // the flow starts at once
  bool started_ = false;
  bool is_acting_ = false;
};

// Answers each datagram by an acknowledgment on the way back.
class ReceiverProcess final : public Hop {
 public:
  // The first hop of the way back must outlive it.
  ReceiverProcess(const HostModel& host, Lateness lateness, Hop& way_back);

  void arrive(Microseconds time_us, const Packet& packet) override;

  uint64_t packets_received() const { return receiver_.packets_received(); }

 private:
  ContestReceiver receiver_{};
  Microseconds response_us_;
  Lateness lateness_;
  Hop& way_back_;
};

}  // namespace kneepoint
