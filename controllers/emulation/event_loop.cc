#include "emulation/event_loop.hh"

#include <algorithm>
#include <cmath>

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

Link::AtEnd at_end(const NetworkSettings& settings) {
  return settings.duration_ms ? Link::AtEnd::repeat : Link::AtEnd::stop;
}

}  // namespace

EventLoop::EventLoop(const Trace& uplink, const Trace& downlink, const NetworkSettings& settings,
                     const std::vector<ControllerHandle>& controllers, Meter& meter,
                     LinkLog* link_log, FlowLog* flow_log)
    : duration_ms_(settings.duration_ms.value_or(std::min(uplink.last_ms(), downlink.last_ms()))),
      host_latency_us_(std::llround(settings.host.host_latency_us)),
      run_lateness_(settings.host, Random(settings.seed, host)),
      meter_(meter),
      uplink_(Link(uplink, at_end(settings),
                   make_packet_queue(settings.uplink_queue,
                                     Random(settings.seed, uplink_queue).next())),
              settings.host, lateness(settings, uplink_shell), end_us_),
      downlink_(Link(downlink, at_end(settings),
                     make_packet_queue(settings.downlink_queue,
                                       Random(settings.seed, downlink_queue).next())),
                settings.host, lateness(settings, downlink_shell)),
      delay_up_(DelayLine(settings.delay_ms), settings.host, lateness(settings, delay_up_shell)),
      delay_down_(DelayLine(settings.delay_ms), settings.host,
                  lateness(settings, delay_down_shell)),
      receiver_(settings.host, lateness(settings, receiver)) {
  meter_.start(duration_ms_);
  uplink_.queue().observe(&meter_, link_log);
  for (const ControllerHandle& controller : controllers) {
    const auto flow = static_cast<uint16_t>(senders_.size());
    senders_.emplace_back(flow, controller, settings.host, lateness(settings, first_sender + flow),
                          flow_log);
  }
}

Lateness EventLoop::lateness(const NetworkSettings& settings, uint64_t stream) const {
  return {run_lateness_, Random(settings.seed, stream), Random(settings.seed, arrivals + stream)};
}

RunResult EventLoop::run() {
  while (step()) {
  }
  uplink_.queue().advance(duration_ms_, [](const Packet&) {});  // too late to arrive anywhere
  RunResult result;
  result.metrics = meter_.metrics();
  for (const SenderProcess& sender : senders_) result.packets_sent += sender.packets_sent();
  result.packets_delivered = receiver_.packets_received();
  result.packets_dropped = uplink_.queue().packets_dropped() + downlink_.queue().packets_dropped() +
                           uplink_.packets_dropped() + downlink_.packets_dropped() +
                           delay_up_.packets_dropped() + delay_down_.packets_dropped();
  return result;
}

SenderProcess* EventLoop::next_sender() {
  return &*std::ranges::min_element(senders_, {}, &SenderProcess::next_event_us);
}

SenderProcess* EventLoop::next_to_depart() {
  return &*std::ranges::min_element(senders_, {}, &SenderProcess::next_departure_us);
}

bool EventLoop::step() {
  SenderProcess* const sender = next_sender();
  SenderProcess* const departing = next_to_depart();
  const Microseconds departure_us = departing->next_departure_us();
  const Microseconds uplink_us = uplink_.next_event_us();
  const Microseconds downlink_us = downlink_.next_event_us();
  const Microseconds delay_up_us = delay_up_.next_event_us();
  const Microseconds delay_down_us = delay_down_.next_event_us();
  const Microseconds next_us = std::min(
      {departure_us, uplink_us, downlink_us, delay_up_us, delay_down_us, sender->next_event_us()});
  if (next_us >= end_us_) return false;
  note_progress();

  if (next_us == departure_us) {
    uplink_.arrive(departure_us, departing->depart(),
                   [this](const auto&... arrival) { to_delay_up(arrival...); });
  } else if (next_us == uplink_us) {
    uplink_.step(next_us, [this](const auto&... arrival) { to_delay_up(arrival...); });
  } else if (next_us == downlink_us) {
    downlink_.step(next_us, [this](const auto&... arrival) { to_sender(arrival...); });
  } else if (next_us == delay_up_us) {
    delay_up_.step(next_us, [this](const auto&... arrival) { to_receiver(arrival...); });
  } else if (next_us == delay_down_us) {
    delay_down_.step(next_us, [this](const auto&... arrival) { to_downlink(arrival...); });
  } else {
    sender->step(next_us);
  }
  return true;
}

void EventLoop::to_delay_up(Microseconds time_us, const Packet& packet) {
  delay_up_.arrive(time_us + host_latency_us_, packet,
                   [this](const auto&... arrival) { to_receiver(arrival...); });
}

void EventLoop::to_receiver(Microseconds time_us, const Packet& packet) {
  const auto [answer_us, acknowledgment] = receiver_.answer(time_us, packet);
  delay_down_.arrive(answer_us, acknowledgment,
                     [this](const auto&... arrival) { to_downlink(arrival...); });
}

void EventLoop::to_downlink(Microseconds time_us, const Packet& packet) {
  downlink_.arrive(time_us + host_latency_us_, packet,
                   [this](const auto&... arrival) { to_sender(arrival...); });
}

void EventLoop::to_sender(Microseconds time_us, const Packet& packet) {
  senders_[packet.flow].arrive(time_us, packet);
}

}  // namespace kneepoint
