// The emulation of one run: every process of a scenario, in one loop of virtual time.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "emulation/scenario.hh"
#include "host/contest_processes.hh"
#include "host/host_model.hh"
#include "host/impaired_hop.hh"
#include "host/junctions.hh"
#include "host/probe.hh"
#include "host/rate_link.hh"
#include "host/shell.hh"
#include "links/delay_line.hh"
#include "links/link.hh"
#include "links/trace.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "measure/flow_meter.hh"
#include "measure/metrics.hh"

namespace kneepoint {

// The result of a run. Its shares are NaN if traffic begins, ends or waits by itself, or crosses
// the downlink.
struct RunResult : Traffic {
  Metrics metrics{};          // of the uplink
  uint64_t packets_lost = 0;  // on the uplink, but not in its queue
  // The share of seconds in which a sender's window was the widest that a sender may have, or wider
  // than TCP's buffers; the greatest share of all senders.
  double at_bound_share = undefined;
  // The share of the uplink's capacity since the first packet that fell into idle times longer than
  // two round trips and IdleTimes::min_ms.
  double idle_share = undefined;

 private:
  static constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
};

// The inputs and outputs of a run besides its scenario. All must outlive the rig; a trace is null
// if the link has a rate, and an output is null if it is not requested.
struct RunInputs {
  const Trace* uplink = nullptr;
  const Trace* downlink = nullptr;
  std::vector<ControllerHandle> controllers{};  // one for each flow with a controller
  Meter* meter = nullptr;                       // of the uplink
  LinkLog* link_log = nullptr;
  FlowLog* flow_log = nullptr;
  bool measures_flows = false;
};

// Senders -> uplink -> delay -> receivers -> delay -> downlink -> senders, where the uplink carries
// the data. Processes act in the order of their next events; among simultaneous events, the order
// of places decides. With the ideal host model this order is, in each millisecond: departures from
// the senders, the opportunities of the uplink and of the downlink, releases by the delays, and the
// senders last.
class Rig {
 public:
  Rig(const Scenario& scenario, const RunInputs& inputs);

  // Runs to the end. Throws ControllerFailure.
  RunResult run();

  // The flows' metrics, if measured: fields of the JSON object that has been begun.
  void write(JsonWriter& json);

 private:
  // One direction, whose link is of one of two kinds.
  struct Direction {
    const LinkSettings& settings;
    Shell<Link>* link = nullptr;
    RateLink* rate_link = nullptr;
    std::vector<ImpairedHop*> impaired{};
    Hop* entry = nullptr;

    uint64_t packets_lost() const;  // by losses and impairments, not in its queue
  };

  // The places of a flow's ends, or a probe's.
  struct Ends {
    size_t source;
    size_t sink;
  };

  struct Flow {
    const FlowSettings& settings;
    uint16_t number;
    Ends ends;
    FlowMeter* meter;  // null if the flow is not measured
  };

  // Makes a part of the run, and owns it.
  template <class Part, class... Arguments>
  Part& add(Arguments&&... arguments) {
    const auto part = std::make_shared<Part>(std::forward<Arguments>(arguments)...);
    if constexpr (std::is_base_of_v<Hop, Part>) hops_.push_back(part.get());
    parts_.push_back(part);
    return *part;
  }
  // Makes a part that acts on the events of a place.
  template <class Part, class... Arguments>
  Part& add_at(size_t place, Arguments&&... arguments) {
    Part& part = add<Part>(std::forward<Arguments>(arguments)...);
    processes_[place] = &part;
    return part;
  }
  template <class Part, class... Arguments>
  Part& add_shell(ShellOf shell, Arguments&&... arguments) {
    return add_at<Part>(places_ + static_cast<size_t>(shell), agenda_.of_shell(shell),
                        std::forward<Arguments>(arguments)...);
  }
  template <class Part, class... Arguments>
  Part& add_endpoint(size_t endpoint, Arguments&&... arguments) {
    return add_at<Part>(places_ + Agenda::shells + endpoint, std::forward<Arguments>(arguments)...);
  }
  template <class Part, class... Arguments>
  Part& add_sender(size_t endpoint, Arguments&&... arguments) {
    Part& part = add_endpoint<Part>(endpoint, std::forward<Arguments>(arguments)...);
    senders_.push_back(&part);
    looks_at_bound_.push_back(0);
    return part;
  }

  Lateness lateness(uint64_t stream) const;
  bool keeps_order() const { return scenario_.impairments() == 0; }
  Microseconds duration_us() const;
  uint64_t max_cpu_s(const EntrySettings& entry) const;
  Microseconds entry_lookahead_us() const;
  void impair(Direction& direction);
  enum LossPlace { before_link, after_link };
  // Returns the hop before `next` where packets are lost, or `next` if none are lost at this place.
  Hop& lose(Direction& direction, LossPlace place, Hop& next);
  void build(Direction& direction, const Trace* trace, Hop& exit, const RunInputs& inputs);
  // Whether a flow from this end is the only traffic, without impairments.
  bool is_alone(End from) const { return places_ == 2 and from == End::near; }
  // The time until which the ends of a lone flow may act ahead of their turn; 0: they may not.
  Microseconds runs_ahead_until_us(End from) const;
  Endpoint endpoint(size_t end, uint16_t flow, FlowMeter* meter = nullptr,
                    Microseconds runs_ahead_until_us = 0);
  Hop& entry_of(size_t end) const { return end % 2 == 0 ? *up_.entry : *down_.entry; }
  Hop& way_back(const Flow& flow) const;  // of a contest flow
  void connect(End from, Hop& sender, Hop& receiver);
  void add_contest_flow(const Flow& flow, const ControllerHandle& controller, FlowLog* log);
  void add_entry_flow(const Flow& flow, FlowLog* log);
  void add_tcp_flow(const Flow& flow, const ControllerHandle& controller, FlowLog* log);
  void run_until(Microseconds end_us);
  void act_until(Microseconds end_us);
  void look_at_windows();
  bool is_steady() const;
  double at_bound_share() const;
  double idle_share() const;
  void add_probe(const ProbeSettings& probe, size_t number);
  void write_link(JsonWriter& json, const Direction& direction);
  std::optional<double> convergence_s() const;

  static Ends ends_of(size_t number, End from) {
    const size_t near = 2 * number;
    return from == End::near ? Ends{near, near + 1} : Ends{near + 1, near};
  }

  const Scenario& scenario_;
  size_t ends_;
  size_t places_ = ends_ + scenario_.impairments();
  Agenda agenda_{places_};
  std::vector<Process*> processes_;  // by place
  Milliseconds duration_ms_;
  Microseconds end_us_ = (duration_ms_ + 1) * 1000;
  RunLateness run_lateness_;
  Meter* meter_;
  std::vector<std::shared_ptr<void>> parts_{};
  std::vector<Hop*> hops_{};  // of these
  Fork to_near_{};
  Fork to_far_{};
  Direction up_{scenario_.uplink};
  Direction down_{scenario_.downlink};
  std::vector<Outbox*> outboxes_{};
  std::vector<const Process*> senders_{};   // of the flows
  std::vector<uint64_t> looks_at_bound_{};  // of these
  uint64_t looks_ = 0;
  std::vector<FlowMeter> meters_{};  // of the flows, if they are measured
  std::vector<ProbeProcess*> probes_{};
};

}  // namespace kneepoint
