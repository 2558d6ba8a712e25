#include "emulation/rig.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "common/progress.hh"
#include "host/entry_processes.hh"
#include "host/flight_record.hh"
#include "host/tcp_processes.hh"
#include "queues/registry.hh"
#include "transport/contest_datagram.hh"

namespace kneepoint {

namespace {

// The random streams of a run's seed. Where each direction has a stream, this is the uplink's; the
// downlink's has the next number.
enum Stream : uint64_t {
  link_shell = 0,
  delay_shell = 2,
  queue = 4,
  first_sender = 6,
  host = first_sender + (1 << 16),  // a flow's number has 16 bits
  first_receiver,
  arrivals,  // at a process: this number plus the process's own stream
  further_receivers = 1 << 20,
  loss = 1 << 24,
  entries = 1 << 26,  // random numbers that a flow's entry draws from its host
  impairments = 1 << 27,
};

// The Jain's index from which shares are fair, and the number of fair intervals in a row that count
// as convergence.
constexpr double fair = 0.9;
constexpr size_t settled_intervals = 5;

// The time between checks whether a window is at its bound.
constexpr Microseconds look_us = 1'000'000;

Microseconds in_us(double time_s) { return std::llround(time_s * 1e6); }

Milliseconds duration_of(const Scenario& scenario, const RunInputs& inputs) {
  if (scenario.duration_ms) return *scenario.duration_ms;
  Milliseconds last_ms = longest_run_ms;
  for (const Trace* trace : {inputs.uplink, inputs.downlink}) {
    if (trace != nullptr) last_ms = std::min(last_ms, trace->last_ms());
  }
  return last_ms;
}

DelayTrace delays_of(const LinkSettings& settings) {
  if (not settings.delay_trace.empty()) return DelayTrace::load(settings.delay_trace);
  const Microseconds delay_us = std::llround(settings.delay_ms * 1000);
  if (settings.delay_step_ms == 0) return DelayTrace(delay_us);
  return DelayTrace::square(delay_us, std::llround(settings.delay_step_ms * 1000),
                            in_us(settings.delay_period_s));
}

DelayLine delay_line_of(const LinkSettings& settings) {
  DelayTrace delays = delays_of(settings);
  if (not delays.has_whole_ms()) {
    throw std::invalid_argument("delay trace " + settings.delay_trace.string() +
                                ": delays of a link with a trace must be whole");
  }
  return DelayLine(std::move(delays));
}

Lifetime lifetime_of(const FlowSettings& flow, uint64_t payload_bytes) {
  return {.start_us = in_us(flow.start_s),
          .stop_us = in_us(flow.stop_s.value_or(2 * longest_run_s)),
          .packets = flow.bytes ? (*flow.bytes + payload_bytes - 1) / payload_bytes
                                : std::numeric_limits<uint64_t>::max()};
}

uint64_t receiver_stream(size_t flow) {
  return flow == 0 ? first_receiver : further_receivers + flow;
}

}  // namespace

Rig::Rig(const Scenario& scenario, const RunInputs& inputs)
    : scenario_(scenario),
      ends_(2 * (scenario.flows.size() + scenario.probes.size())),
      processes_(2 * places_ + Agenda::shells),
      duration_ms_(duration_of(scenario, inputs)),
      run_lateness_(scenario.host, Random(scenario.seed, host)),
      meter_(inputs.meter) {
  if (meter_ != nullptr) meter_->start();
  build(up_, inputs.uplink, to_far_, inputs);
  build(down_, inputs.downlink, to_near_, inputs);
  for (size_t end = 0; end < ends_; ++end) {
    outboxes_.push_back(&add_at<Outbox>(end, agenda_, end, entry_of(end)));
  }
  meters_.reserve(scenario.flows.size());  // pointers to them stay valid
  auto controller = inputs.controllers.begin();
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    const FlowSettings& settings = scenario.flows[i];
    if (inputs.measures_flows) {
      meters_.emplace_back(in_us(settings.start_s),
                           std::min(duration_us(), in_us(settings.stop_s.value_or(longest_run_s))),
                           in_us(scenario.interval_s), duration_us());
    }
    const Flow flow{settings, static_cast<uint16_t>(i), ends_of(i, settings.from),
                    inputs.measures_flows ? &meters_.back() : nullptr};
    if (settings.entry) {
      add_entry_flow(flow, inputs.flow_log);
    } else if (settings.transport == Transport::tcp) {
      add_tcp_flow(flow, *controller++, inputs.flow_log);
    } else {
      add_contest_flow(flow, *controller++, inputs.flow_log);
    }
  }
  for (size_t i = 0; i < scenario.probes.size(); ++i) {
    add_probe(scenario.probes[i], scenario.flows.size() + i);
  }
}

