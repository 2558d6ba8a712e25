#include "emulation/rig.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "common/progress.hh"
#include "measure/metrics_json.hh"
#include "queues/registry.hh"
#include "transport/contest_datagram.hh"

namespace kneepoint {

namespace {

// The random streams of a run's seed.
enum Stream : uint64_t {
  uplink_shell,
  downlink_shell,
  delay_up_shell,
  delay_down_shell,
  uplink_queue,
  downlink_queue,
  first_sender,
  host = first_sender + (1 << 16),  // a flow's number has 16 bits
  first_receiver,
  arrivals,  // at a process: this and the process's own
  further_receivers = 1 << 20,
  uplink_loss = 1 << 24,
  downlink_loss,
  entries = 1 << 26,  // what a flow's entry draws from its host
};

// The longest time from a datagram's departure until its direct effects are over: a second of
// latency, and a second's scheduling delay.
constexpr Microseconds longest_way_us = 2'000'000;

// Jain's index from which shares are fair, and the number of such intervals in a row.
constexpr double fair = 0.9;
constexpr size_t settled_intervals = 5;

Microseconds in_us(double time_s) { return std::llround(time_s * 1e6); }

Link::AtEnd at_end(const Scenario& scenario) {
  return scenario.duration_ms ? Link::AtEnd::repeat : Link::AtEnd::stop;
}

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

uint64_t segments_of(const FlowSettings& flow, uint64_t payload_bytes) {
  if (not flow.bytes) return TcpSender::endless;
  return (*flow.bytes + payload_bytes - 1) / payload_bytes;
}

std::unique_ptr<PacketQueue> make_queue(const LinkSettings& settings, const Scenario& scenario,
                                        uint64_t stream) {
  auto queue = make_packet_queue(settings.queue, Random(scenario.seed, stream).next());
  if (queue->classes() > 0) queue->classify(scenario.classes());
  return queue;
}

}  // namespace

Rig::Rig(const Scenario& scenario, const RunInputs& inputs)
    : scenario_(scenario),
      ends_(2 * (scenario.flows.size() + scenario.probes.size())),
      agenda_(ends_),
      processes_(2 * ends_ + Agenda::shells),
      duration_ms_(duration_of(scenario, inputs)),
      run_lateness_(scenario.host, Random(scenario.seed, host)),
      meter_(inputs.meter) {
  if (meter_ != nullptr) meter_->start();
  build_uplink(inputs);
  build_downlink(inputs);
  if (inputs.measures_flows and scenario.interval_s > 0) {
    measure_queue(up_);
    measure_queue(down_);
  }
  for (size_t end = 0; end < ends_; ++end) {
    add(end, outboxes_.emplace_back(agenda_, end, end % 2 == 0 ? *up_.entry : *down_.entry));
  }
  auto controller = inputs.controllers.begin();
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    const FlowSettings& flow = scenario.flows[i];
    if (inputs.measures_flows) {
      meters_.emplace_back(in_us(flow.start_s),
                           std::min(duration_us(), in_us(flow.stop_s.value_or(longest_run_s))),
                           in_us(scenario.interval_s), duration_us());
    }
    if (flow.entry) {
      add_entry_flow(flow, i, inputs);
    } else if (flow.transport == Transport::tcp) {
      add_tcp_flow(flow, i, *controller++, inputs);
    } else {
      add_contest_flow(flow, i, *controller++, inputs);
    }
  }
  for (size_t i = 0; i < scenario.probes.size(); ++i) {
    add_probe(scenario.probes[i], scenario.flows.size() + i);
  }
}

Lateness Rig::lateness(uint64_t stream) const {
  return {run_lateness_, Random(scenario_.seed, stream), Random(scenario_.seed, arrivals + stream)};
}

Microseconds Rig::shells_ahead_until_us() const {
  const Microseconds from_us = in_us(scenario_.measure_from_s);
  return (from_us > 0 ? std::min(from_us, end_us_) : end_us_) - longest_way_us;
}

Microseconds Rig::duration_us() const { return duration_ms_ * 1000; }

