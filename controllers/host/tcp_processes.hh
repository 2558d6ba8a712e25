// The two ends of a TCP connection on their hosts. TCP runs in the kernel: it never waits for the
// processor, and each packet takes it packet_us.
#pragma once

#include <cstdint>
#include <memory>

#include "host/application.hh"
#include "host/header_store.hh"
#include "host/junctions.hh"
#include "host/process.hh"
#include "links/timed_packets.hh"
#include "transport/tcp_receiver.hh"
#include "transport/tcp_sender.hh"

namespace kneepoint {

struct TcpEnd : Endpoint {
  HeaderStore<TcpAcknowledgment>& sent_headers;
  HeaderStore<TcpAcknowledgment>& received_headers;
};

// One end sends the flow's data. The other end is the client, which sends requests or nothing.
class TcpProcess final : public Process {
 public:
  // The end that sends the data.
  TcpProcess(const TcpEnd& end, const ControllerHandle& controller, const TcpSettings& settings,
             const Lifetime& lifetime, std::unique_ptr<Application> application, FlowLog* log);
  // The client.
  TcpProcess(const TcpEnd& end, const TcpSettings& settings,
             std::unique_ptr<Application> application);

  void arrive(Microseconds time_us, const Packet& packet) override;
  void act(Microseconds now_us) override;

  // Whether the window is wider than a socket's buffer, as in tcp_info's rwnd_limited and
  // sndbuf_limited.
  bool is_at_bound() const override {
    return sender_.is_open() and static_cast<uint64_t>(sender_.window()) > buffered_packets_;
  }

  void finish(Microseconds, Traffic& traffic) override {
    traffic.packets_sent += packets_sent_;
    traffic.packets_delivered += packets_received_;
  }

 private:
  void plan();
  void hear_acknowledgment(uint64_t number, Microseconds now_us);
  void hear_segment(const Packet& packet, Microseconds now_us);
  void send_segments(Microseconds now_us);
  void send(const TcpAcknowledgment& ack, Microseconds now_us);
  void send(Packet packet, Microseconds now_us);

  TcpEnd end_;
  uint64_t buffered_packets_;  // capacity of the smaller buffer of the sockets
  bool is_client_ = false;
  TcpSender sender_;
  TcpReceiver receiver_;
  std::unique_ptr<Application> application_;
  Microseconds start_us_ = never;
  Microseconds stop_us_ = never;
  FlowMeter* sent_meter_ = nullptr;  // records the flow's data sent; null: not measured
  FlowMeter* received_meter_ = nullptr;
  TimedPackets inbox_{};
  Microseconds planned_us_ = never;
  Microseconds busy_until_us_ = 0;
  uint64_t acknowledgments_sent_ = 0;
  uint64_t packets_sent_ = 0;  // of the flow's data
  uint64_t packets_received_ = 0;
};

}  // namespace kneepoint
