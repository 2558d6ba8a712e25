// The emulation of one run: every process of the rig, in one loop of virtual time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/agenda.hh"
#include "host/contest_processes.hh"
#include "host/host_model.hh"
#include "host/junctions.hh"
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
// the data. Processes act in the order of their next events; of simultaneous ones the order of
// their places decides. With the ideal host model that is, in each millisecond: what has left the
// senders, the opportunities of the uplink, of the downlink, what the delays release, and the
// senders last.
class EventLoop {
 public:
  // The traces, the meter, the logs and the controllers, one a flow, must outlive the loop.
  EventLoop(const Trace& uplink, const Trace& downlink, const NetworkSettings& settings,
            const std::vector<ControllerHandle>& controllers, Meter& meter, LinkLog* link_log,
            FlowLog* flow_log);

  // Runs to the end. Throws ControllerFailure.
  RunResult run();

 private:
  Lateness lateness(const NetworkSettings& settings, uint64_t stream) const;

  Agenda agenda_;
  std::vector<Process*> processes_{};  // by place
  Milliseconds duration_ms_;
  Microseconds end_us_ = (duration_ms_ + 1) * 1000;
  RunLateness run_lateness_;
  Meter& meter_;
  Shell<Link> uplink_;
  Shell<Link> downlink_;
  Shell<DelayLine> delay_up_;
  Shell<DelayLine> delay_down_;
  ReceiverProcess receiver_;
  Fork to_senders_{};
  std::deque<Outbox> outboxes_{};
  std::deque<SenderProcess> senders_{};
};

}  // namespace kneepoint