void Rig::build_uplink(const RunInputs& inputs) {
  const LinkSettings& settings = scenario_.uplink;
  auto queue = make_queue(settings, scenario_, uplink_queue);
  if (inputs.uplink == nullptr) {
    up_.wire = std::make_unique<Wire>(agenda_.of_shell(2), delays_of(settings), to_far_);
    up_.rate_link = std::make_unique<RateLink>(agenda_.of_shell(0), settings.rate_mbps,
                                               settings.by_packets, std::move(queue), *up_.wire);
    up_.rate_link->observe(meter_);
    up_.entry = up_.rate_link.get();
    add(ends_, *up_.rate_link);
    add(ends_ + 2, *up_.wire);
  } else {
    up_.link = std::make_unique<LinkUp>(agenda_.of_shell(0),
                                        Link(*inputs.uplink, at_end(scenario_), std::move(queue)),
                                        scenario_.host, lateness(uplink_shell), end_us_);
    up_.delay = std::make_unique<DelayUp>(agenda_.of_shell(2), delay_line_of(settings),
                                          scenario_.host, lateness(delay_up_shell));
    up_.link->connect(*up_.delay, std::llround(scenario_.host.host_latency_us));
    up_.delay->connect(to_far_, 0);
    up_.link->queue().observe(meter_, inputs.link_log, duration_ms_);
    up_.entry = up_.link.get();
    add(ends_, *up_.link);
    add(ends_ + 2, *up_.delay);
  }
  add_loss(up_, settings, uplink_loss);
}

void Rig::build_downlink(const RunInputs& inputs) {
  const LinkSettings& settings = scenario_.downlink;
  auto queue = make_queue(settings, scenario_, downlink_queue);
  if (inputs.downlink == nullptr) {
    down_.rate_link = std::make_unique<RateLink>(agenda_.of_shell(1), settings.rate_mbps,
                                                 settings.by_packets, std::move(queue), to_near_);
    down_.wire = std::make_unique<Wire>(agenda_.of_shell(3), delays_of(settings), *down_.rate_link);
    down_.entry = down_.wire.get();
    add(ends_ + 1, *down_.rate_link);
    add(ends_ + 3, *down_.wire);
  } else {
    down_.link = std::make_unique<LinkDown>(
        agenda_.of_shell(1), Link(*inputs.downlink, at_end(scenario_), std::move(queue)),
        scenario_.host, lateness(downlink_shell));
    down_.delay = std::make_unique<DelayDown>(agenda_.of_shell(3), delay_line_of(settings),
                                              scenario_.host, lateness(delay_down_shell));
    down_.link->connect(to_near_, 0);
    down_.delay->connect(*down_.link, std::llround(scenario_.host.host_latency_us));
    down_.entry = down_.delay.get();
    add(ends_ + 1, *down_.link);
    add(ends_ + 3, *down_.delay);
  }
  add_loss(down_, settings, downlink_loss);
}

void Rig::measure_queue(auto& direction) {
  if (direction.rate_link == nullptr) return;
  direction.queued_packets =
      std::make_unique<StepSeries>(in_us(scenario_.interval_s), duration_us());
  direction.rate_link->observe_queue(direction.queued_packets.get());
}

void Rig::add_loss(auto& direction, const LinkSettings& settings, uint64_t stream) {
  if (settings.loss_period == 0 and settings.loss_probability == 0) return;
  direction.loss = std::make_unique<LossyHop>(
      settings.loss_period, settings.loss_first, settings.loss_probability,
      Random(scenario_.seed, stream).next(), *direction.entry);
  direction.entry = direction.loss.get();
}

void Rig::add_contest_flow(const FlowSettings& flow, size_t number,
                           const ControllerHandle& controller, const RunInputs& inputs) {
  const bool is_alone = ends_ == 2;
  const bool is_near = flow.from == End::near;
  const bool decides_ahead = is_alone and is_near and scenario_.host.packet_us >= 1;
  is_circle_ = decides_ahead and up_.takes_turns() and down_.takes_turns();
  const size_t source = is_near ? near_end(number) : far_end(number);
  const size_t sink = is_near ? far_end(number) : near_end(number);
  const auto id = static_cast<uint16_t>(number);
  FlowMeter* const meter = inputs.measures_flows ? &meters_.back() : nullptr;
  const Departures departures{is_near ? *up_.entry : *down_.entry, outboxes_[source],
                              decides_ahead ? end_us_ - longest_way_us : 0};
  const Lifetime lifetime{in_us(flow.start_s), in_us(flow.stop_s.value_or(2 * longest_run_s)),
                          segments_of(flow, contest_payload_bytes)};
  SenderProcess& sender = contest_senders_.emplace_back(
      agenda_, source, id, controller, scenario_.host, lateness(first_sender + number), departures,
      lifetime, inputs.flow_log, meter);
  add(ends_ + Agenda::shells + source, sender);
  // Packets too late for the run's end must not reach the uplink, which is measured.
  Hop& way_back = is_alone and is_near ? *down_.entry : static_cast<Hop&>(outboxes_[sink]);
  Receiver& receiver = contest_receivers_.emplace_back(
      scenario_.host, lateness(number == 0 ? first_receiver : further_receivers + number), way_back,
      meter);
  Hop& near = is_near ? static_cast<Hop&>(sender) : receiver;
  Hop& far = is_near ? static_cast<Hop&>(receiver) : sender;
  to_near_.add(near);
  to_far_.add(far);
}