Lateness Rig::lateness(uint64_t stream) const {
  return {run_lateness_, Random(scenario_.seed, stream), Random(scenario_.seed, arrivals + stream)};
}

Microseconds Rig::duration_us() const { return duration_ms_ * 1000; }

uint64_t Rig::Direction::packets_lost() const {
  uint64_t lost = 0;
  for (const ImpairedHop* const each : impaired) lost += each->packets_lost();
  return lost;
}

// Packets cross the uplink before its delay, and the downlink after its delay.
void Rig::build(Direction& direction, const Trace* trace, Hop& exit, const RunInputs& inputs) {
  const LinkSettings& settings = direction.settings;
  const bool is_down = &direction == &down_;
  const ShellOf its_link = is_down ? ShellOf::downlink : ShellOf::uplink;
  const ShellOf its_delay = is_down ? ShellOf::downlink_delay : ShellOf::uplink_delay;
  auto queue_of_link =
      make_packet_queue(settings.queue, Random(scenario_.seed, queue + is_down).next());
  if (queue_of_link->classes() > 0) queue_of_link->classify(scenario_.classes());
  PacketQueue& buffer = *queue_of_link;
  if (trace == nullptr) {
    const auto add_wire = [&](Hop& next) -> Hop& {
      return add_shell<Wire>(its_delay, delays_of(settings), next);
    };
    const auto add_link = [&](Hop& next) -> Hop& {
      RateLink& link = add_shell<RateLink>(its_link, settings.rate_mbps, settings.by_packets,
                                           std::move(queue_of_link), next);
      if (not is_down) link.observe(meter_);
      buffer.know_capacity([&link](Microseconds until_us) { return link.capacity_bytes(until_us); },
                           never);
      if (inputs.measures_flows) link.observe_delays();
      if (inputs.measures_flows and scenario_.interval_s > 0) {
        link.observe_queue(in_us(scenario_.interval_s), duration_us());
      }
      return *(direction.rate_link = &link);
    };
    direction.entry = is_down ? &add_wire(add_link(lose(direction, after_link, exit)))
                              : &add_link(lose(direction, after_link, add_wire(exit)));
  } else {
    const Microseconds latency_us = std::llround(scenario_.host.host_latency_us);
    auto& link = add_shell<Shell<Link>>(
        its_link,
        Link(*trace, scenario_.duration_ms ? Link::AtEnd::repeat : Link::AtEnd::stop,
             std::move(queue_of_link)),
        scenario_.host, lateness(link_shell + is_down), is_down ? never : end_us_);
    auto& delay = add_shell<Shell<DelayLine>>(its_delay, delay_line_of(settings), scenario_.host,
                                              lateness(delay_shell + is_down), never);
    buffer.know_capacity(
        [&link](Microseconds until_us) { return link.queue().capacity_bytes(until_us); },
        scenario_.duration_ms ? never : duration_us());
    direction.link = &link;
    if (is_down) {
      delay.connect(link, latency_us);
      link.connect(lose(direction, after_link, exit), 0);
      direction.entry = &delay;
    } else {
      link.connect(lose(direction, after_link, delay), latency_us);
      delay.connect(exit, 0);
      link.queue().observe(meter_, inputs.link_log, duration_ms_);
      direction.entry = &link;
    }
  }
  impair(direction);
  direction.entry = &lose(direction, before_link, *direction.entry);
}

// The hop delays no packets, and so has no place in the agenda.
Hop& Rig::lose(Direction& direction, LossPlace place, Hop& next) {
  const LinkSettings& settings = direction.settings;
  const bool loses = settings.loss_period > 0 or settings.loss_probability > 0;
  if (not loses or settings.loss_after_link != (place == after_link)) return next;
  const Random random(Random(scenario_.seed, loss + (&direction == &down_)).next());
  direction.impaired.push_back(
      &add<ImpairedHop>(agenda_, places_,
                        std::make_unique<PacketLoss>(settings.loss_period, settings.loss_first,
                                                     settings.loss_probability, random),
                        next));
  return *direction.impaired.back();
}

// Packets meet the impairments in the order of the list.
void Rig::impair(Direction& direction) {
  const std::vector<std::string>& wanted = direction.settings.impairments;
  const bool is_down = &direction == &down_;
  const size_t first = ends_ + (is_down ? scenario_.uplink.impairments.size() : 0);
  for (size_t i = wanted.size(); i-- > 0;) {
    const uint64_t seed = Random(scenario_.seed, impairments + 2 * i + is_down).next();
    direction.impaired.push_back(&add_endpoint<ImpairedHop>(
        first + i, agenda_, first + i, make_impairment(wanted[i], seed), *direction.entry));
    direction.entry = direction.impaired.back();
  }
}

