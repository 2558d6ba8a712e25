// The emulation of one run: every process of a scenario, in one loop of virtual time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "emulation/scenario.hh"
#include "host/agenda.hh"
#include "host/contest_processes.hh"
#include "host/entry_processes.hh"
#include "host/host_model.hh"
#include "host/junctions.hh"
#include "host/probe.hh"
#include "host/rate_link.hh"
#include "host/shell.hh"
#include "host/tcp_processes.hh"
#include "links/delay_line.hh"
#include "links/link.hh"
#include "links/trace.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "measure/flow_meter.hh"
#include "measure/metrics.hh"
#include "measure/step_series.hh"

namespace kneepoint {

struct RunResult {
  Metrics metrics;  // of the uplink
  uint64_t packets_sent = 0;
  uint64_t packets_delivered = 0;  // to the receivers
  uint64_t packets_dropped = 0;    // by either direction's queue or a shell's full device
};

// What a run reads and writes besides its scenario. All must outlive the rig; a trace is null if
// the link has a rate, and so are outputs not requested.
struct RunInputs {
  const Trace* uplink = nullptr;
  const Trace* downlink = nullptr;
  std::vector<ControllerHandle> controllers{};  // one for each flow that has one
  Meter* meter = nullptr;                       // of the uplink
  LinkLog* link_log = nullptr;
  FlowLog* flow_log = nullptr;
  bool measures_flows = false;
};

// Senders -> uplink -> delay -> receivers -> delay -> downlink -> senders, where the uplink carries
// the data. Processes act in the order of their next events; of simultaneous ones the order of
// their places decides. With the ideal host model that is, in each millisecond: departures from the
// senders, the opportunities of the uplink and of the downlink, releases by the delays, and the
// senders last.
class Rig {
 public:
  Rig(const Scenario& scenario, const RunInputs& inputs);

  // Runs to the end. Throws ControllerFailure.
  RunResult run();

  // The flows' metrics, if measured: fields of the JSON object that has been begun.
  void write(JsonWriter& json);

 private:
  // One direction's parts; those of other kinds of links are null.
  template <class LinkShell, class DelayShell>
  struct Direction {
    std::unique_ptr<LinkShell> link{};
    std::unique_ptr<DelayShell> delay{};
    std::unique_ptr<RateLink> rate_link{};
    std::unique_ptr<Wire> wire{};
    std::unique_ptr<LossyHop> loss{};
    std::unique_ptr<StepSeries> queued_packets{};  // over time, where that is measured
    Hop* entry = nullptr;

    bool takes_turns() const {
      return link != nullptr and link->takes_turns() and delay->takes_turns();
    }
  };
  // Of links with traces, and of contest flows, from the last hop to the first.
  using ToSenders = Fork<SenderProcess>;
  using LinkDown = Shell<Link, ToSenders>;
  using DelayDown = Shell<DelayLine, LinkDown>;
  using Receiver = ReceiverProcess<DelayDown>;
  using ToReceivers = Fork<Receiver>;
  using DelayUp = Shell<DelayLine, ToReceivers>;
  using LinkUp = Shell<Link, DelayUp>;

  Lateness lateness(uint64_t stream) const;
  // Until then shells may act ahead of the loop: measuring neither begins nor ends before they have
  // done so.
  Microseconds shells_ahead_until_us() const;
  Microseconds duration_us() const;
  uint64_t most_entry_cpu_s() const;
  Microseconds entry_lookahead_us() const;
  void add(size_t place, Process& process) { processes_[place] = &process; }
  void build_uplink(const RunInputs& inputs);
  void build_downlink(const RunInputs& inputs);
  void measure_queue(auto& direction);
  void add_loss(auto& direction, const LinkSettings& settings, uint64_t stream);
  void add_contest_flow(const FlowSettings& flow, size_t number, const ControllerHandle& controller,
                        const RunInputs& inputs);
  void add_entry_flow(const FlowSettings& flow, size_t number, const RunInputs& inputs);
  void add_tcp_flow(const FlowSettings& flow, size_t number, const ControllerHandle& controller,
                    const RunInputs& inputs);
  void act_in_turns();
  // act_shell(shell, now_us) handles the events of a shell's place.
  void handle_events(Microseconds end_us, auto act_shell);
  void run_until(Microseconds end_us);
  void add_probe(const ProbeSettings& probe, size_t number);
  void write_link(JsonWriter& json, const auto& direction, const LinkSettings& settings);
  std::optional<double> convergence_s() const;

  // Of each flow, and then of each probe, the near end and the far one.
  static size_t near_end(size_t number) { return 2 * number; }
  static size_t far_end(size_t number) { return 2 * number + 1; }

  const Scenario& scenario_;
  size_t ends_;
  Agenda agenda_;
  std::vector<Process*> processes_;  // by place
  Milliseconds duration_ms_;
  Microseconds end_us_ = (duration_ms_ + 1) * 1000;
  RunLateness run_lateness_;
  Meter* meter_;
  bool is_circle_ = false;  // of four shells and a lone sender that decides ahead
  ToSenders to_near_{};
  ToReceivers to_far_{};
  Direction<LinkUp, DelayUp> up_{};
  Direction<LinkDown, DelayDown> down_{};
  std::deque<Outbox> outboxes_{};
  std::deque<SenderProcess> contest_senders_{};
  std::deque<Receiver> contest_receivers_{};
  std::deque<EntryChild> entry_children_{};
  std::deque<Mails> entry_mails_{};
  std::deque<FlightRecord> flight_records_{};
  std::deque<EntryProcess> entry_senders_{};
  std::deque<EntryReceiver> entry_receivers_{};
  std::deque<TcpSenderProcess> tcp_senders_{};
  std::deque<TcpReceiverProcess> tcp_receivers_{};
  std::deque<Letters> letters_{};
  std::deque<FlowMeter> meters_{};  // of the flows, if they are measured
  std::deque<ProbeProcess> probes_{};
  std::deque<EchoHop> echoes_{};
};

}  // namespace kneepoint
