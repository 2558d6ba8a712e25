#include "network/event_loop.hh"

#include <algorithm>
#include <cmath>

namespace kneepoint {

namespace {

// The streams of a run's seed, one for each thing that draws from it.
enum Stream : uint64_t { uplink_shell, downlink_shell, delay_up_shell, delay_down_shell, queues };

Link::AtEnd at_end(const NetworkSettings& settings) {
  return settings.duration_ms ? Link::AtEnd::repeat : Link::AtEnd::stop;
}

}  // namespace

EventLoop::EventLoop(const Trace& uplink, const Trace& downlink, const NetworkSettings& settings,
                     const std::vector<Controller*>& controllers, Meter& meter, LinkLog* link_log,
                     FlowLog* flow_log)
    : duration_ms_(settings.duration_ms.value_or(std::min(uplink.last_ms(), downlink.last_ms()))),
      host_latency_us_(std::llround(settings.host.host_latency_us)),
      lateness_(settings.host.wake_mean_us),
      meter_(meter),
      uplink_(Link(uplink, at_end(settings),
                   make_packet_queue(settings.uplink_queue, Random(settings.seed, queues).next())),
              settings.host, lateness_, Random(settings.seed, uplink_shell)),
      downlink_(Link(downlink, at_end(settings),
                     make_packet_queue(settings.downlink_queue,
                                       Random(settings.seed, queues + 1).next())),
                settings.host, lateness_, Random(settings.seed, downlink_shell)),
      delay_up_(DelayLine(settings.delay_ms), settings.host, lateness_,
                Random(settings.seed, delay_up_shell)),
      delay_down_(DelayLine(settings.delay_ms), settings.host, lateness_,
                  Random(settings.seed, delay_down_shell)),
      receiver_(settings.host) {
  meter_.start(duration_ms_);
  uplink_.queue().observe(&meter_, link_log);
  for (Controller* controller : controllers) {
    senders_.emplace_back(static_cast<uint32_t>(senders_.size()), *controller, settings.host,
                          flow_log);
  }
}

RunResult EventLoop::run() {
  const Microseconds end_us = (duration_ms_ + 1) * 1000;
  while (step(end_us)) {
  }
  uplink_.queue().advance(duration_ms_);
  RunResult result;
  result.metrics = meter_.metrics();
  for (const Sender& sender : senders_) result.packets_sent += sender.packets_sent();
  result.packets_delivered = receiver_.packets_delivered();
  result.packets_dropped =
      uplink_.queue().packets_dropped() + downlink_.queue().packets_dropped();
  return result;
}

Sender* EventLoop::next_sender() {
  return &*std::ranges::min_element(senders_, {}, &Sender::next_event_us);
}

bool EventLoop::step(Microseconds end_us) {
  const auto into = [](Inbox& inbox, Microseconds latency_us = 0) {
    return [&inbox, latency_us](Microseconds time_us, const Packet& packet) {
      inbox.push(time_us + latency_us, packet);
    };
  };
  Sender* const sender = next_sender();
  const Microseconds next_us =
      std::min({uplink_.next_event_us(), downlink_.next_event_us(), delay_up_.next_event_us(),
                receiver_.next_event_us(), delay_down_.next_event_us(), sender->next_event_us()});
  if (next_us >= end_us) return false;

  if (next_us == uplink_.next_event_us()) {
    uplink_.step(next_us, into(delay_up_.inbox(), host_latency_us_));
  } else if (next_us == downlink_.next_event_us()) {
    downlink_.step(next_us, [this](Microseconds time_us, const Packet& packet) {
      senders_[packet.flow].inbox().push(time_us, packet);
    });
  } else if (next_us == delay_up_.next_event_us()) {
    delay_up_.step(next_us, into(receiver_.inbox()));
  } else if (next_us == receiver_.next_event_us()) {
    receiver_.step(next_us, delay_down_.inbox());
  } else if (next_us == delay_down_.next_event_us()) {
    delay_down_.step(next_us, into(downlink_.inbox(), host_latency_us_));
  } else {
    sender->step(next_us, uplink_.inbox());
  }
  return true;
}

}  // namespace kneepoint