// A lone sender, whose packets all reach the next hop at once and in order, need not wait for its
// turn. But turns decide which packets still arrive at the very end, which packets a flow has sent
// when its measurement begins and, if packets take no time, in which order simultaneous events draw
// lateness.
Microseconds Rig::runs_ahead_until_us(End from) const {
  // The longest time from a datagram's departure to the end of its direct effects: a second of
  // latency and a second of scheduling delay.
  constexpr Microseconds longest_way_us = 2'000'000;
  const HostModel& host = scenario_.host;
  const bool draws = host.wake_mean_us > 0 or not host.delays_us.empty();
  const bool has_turns = scenario_.measure_from_s > 0 or (host.packet_us < 1 and draws);
  return is_alone(from) and not has_turns ? end_us_ - longest_way_us : 0;
}

// The acknowledgments of a lone sender meet no other packets.
Hop& Rig::way_back(const Flow& flow) const {
  return is_alone(flow.settings.from) ? *down_.entry : *outboxes_[flow.ends.sink];
}

void Rig::connect(End from, Hop& sender, Hop& receiver) {
  to_near_.add(from == End::near ? sender : receiver);
  to_far_.add(from == End::near ? receiver : sender);
}

Endpoint Rig::endpoint(size_t end, uint16_t flow, FlowMeter* meter,
                       Microseconds runs_ahead_until_us) {
  const Microseconds packet_us = std::llround(scenario_.host.packet_us);
  return {agenda_, end, flow, packet_us, entry_of(end), *outboxes_[end], runs_ahead_until_us,
          meter};
}

void Rig::add_contest_flow(const Flow& flow, const ControllerHandle& controller, FlowLog* log) {
  const auto& [settings, number, ends, meter] = flow;
  const Endpoint end = endpoint(ends.source, number, meter, runs_ahead_until_us(settings.from));
  auto& sender =
      add_sender<SenderProcess>(ends.source, end, controller, lateness(first_sender + number),
                                lifetime_of(settings, contest_payload_bytes), log);
  connect(settings.from, sender,
          add<ReceiverProcess>(scenario_.host, lateness(receiver_stream(number)), way_back(flow),
                               meter));
}

// The limit of CPU time of an entry's process. The default allows for its start, and for half of
// the run's duration: a process within this limit could keep up in real time, with half of the time
// to spare.
uint64_t Rig::max_cpu_s(const EntrySettings& entry) const {
  constexpr uint64_t start_s = 2;
  return entry.cpu_s.value_or(start_s + static_cast<uint64_t>(duration_ms_) / 2000);
}

// The effects of an entry's datagram must not return within the time for which the entry knows all
// arrivals.
Microseconds Rig::entry_lookahead_us() const {
  const auto delay_us = [](const LinkSettings& link) {
    return link.delay_trace.empty() ? link.delay_ms * 1000 : 0;
  };
  return std::min(
      static_cast<Microseconds>(scenario_.entry_lookahead_us),
      Microseconds{std::llround(delay_us(scenario_.uplink) + delay_us(scenario_.downlink))});
}

void Rig::add_entry_flow(const Flow& flow, FlowLog* log) {
  const auto& [settings, number, ends, meter] = flow;
  FlightRecord* const record =
      meter == nullptr and log == nullptr ? nullptr : &add<FlightRecord>(number, log, meter);
  const Dialect& dialect = find_dialect(settings.entry->dialect);
  EntryChild& child =
      add<EntryChild>(*settings.entry, scenario_.trusts_entries, max_cpu_s(*settings.entry));
  HeaderStores& headers = add<HeaderStores>(keeps_order());
  const uint64_t seed = Random(scenario_.seed, entries + number).next();
  Hop& sender = add_sender<EntryProcess>(ends.source, endpoint(ends.source, number, meter), child,
                                         dialect, lateness(first_sender + number),
                                         lifetime_of(settings, contest_payload_bytes), end_us_,
                                         entry_lookahead_us(), seed, headers, record);
  connect(settings.from, sender,
          add<EntryReceiver>(dialect, settings.entry->clock_epoch_ms, scenario_.host,
                             lateness(receiver_stream(number)), way_back(flow), headers, meter));
}