// CPU time limit of an entry's process; an honest one needs a tenth.
uint64_t Rig::most_entry_cpu_s() const {
  constexpr uint64_t least_s = 2;
  return least_s + static_cast<uint64_t>(duration_ms_) / 50'000;
}

// No effect of an entry's datagram may return within the time for which it knows all arrivals.
Microseconds Rig::entry_lookahead_us() const {
  const auto delay_us = [](const LinkSettings& link) {
    return link.delay_trace.empty() ? link.delay_ms * 1000 : 0;
  };
  return std::min(
      static_cast<Microseconds>(scenario_.entry_lookahead_us),
      Microseconds{std::llround(delay_us(scenario_.uplink) + delay_us(scenario_.downlink))});
}

void Rig::add_entry_flow(const FlowSettings& flow, size_t number, const RunInputs& inputs) {
  const bool is_alone = ends_ == 2;
  const bool is_near = flow.from == End::near;
  const size_t source = is_near ? near_end(number) : far_end(number);
  const size_t sink = is_near ? far_end(number) : near_end(number);
  FlowMeter* const meter = inputs.measures_flows ? &meters_.back() : nullptr;
  FlightRecord* record = nullptr;
  if (meter != nullptr or inputs.flow_log != nullptr) {
    record = &flight_records_.emplace_back(number, inputs.flow_log, meter);
  }
  const Dialect& dialect = find_dialect(flow.entry->dialect);
  EntryChild& child =
      entry_children_.emplace_back(*flow.entry, scenario_.trusts_entries, most_entry_cpu_s());
  Mails& mails = entry_mails_.emplace_back();
  const uint64_t seed = Random(scenario_.seed, entries + number).next();
  EntryProcess& sender = entry_senders_.emplace_back(
      agenda_, source, static_cast<uint16_t>(number), child, dialect, scenario_.host,
      lateness(first_sender + number),
      Departures{is_near ? *up_.entry : *down_.entry, outboxes_[source], 0}, in_us(flow.start_s),
      in_us(flow.stop_s.value_or(2 * longest_run_s)), end_us_, entry_lookahead_us(), seed, mails,
      record, meter);
  add(ends_ + Agenda::shells + source, sender);
  EntryReceiver& receiver = entry_receivers_.emplace_back(
      dialect, flow.entry->clock_epoch_ms, scenario_.host,
      lateness(number == 0 ? first_receiver : further_receivers + number),
      is_alone and is_near ? *down_.entry : static_cast<Hop&>(outboxes_[sink]), seed, mails, meter);
  to_near_.add(is_near ? static_cast<Hop&>(sender) : receiver);
  to_far_.add(is_near ? static_cast<Hop&>(receiver) : sender);
}

