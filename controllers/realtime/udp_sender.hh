// The contest kit's sender over real UDP, around any controller.
#pragma once

#include <cstdint>
#include <optional>

#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "realtime/scheduling_delays.hh"
#include "realtime/udp_socket.hh"
#include "transport/contest_sender.hh"

namespace kneepoint {

// A sender's report of its finished run.
struct SenderReport {
  uint64_t packets_sent = 0;
  uint64_t acknowledgments = 0;
  uint64_t malformed = 0;                // datagrams that are no acknowledgment
  double read_delay_p99_us = 0;          // from the kernel's receipt of an ACK until it is read
  std::vector<double> read_delays_us{};  // element k: one ACK in 2^k took at least this
};

// Runs the contest kit's sender; its clock counts from its start.
class UdpSender {
 public:
  UdpSender(UdpSocket& socket, const ControllerHandle& controller, FlowLog* log)
      : socket_(socket), sender_(0, controller, log) {}

  // Runs until a stop is requested or `duration_ms` has passed. Throws ControllerFailure
  // and ReceiverFailure.
  SenderReport run(std::optional<Milliseconds> duration_ms);

 private:
  Microseconds timeout_us(Microseconds end_us) const;
  bool send(bool is_heartbeat = false);
  void send_keepalive();
  void read();
  Microseconds now_us() const { return system_time_us() - start_us_; }

  UdpSocket& socket_;
  ContestSender sender_;
  // A whole millisecond, so that the sender's milliseconds are the system clock's.
  Microseconds start_us_ = system_time_us() / 1000 * 1000;
  SenderReport report_{};
  SchedulingDelays read_delays_{};
};

}  // namespace kneepoint
