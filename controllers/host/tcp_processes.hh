// The two ends of a TCP connection on their hosts. TCP lives in the kernel: it waits for no
// processor, and each packet costs it packet_us.
#pragma once

#include <cstdint>
#include <deque>

#include "host/agenda.hh"
#include "host/process.hh"
#include "host/shell.hh"
#include "measure/flow_meter.hh"
#include "transport/tcp_receiver.hh"
#include "transport/tcp_sender.hh"

namespace kneepoint {

// What the acknowledgments on the way say; packets carry their numbers. Ways keep a flow's order,
// so that what was sent before one that arrives never will.
class Letters {
 public:
  uint64_t send(const TcpAcknowledgment& ack) {
    underway_.push_back(ack);
    return first_ + underway_.size() - 1;
  }
  TcpAcknowledgment take(uint64_t number) {
    underway_.erase(underway_.begin(), underway_.begin() + static_cast<int64_t>(number - first_));
    first_ = number + 1;
    const TcpAcknowledgment ack = underway_.front();
    underway_.pop_front();
    return ack;
  }

 private:
  std::deque<TcpAcknowledgment> underway_{};
  uint64_t first_ = 0;
};

// What both ends of a flow have from their run.
struct TcpEnd {
  Agenda& agenda;
  size_t endpoint;  // in the agenda
  uint16_t flow;
  Microseconds packet_us;
  Hop& way;  // to the other end
  Letters& letters;
  FlowMeter* meter;  // may be null
};

class TcpSenderProcess final : public Process {
 public:
  TcpSenderProcess(const TcpEnd& end, TcpSender sender, Microseconds start_us,
                   Microseconds stop_us);

  void arrive(Microseconds time_us, const Packet& packet) override;
  void act(Microseconds now_us) override;

  uint64_t packets_sent() const { return packets_sent_; }

 private:
  void plan();
  void send(Microseconds now_us);

  TcpEnd end_;
  TcpSender sender_;
  Inbox inbox_{};
  Microseconds start_us_;
  Microseconds stop_us_;
  Microseconds busy_until_us_ = 0;
  uint64_t packets_sent_ = 0;
  bool is_done_ = false;
};

class TcpReceiverProcess final : public Process {
 public:
  TcpReceiverProcess(const TcpEnd& end, const TcpSettings& settings);

  void arrive(Microseconds time_us, const Packet& packet) override;
  void act(Microseconds now_us) override;

  uint64_t packets_received() const { return packets_received_; }

 private:
  void send(const TcpAcknowledgment& ack, Microseconds now_us);

  TcpEnd end_;
  TcpReceiver receiver_;
  Inbox inbox_{};
  Microseconds busy_until_us_ = 0;
  uint64_t packets_received_ = 0;
};

}  // namespace kneepoint