void Rig::add_tcp_flow(const FlowSettings& flow, size_t number, const ControllerHandle& controller,
                       const RunInputs& inputs) {
  const auto id = static_cast<uint16_t>(number);
  const bool is_near = flow.from == End::near;
  const size_t source = is_near ? near_end(number) : far_end(number);
  const size_t sink = is_near ? far_end(number) : near_end(number);
  Letters& letters = letters_.emplace_back();
  Letters& request_letters = letters_.emplace_back();
  FlowMeter* const meter = inputs.measures_flows ? &meters_.back() : nullptr;
  const Microseconds packet_us = std::llround(scenario_.host.packet_us);
  const auto end = [&](size_t endpoint) -> TcpEnd {
    return {agenda_, endpoint, id, packet_us, outboxes_[endpoint], letters, request_letters, meter};
  };
  const uint64_t segments = segments_of(flow, tcp_payload_bytes);
  std::optional<TcpExchange> exchange;
  if (flow.request_bytes > 0) {
    exchange = {.request_bytes = flow.request_bytes,
                .answer_segments = segments,
                .requests = flow.requests,
                .think_us = in_us(flow.think_s)};
  }
  const Microseconds start_us = in_us(flow.start_s);
  const Microseconds stop_us = in_us(flow.stop_s.value_or(2 * longest_run_s));
  TcpSenderProcess& sender = tcp_senders_.emplace_back(
      end(source), TcpSender(id, controller, flow.tcp, exchange ? 0 : segments, inputs.flow_log),
      start_us, stop_us, exchange);
  TcpReceiverProcess& receiver =
      tcp_receivers_.emplace_back(end(sink), flow.tcp, start_us, stop_us, exchange);
  add(ends_ + Agenda::shells + source, sender);
  add(ends_ + Agenda::shells + sink, receiver);
  to_near_.add(is_near ? static_cast<Hop&>(sender) : receiver);
  to_far_.add(is_near ? static_cast<Hop&>(receiver) : sender);
}

void Rig::add_probe(const ProbeSettings& probe, size_t number) {
  ProbeProcess& process = probes_.emplace_back(
      agenda_, near_end(number), static_cast<uint16_t>(number), in_us(probe.start_s),
      std::llround(probe.interval_ms * 1000), probe.count, static_cast<uint16_t>(probe.bytes),
      outboxes_[near_end(number)]);
  add(ends_ + Agenda::shells + near_end(number), process);
  to_near_.add(process);
  to_far_.add(echoes_.emplace_back(outboxes_[far_end(number)]));
}

// Around the circle: each process acts on all until when its arrivals are known, and what it may
// still send takes a while to reach the next one, which thus knows its own arrivals for longer.
void Rig::act_in_turns() {
  const Microseconds until_us = shells_ahead_until_us();
  SenderProcess& sender = contest_senders_.front();
  for (Microseconds known_us = 0; known_us < until_us;) {
    note_progress();
    known_us = std::min(up_.link->act_until(known_us), until_us);
    known_us = std::min(up_.delay->act_until(known_us), until_us);
    known_us = std::min(down_.delay->act_until(known_us), until_us);
    known_us = std::min(down_.link->act_until(known_us), until_us);
    while (agenda_.endpoint_us() < known_us) sender.act(agenda_.endpoint_us());
    const Microseconds next_us =
        std::min({up_.link->earliest_us(), up_.delay->earliest_us(), down_.delay->earliest_us(),
                  down_.link->earliest_us(), agenda_.endpoint_us()});
    known_us = std::max(known_us, next_us);
  }
  up_.link->end_turns();
  up_.delay->end_turns();
  down_.delay->end_turns();
  down_.link->end_turns();
}

void Rig::handle_events(Microseconds end_us, auto act_shell) {
  for (Agenda::Event event; (event = agenda_.next()).time_us < end_us;) {
    note_progress();
    if (Agenda::is_of_shell(event)) [[likely]] {
      act_shell(event.slot - 1, event.time_us);
    } else {
      processes_[agenda_.place_of(event)]->act(event.time_us);
    }
  }
}

void Rig::run_until(Microseconds end_us) {
  if (is_circle_ and agenda_.next().time_us < shells_ahead_until_us()) act_in_turns();
  if (up_.link != nullptr and down_.link != nullptr) {
    handle_events(end_us, [this](size_t shell, Microseconds now_us) __attribute__((always_inline)) {
      if (shell == 0) return up_.link->act(now_us);
      if (shell == 1) return down_.link->act(now_us);
      if (shell == 2) return up_.delay->act(now_us);
      down_.delay->act(now_us);
    });
  } else {
    handle_events(end_us, [this](size_t shell, Microseconds now_us) {
      processes_[ends_ + shell]->act(now_us);
    });
  }
}

