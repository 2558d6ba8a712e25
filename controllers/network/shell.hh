// A process of the emulated host around a queue: when it wakes, what it hands on, at what cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "network/host_model.hh"
#include "network/packet.hh"
#include "network/random.hh"
#include "network/ring.hh"

namespace kneepoint {

// A packet on its way between two processes, and when it gets there.
struct Arrival {
  Microseconds time_us = 0;
  Packet packet{};
};

// Packets that are about to arrive at a process, earliest first.
class Inbox {
 public:
  void push(Microseconds time_us, const Packet& packet) {
    arrivals_.push_in_order({time_us, packet}, [](const Arrival& arrival) { return arrival.time_us; });
  }
  Microseconds next_us() const { return arrivals_.empty() ? never : arrivals_.front().time_us; }
  Packet pop() { return arrivals_.pop().packet; }

 private:
  Ring<Arrival> arrivals_{};
};

// A Link or a DelayLine in a mahimahi shell's event loop.
//
// The loop wakes for an arriving packet at once, and for the queue's next event after a poll(2) of
// whole milliseconds: last wake-up + (event's millisecond - last wake-up's millisecond) + lateness.
template <class Queue>
class Shell {
 public:
  Shell(Queue queue, const HostModel& host, const ExponentialTable& lateness, Random random)
      : queue_(std::move(queue)),
        packet_us_(std::llround(host.packet_us)),
        wake_us_(std::llround(host.wake_us)),
        lateness_(&lateness),
        random_(random) {}

  Inbox& inbox() { return inbox_; }
  Queue& queue() { return queue_; }
  const Queue& queue() const { return queue_; }

  Microseconds next_event_us() const { return std::min(inbox_.next_us(), wake_up_us_); }

  // Handles the event at `now_us` (which next_event_us() named) and passes each packet that the
  // queue delivers, with the time at which this process lets go of it, to hand_on(time_us, packet).
  template <class HandOn>
  void step(Microseconds now_us, HandOn hand_on) {
    const Milliseconds now_ms = whole_ms(now_us);
    if (inbox_.next_us() <= now_us) {
      queue_.enqueue(inbox_.pop(), now_ms);
    } else {
      queue_.advance(now_ms);
      lateness_us_ = wake_us_ + lateness_->draw(random_);
    }
    while (not queue_.delivered().empty()) {
      busy_until_us_ = std::max(busy_until_us_, now_us) + packet_us_;
      hand_on(busy_until_us_, queue_.delivered().pop());
    }
    const Milliseconds event_ms = queue_.next_event_ms();
    wake_up_us_ = event_ms == never ? never : now_us + (event_ms - now_ms) * 1000 + lateness_us_;
  }

 private:
  Queue queue_;
  Inbox inbox_{};
  Microseconds packet_us_;
  Microseconds wake_us_;
  const ExponentialTable* lateness_;
  Random random_;
  Microseconds lateness_us_ = wake_us_;  // of the next timer's wake-up
  Microseconds wake_up_us_ = never;
  Microseconds busy_until_us_ = 0;
};

}  // namespace kneepoint
