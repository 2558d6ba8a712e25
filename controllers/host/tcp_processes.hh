// The two ends of a TCP connection on their hosts. TCP lives in the kernel: it waits for no
// processor, and each packet costs it packet_us.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "host/agenda.hh"
#include "host/process.hh"
#include "links/timed_packets.hh"
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
  Letters& request_letters;
  FlowMeter* meter;  // may be null
};

// Like HTTP over one connection: the receiver of a flow is a client, opens the connection, asks,
// and asks again when it has the answer and has thought.
struct TcpExchange {
  // It fits an initial window (RFC 6928), so that no controller is needed for it.
  static constexpr uint64_t most_request_segments = 10;

  uint64_t request_bytes;
  uint64_t answer_segments;
  uint64_t requests;
  Microseconds think_us;

  uint64_t request_segments() const {
    return (request_bytes + tcp_payload_bytes - 1) / tcp_payload_bytes;
  }
  // What a segment of the requests takes of the link: the last one of each is as long as it must
  // be.
  uint16_t bytes_of(uint64_t number) const {
    const uint64_t sent = number % request_segments() * tcp_payload_bytes;
    const uint64_t rest = std::min<uint64_t>(request_bytes - sent, tcp_payload_bytes);
    return static_cast<uint16_t>(tcp_acknowledgment_bytes + rest);
  }
};

// One end's way to the other one, on which each packet takes its host's time.
class TcpWay {
 public:
  explicit TcpWay(const TcpEnd& end) : end_(end) {}

  // What `sender` may send now: data, or requests of an exchange. Returns how many packets that
  // were, SYNs left out.
  uint64_t send(TcpSender& sender, const TcpExchange* requests, Microseconds now_us);
  void send(const TcpAcknowledgment& ack, bool is_request, Microseconds now_us);

 private:
  void send(Packet packet, Microseconds now_us);

  TcpEnd end_;
  Microseconds busy_until_us_ = 0;
};

// The end that sends data, and the server, if there is an exchange.
class TcpSenderProcess final : public Process {
 public:
  // Of an exchange it is the client that starts and stops; the sender is offered nothing yet.
  TcpSenderProcess(const TcpEnd& end, const ControllerHandle& controller,
                   const TcpSettings& settings, uint64_t segments, FlowLog* log,
                   Microseconds start_us, Microseconds stop_us,
                   std::optional<TcpExchange> exchange);

  void arrive(Microseconds time_us, const Packet& packet) override;
  void act(Microseconds now_us) override;

  void finish(Microseconds, Traffic& traffic) override { traffic.packets_sent += packets_sent_; }

 private:
  void plan();
  void hear_acknowledgment(uint64_t number, Microseconds now_us);
  void hear_request(const Packet& packet, Microseconds now_us);

  TcpEnd end_;
  TcpWay way_{end_};
  TcpSender sender_;
  TimedPackets inbox_{};
  Microseconds start_us_;
  Microseconds stop_us_;
  uint64_t packets_sent_ = 0;
  bool is_done_ = false;

  std::optional<TcpExchange> exchange_;
  TcpReceiver requests_;
  uint64_t answered_ = 0;
  Microseconds syn_answered_us_ = never;
  bool syn_was_repeated_ = false;
};

// The end that receives data, and the client, if there is an exchange.
class TcpReceiverProcess final : public Process {
 public:
  TcpReceiverProcess(const TcpEnd& end, const TcpSettings& settings, Microseconds start_us,
                     Microseconds stop_us, std::optional<TcpExchange> exchange);

  void arrive(Microseconds time_us, const Packet& packet) override;
  void act(Microseconds now_us) override;

  void finish(Microseconds, Traffic& traffic) override {
    traffic.packets_delivered += packets_received_;
  }

 private:
  void plan();
  void hear_data(const Packet& packet, Microseconds now_us);
  void ask_again(Microseconds now_us);

  TcpEnd end_;
  TcpWay way_{end_};
  TcpReceiver receiver_;
  TimedPackets inbox_{};
  uint64_t packets_received_ = 0;

  std::optional<TcpExchange> exchange_;
  TcpSender requests_;
  Microseconds request_us_;  // when the next one is made; the first: when the connection is opened
  Microseconds stop_us_;
  Microseconds asked_us_ = 0;
  uint64_t answered_ = 0;
};

}  // namespace kneepoint