RunResult Rig::run() {
  if (const Microseconds from_us = in_us(scenario_.measure_from_s); from_us > 0) {
    run_until(from_us);
    for (size_t i = 0; i < meters_.size(); ++i) {
      if (not scenario_.flows[i].bytes) meters_[i].begin(from_us);  // a download counts as a whole
    }
  }
  run_until(end_us_);
  for (FlightRecord& record : flight_records_) record.settle(end_us_);
  RunResult result;
  if (up_.link != nullptr) {
    up_.link->queue().advance(duration_ms_, [](const Packet&) {});  // too late to arrive anywhere
    up_.link->queue().report();
  }
  if (meter_ != nullptr) {
    result.metrics = meter_->metrics(
        up_.link != nullptr ? std::nullopt : std::optional(scenario_.uplink.rate_mbps));
  }
  for (const SenderProcess& sender : contest_senders_) {
    result.packets_sent += sender.packets_sent();
  }
  for (const Receiver& receiver : contest_receivers_) {
    result.packets_delivered += receiver.packets_received();
  }
  for (const EntryProcess& sender : entry_senders_) result.packets_sent += sender.packets_sent();
  for (const EntryReceiver& receiver : entry_receivers_) {
    result.packets_delivered += receiver.packets_received();
  }
  for (const TcpSenderProcess& sender : tcp_senders_) result.packets_sent += sender.packets_sent();
  for (const TcpReceiverProcess& receiver : tcp_receivers_) {
    result.packets_delivered += receiver.packets_received();
  }
  const auto count_drops = [&result](const auto& direction) {
    if (direction.link != nullptr) {
      result.packets_dropped += direction.link->queue().packets_dropped() +
                                direction.link->packets_dropped() +
                                direction.delay->packets_dropped();
    } else {
      result.packets_dropped += direction.rate_link->packets_dropped();
    }
  };
  count_drops(up_);
  count_drops(down_);
  return result;
}

void Rig::write_link(JsonWriter& json, const auto& direction, const LinkSettings& settings) {
  json.begin_object();
  if (direction.rate_link != nullptr) {
    const RateLink& link = *direction.rate_link;
    Samples delays(link.queueing_delays_us());
    const double throughput_mbps =
        static_cast<double>(link.bytes_carried()) * 8 / static_cast<double>(duration_us());
    json.field("throughput_mbps", throughput_mbps)
        .field("utilization", throughput_mbps / settings.rate_mbps)
        .field("queueing_delay_p50_ms", delays.quantile_ms(0.5))
        .field("queueing_delay_p95_ms", delays.quantile_ms(0.95))
        .field("packets_dropped", link.packets_dropped())
        .field("packets_marked", link.packets_marked());
  } else {
    if (&settings == &scenario_.uplink) write_metrics(json, meter_->metrics());
    json.field("packets_dropped", direction.link->queue().packets_dropped())
        .field("packets_marked", direction.link->queue().packets_marked());
  }
  json.field("packets_lost", direction.loss == nullptr ? 0 : direction.loss->packets_lost());
  if (direction.queued_packets != nullptr) {
    json.field("queue_by_interval_packets", direction.queued_packets->values());
  }
  json.end_object();
}

// From the last flow's start until the shares were fair for some intervals in a row.
std::optional<double> Rig::convergence_s() const {
  if (meters_.size() < 2 or scenario_.interval_s == 0) return std::nullopt;
  double start_s = 0;
  for (const FlowSettings& flow : scenario_.flows) start_s = std::max(start_s, flow.start_s);
  const auto first = static_cast<size_t>(start_s / scenario_.interval_s);
  const size_t intervals = meters_.front().bytes_by_interval().size();
  size_t fair_ones = 0;
  for (size_t i = first; i < intervals; ++i) {
    std::vector<double> shares;
    for (const FlowMeter& meter : meters_) {
      shares.push_back(static_cast<double>(meter.bytes_by_interval()[i]));
    }
    fair_ones = jains_index(shares) >= fair ? fair_ones + 1 : 0;
    if (fair_ones == settled_intervals) {
      return static_cast<double>(i + 1 - settled_intervals - first) * scenario_.interval_s;
    }
  }
  return std::nullopt;
}

void Rig::write(JsonWriter& json) {
  json.key("uplink");
  write_link(json, up_, scenario_.uplink);
  json.key("downlink");
  write_link(json, down_, scenario_.downlink);
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
  for (const ProbeProcess& probe : probes_) {
    json.begin_object();
    probe.write(json);
    json.end_object();
  }
  json.end_array()
      .field("jains_index", jains_index(goodputs))
      .field("convergence_s", convergence_s().value_or(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace kneepoint
