#include "emulation/event_loop.hh"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "common/progress.hh"
#include "queues/registry.hh"

namespace kneepoint {

namespace {

// The streams of a run's seed, one for each thing that draws from it.
enum Stream : uint64_t {
  uplink_shell,
  downlink_shell,
  delay_up_shell,
  delay_down_shell,
  uplink_queue,
  downlink_queue,
  first_sender,
  host = first_sender + (1 << 16),  // a flow's number has 16 bits
  receiver,
  arrivals  // at a process: this and the process's own
};

// From a datagram's departure until nothing that it causes at once can happen any more: a second of
// latency, a second's wait for the processor.
constexpr Microseconds longest_way_us = 2'000'000;

Link::AtEnd at_end(const NetworkSettings& settings) {
  return settings.duration_ms ? Link::AtEnd::repeat : Link::AtEnd::stop;
}

}  // namespace

EventLoop::EventLoop(const Trace& uplink, const Trace& downlink, const NetworkSettings& settings,
                     const std::vector<ControllerHandle>& controllers, Meter& meter,
                     LinkLog* link_log, FlowLog* flow_log)
    : agenda_(controllers.size()),
      duration_ms_(settings.duration_ms.value_or(std::min(uplink.last_ms(), downlink.last_ms()))),
      run_lateness_(settings.host, Random(settings.seed, host)),
      meter_(meter),
      uplink_(agenda_.of_shell(0),
              Link(uplink, at_end(settings),
                   make_packet_queue(settings.uplink_queue,
                                     Random(settings.seed, uplink_queue).next())),
              settings.host, lateness(settings, uplink_shell), end_us_),
      downlink_(agenda_.of_shell(1),
                Link(downlink, at_end(settings),
                     make_packet_queue(settings.downlink_queue,
                                       Random(settings.seed, downlink_queue).next())),
                settings.host, lateness(settings, downlink_shell)),
      delay_up_(agenda_.of_shell(2), DelayLine(settings.delay_ms), settings.host,
                lateness(settings, delay_up_shell)),
      delay_down_(agenda_.of_shell(3), DelayLine(settings.delay_ms), settings.host,
                  lateness(settings, delay_down_shell)),
      receiver_(settings.host, lateness(settings, receiver), delay_down_) {
  const Microseconds host_latency_us = std::llround(settings.host.host_latency_us);
  uplink_.connect(delay_up_, host_latency_us);
  delay_up_.connect(receiver_, 0);
  delay_down_.connect(downlink_, host_latency_us);
  downlink_.connect(to_senders_, 0);
  meter_.start(duration_ms_);
  uplink_.queue().observe(&meter_, link_log);
  for (size_t i = 0; i < controllers.size(); ++i) {
    processes_.push_back(&outboxes_.emplace_back(agenda_, i, uplink_));
  }
  for (Process* process :
       std::initializer_list<Process*>{&uplink_, &downlink_, &delay_up_, &delay_down_}) {
    processes_.push_back(process);
  }
  const bool decides_ahead = controllers.size() == 1 and settings.host.packet_us >= 1;
  for (const ControllerHandle& controller : controllers) {
    const auto flow = static_cast<uint16_t>(senders_.size());
    const Departures departures{uplink_, outboxes_[flow],
                                decides_ahead ? end_us_ - longest_way_us : 0};
    SenderProcess& sender =
        senders_.emplace_back(agenda_, flow, controller, settings.host,
                              lateness(settings, first_sender + flow), departures, flow_log);
    processes_.push_back(&sender);
    to_senders_.add(sender);
  }
  if (senders_.size() == 1) downlink_.connect(senders_.front(), 0);
}

RunResult EventLoop::run() {
  for (Agenda::Event event; (event = agenda_.next()).time_us < end_us_;) {
    note_progress();
    processes_[event.place]->act(event.time_us);
  }
  uplink_.queue().advance(duration_ms_, [](const Packet&) {});  // too late to arrive anywhere
  uplink_.queue().report_opportunities();
  RunResult result;
  result.metrics = meter_.metrics();
  for (const SenderProcess& sender : senders_) result.packets_sent += sender.packets_sent();
  result.packets_delivered = receiver_.packets_received();
  result.packets_dropped = uplink_.queue().packets_dropped() + downlink_.queue().packets_dropped() +
                           uplink_.packets_dropped() + downlink_.packets_dropped() +
                           delay_up_.packets_dropped() + delay_down_.packets_dropped();
  return result;
}

Lateness EventLoop::lateness(const NetworkSettings& settings, uint64_t stream) const {
  return {run_lateness_, Random(settings.seed, stream), Random(settings.seed, arrivals + stream)};
}

}  // namespace kneepoint