void Rig::add_tcp_flow(const Flow& flow, const ControllerHandle& controller, FlowLog* log) {
  const auto& [settings, number, ends, meter] = flow;
  auto& to_sink = add<HeaderStore<TcpAcknowledgment>>(keeps_order());
  auto& to_source = add<HeaderStore<TcpAcknowledgment>>(keeps_order());
  const Microseconds ahead_until_us = runs_ahead_until_us(settings.from);
  const TcpEnd source{endpoint(ends.source, number, meter, ahead_until_us), to_sink, to_source};
  const TcpEnd sink{endpoint(ends.sink, number, meter, ahead_until_us), to_source, to_sink};
  Lifetime lifetime = lifetime_of(settings, tcp_payload_bytes);
  std::unique_ptr<Application> data = std::make_unique<Transfer>(meter);
  std::unique_ptr<Application> client = std::make_unique<Application>();
  if (settings.request_bytes > 0) {
    const Exchange exchange{.request_bytes = settings.request_bytes,
                            .answer_segments = lifetime.packets,
                            .requests = settings.requests,
                            .think_us = in_us(settings.think_s)};
    data = std::make_unique<Server>(exchange);
    client = std::make_unique<Client>(exchange, lifetime.start_us, lifetime.stop_us, meter);
    lifetime = {};  // the lifetime is the client's, which requests the data
  }
  TcpSettings tcp = settings.tcp;
  tcp.counts_marks = (controller.needs() & needs::counted_marks) != 0;
  Hop& sender =
      add_sender<TcpProcess>(ends.source, source, controller, tcp, lifetime, std::move(data), log);
  connect(settings.from, sender, add_endpoint<TcpProcess>(ends.sink, sink, tcp, std::move(client)));
}

void Rig::add_probe(const ProbeSettings& probe, size_t number) {
  const Ends ends = ends_of(number, End::near);
  probes_.push_back(&add_endpoint<ProbeProcess>(
      ends.source, endpoint(ends.source, static_cast<uint16_t>(number)), in_us(probe.start_s),
      std::llround(probe.interval_ms * 1000), probe.count, static_cast<uint16_t>(probe.bytes)));
  connect(End::near, *probes_.back(), add<EchoHop>(*outboxes_[ends.sink]));
}

void Rig::run_until(Microseconds end_us) {
  for (Microseconds until_us = 0; until_us < end_us;) {
    until_us = std::min(end_us, (static_cast<Microseconds>(looks_) + 1) * look_us);
    act_until(until_us);
    if (until_us < end_us) look_at_windows();
  }
}

void Rig::act_until(Microseconds end_us) {
  for (Agenda::Event event; (event = agenda_.next()).time_us < end_us;) {
    note_progress();
    processes_[agenda_.place_of(event)]->act(event.time_us);
  }
}

void Rig::look_at_windows() {
  ++looks_;
  for (size_t i = 0; i < senders_.size(); ++i) looks_at_bound_[i] += senders_[i]->is_at_bound();
}

// Whether all flows send data over the uplink for the whole run, and nothing else uses it.
bool Rig::is_steady() const {
  return not scenario_.flows.empty() and scenario_.probes.empty() and
         std::ranges::all_of(scenario_.flows, [](const FlowSettings& flow) {
           return flow.from == End::near and not flow.bytes and not flow.stop_s and
                  flow.request_bytes == 0;
         });
}

double Rig::at_bound_share() const {
  const uint64_t max = *std::ranges::max_element(looks_at_bound_);
  return looks_ == 0 ? 0 : static_cast<double>(max) / static_cast<double>(looks_);
}

double Rig::idle_share() const {
  const IdleTimes& idle = meter_->idle_times();
  const auto capacity = [&](Milliseconds from_ms, Milliseconds to_ms) {
    const auto until = [&](Milliseconds time_ms) {
      return up_.link != nullptr ? up_.link->queue().capacity_bytes(time_ms * 1000)
                                 : up_.rate_link->capacity_bytes(time_ms * 1000);
    };
    return until(to_ms) - until(from_ms);
  };
  double rtt_ms = 0;
  for (const LinkSettings* const link : {&scenario_.uplink, &scenario_.downlink}) {
    rtt_ms += link->delay_ms + link->delay_step_ms;
  }
  auto spans = idle.spans();
  spans.push_back({std::min(idle.last_departure_ms(), duration_ms_), duration_ms_});
  double unused = 0;
  for (const auto [from_ms, to_ms] : spans) {
    if (static_cast<double>(to_ms - from_ms) > std::max(2 * rtt_ms, double{IdleTimes::min_ms})) {
      unused += capacity(from_ms, to_ms);
    }
  }
  const double offered = capacity(idle.first_arrival_ms(), duration_ms_);
  return offered > 0 ? unused / offered : 0;
}

