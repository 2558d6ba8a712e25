// The emulation of one run: every process of the rig, in one loop of virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/contest_processes.hh"
#include "host/host_model.hh"
#include "host/shell.hh"
#include "links/delay_line.hh"
#include "links/link.hh"
#include "links/trace.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "measure/metrics.hh"

namespace kneepoint {

struct NetworkSettings {
  Milliseconds delay_ms = 20;
  std::string uplink_queue = "infinite";
  std::string downlink_queue = "infinite";
  HostModel host{};
  std::optional<Milliseconds> duration_ms{};  // none: once through the traces
  uint64_t seed = 0;
};

struct RunResult {
  Metrics metrics;
  uint64_t packets_sent = 0;
  uint64_t packets_delivered = 0;  // to the receivers
  uint64_t packets_dropped = 0;    // by either direction's queue or a shell's full device
};

// Senders -> uplink -> delay -> receiver -> delay -> downlink -> senders, where the uplink carries
// the data. Elements act in the order of their next events; of simultaneous ones the order below
// decides. With the ideal host model that is, in each millisecond: what has left the senders, the
// opportunities of the uplink, of the downlink, what the delays release, and the senders last.
class EventLoop {
 public:
  // The traces, the meter, the logs and the controllers, one a flow, must outlive the loop.
  EventLoop(const Trace& uplink, const Trace& downlink, const NetworkSettings& settings,
            const std::vector<ControllerHandle>& controllers, Meter& meter, LinkLog* link_log,
            FlowLog* flow_log);

  // Runs to the end. Throws ControllerFailure.
  RunResult run();

 private:
  // Handles the earliest event; false when there is none before the end.
  bool step();
  SenderProcess* next_sender();
  SenderProcess* next_to_depart();

  // The hops, each taking a packet that gets there at `time_us`.
  void to_delay_up(Microseconds time_us, const Packet& packet);
  void to_receiver(Microseconds time_us, const Packet& packet);
  void to_downlink(Microseconds time_us, const Packet& packet);
  void to_sender(Microseconds time_us, const Packet& packet);

  Lateness lateness(const NetworkSettings& settings, uint64_t stream) const;

  Milliseconds duration_ms_;
  Microseconds end_us_ = (duration_ms_ + 1) * 1000;
  Microseconds host_latency_us_;
  RunLateness run_lateness_;
  Meter& meter_;
  Shell<Link> uplink_;
  Shell<Link> downlink_;
  Shell<DelayLine> delay_up_;
  Shell<DelayLine> delay_down_;
  ReceiverProcess receiver_;
  std::vector<SenderProcess> senders_{};
};

}  // namespace kneepoint
