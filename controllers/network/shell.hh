// A process of the emulated host around a queue: when it wakes, what it hands on, at what cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "network/host_model.hh"
#include "network/packet.hh"
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
    Arrival& arrival = arrivals_.push();
    arrival.time_us = time_us;
    arrival.packet = packet;
    arrivals_.sort_last([](const Arrival& other) { return other.time_us; });
    next_us_ = std::min(next_us_, time_us);
  }
  const Packet& pop() {
    const Packet& packet = arrivals_.pop().packet;
    next_us_ = arrivals_.empty() ? never : arrivals_.front().time_us;
    return packet;
  }
  Microseconds next_us() const { return next_us_; }

 private:
  Ring<Arrival> arrivals_{};
  Microseconds next_us_ = never;
};

// A Link or a DelayLine in a mahimahi shell's event loop.
//
// The loop wakes for an arriving packet, and for the queue's next event after a poll(2) of whole
// milliseconds: last wake-up + (event's millisecond - last wake-up's millisecond) + lateness.
template <class Queue>
class Shell {
 public:
  Shell(Queue queue, const HostModel& host, Lateness lateness)
      : queue_(std::move(queue)), packet_us_(std::llround(host.packet_us)), lateness_(lateness) {}

  Queue& queue() { return queue_; }
  const Queue& queue() const { return queue_; }

  Microseconds next_event_us() const { return std::min(inbox_.next_us(), wake_up_us_); }

  // A packet that arrives at `time_us`, now or a little later. Each packet that the queue delivers
  // goes, with the time at which this process lets go of it, to hand_on(time_us, packet).
  template <class HandOn>
  void arrive(Microseconds time_us, const Packet& packet, HandOn hand_on) {
    // Packets come in order, so nothing but the timer can happen here before this one arrives.
    const Microseconds read_us = lateness_.read_time(time_us);
    if (read_us < next_event_us()) {
      handle_arrival(read_us, packet, hand_on);
    } else {
      inbox_.push(read_us, packet);
    }
  }

  // The same from several processes at once, whose packets are out of order among each other.
  void arrive_later(Microseconds time_us, const Packet& packet) {
    inbox_.push(lateness_.read_time(time_us), packet);
  }

  // Handles the event at `now_us`, which next_event_us() named.
  template <class HandOn>
  void step(Microseconds now_us, HandOn hand_on) {
    if (inbox_.next_us() <= now_us) {
      handle_arrival(now_us, inbox_.pop(), hand_on);
      return;
    }
    queue_.advance(whole_ms(now_us), let_go(now_us, hand_on));
    lateness_us_ = lateness_.draw_timer();
    set_timer(now_us);
  }

 private:
  template <class HandOn>
  void handle_arrival(Microseconds now_us, const Packet& packet, HandOn hand_on) {
    queue_.enqueue(packet, whole_ms(now_us), let_go(now_us, hand_on));
    set_timer(now_us);
  }

  template <class HandOn>
  auto let_go(Microseconds now_us, HandOn hand_on) {
    return [this, now_us, hand_on](const Packet& packet) {
      busy_until_us_ = std::max(busy_until_us_, now_us) + packet_us_;
      hand_on(busy_until_us_, packet);
    };
  }

  void set_timer(Microseconds now_us) {
    const Milliseconds event_ms = queue_.next_event_ms();
    wake_up_us_ =
        event_ms == never ? never : now_us + (event_ms - whole_ms(now_us)) * 1000 + lateness_us_;
  }

  Queue queue_;
  Inbox inbox_{};
  Microseconds packet_us_;
  Lateness lateness_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next timer
  Microseconds wake_up_us_ = never;
  Microseconds busy_until_us_ = 0;
};

}  // namespace kneepoint