RunResult Rig::run() {
  if (const Microseconds from_us = in_us(scenario_.measure_from_s); from_us > 0) {
    run_until(from_us);
    for (size_t i = 0; i < meters_.size(); ++i) {
      if (not scenario_.flows[i].bytes) meters_[i].begin(from_us);  // a download counts as a whole
    }
  }
  run_until(end_us_);
  if (up_.link != nullptr) {
    up_.link->queue().advance(duration_ms_, [](const Packet&) {});  // too late to arrive anywhere
    up_.link->queue().report();
  }
  RunResult result;
  for (Hop* const hop : hops_) hop->finish(end_us_, result);
  result.packets_lost = up_.packets_lost();
  if (meter_ != nullptr) {
    result.metrics = meter_->metrics(
        up_.link != nullptr ? std::nullopt : std::optional(scenario_.uplink.rate_mbps),
        duration_ms_);
  }
  if (is_steady()) {
    result.at_bound_share = at_bound_share();
    const bool knows_rtt =
        scenario_.uplink.delay_trace.empty() and scenario_.downlink.delay_trace.empty();
    if (meter_ != nullptr and knows_rtt and result.packets_delivered > 0) {
      result.idle_share = idle_share();
    }
  }
  return result;
}

void Rig::write_link(JsonWriter& json, const Direction& direction) {
  json.begin_object();
  if (direction.rate_link != nullptr) {
    const RateLink& link = *direction.rate_link;
    const Samples& delays = link.queueing_delays();
    const double throughput_mbps =
        static_cast<double>(link.bytes_carried()) * 8 / static_cast<double>(duration_us());
    json.field("throughput_mbps", throughput_mbps)
        .field("utilization", throughput_mbps / direction.settings.rate_mbps)
        .field("queueing_delay_p50_ms", delays.quantile_ms(0.5))
        .field("queueing_delay_p95_ms", delays.quantile_ms(0.95))
        .field("packets_dropped", link.packets_dropped())
        .field("packets_marked", link.packets_marked());
  } else {
    if (&direction.settings == &scenario_.uplink)
      write_metrics(json, meter_->metrics({}, duration_ms_));
    json.field("packets_dropped", direction.link->queue().packets_dropped())
        .field("packets_marked", direction.link->queue().packets_marked());
  }
  json.field("packets_lost", direction.packets_lost());
  if (direction.rate_link != nullptr and direction.rate_link->queued_packets()) {
    json.field("queue_by_interval_packets", direction.rate_link->queued_packets()->values());
  }
  json.end_object();
}

// The time from the last flow's start until the shares were fair for some intervals in a row.
std::optional<double> Rig::convergence_s() const {
  if (meters_.size() < 2 or scenario_.interval_s == 0) return std::nullopt;
  double start_s = 0;
  for (const FlowSettings& flow : scenario_.flows) start_s = std::max(start_s, flow.start_s);
  const auto first = static_cast<size_t>(start_s / scenario_.interval_s);
  const size_t intervals = meters_.front().bytes_by_interval().size();
  size_t fair_intervals = 0;
  for (size_t i = first; i < intervals; ++i) {
    std::vector<double> shares;
    for (const FlowMeter& meter : meters_) {
      shares.push_back(static_cast<double>(meter.bytes_by_interval()[i]));
    }
    fair_intervals = jains_index(shares) >= fair ? fair_intervals + 1 : 0;
    if (fair_intervals == settled_intervals) {
      return static_cast<double>(i + 1 - settled_intervals - first) * scenario_.interval_s;
    }
  }
  return std::nullopt;
}

void Rig::write(JsonWriter& json) {
  json.key("uplink");
  write_link(json, up_);
  json.key("downlink");
  write_link(json, down_);
  std::vector<double> goodputs;
  json.key("flows").begin_array();
  for (size_t i = 0; i < meters_.size(); ++i) {
    const FlowSettings& flow = scenario_.flows[i];
    json.begin_object();
    if (flow.entry) {
      json.field("entry", flow.entry->object.string());
    } else {
      json.field("controller", flow.controller);
    }
    meters_[i].write(json);
    json.end_object();
    goodputs.push_back(meters_[i].goodput_mbps());
  }
  json.end_array().key("probes").begin_array();
  for (const ProbeProcess* const probe : probes_) {
    json.begin_object();
    probe->write(json);
    json.end_object();
  }
  json.end_array()
      .field("jains_index", jains_index(goodputs))
      .field("convergence_s", convergence_s().value_or(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace kneepoint
