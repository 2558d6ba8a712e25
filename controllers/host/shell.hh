// A process of the emulated host around a queue: when it wakes, what it hands on, at what cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/ring.hh"
#include "host/host_model.hh"
#include "host/process.hh"
#include "transport/packet.hh"

namespace kneepoint {

// A packet on its way between two processes, and when it gets there.
struct Arrival {
  Microseconds time_us = 0;
  Packet packet{};
};

// Packets that are about to arrive at a process, which come in order.
class Inbox {
 public:
  void push(Microseconds time_us, const Packet& packet) {
    Arrival& arrival = arrivals_.push();
    arrival.time_us = time_us;
    arrival.packet = packet;
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

// Where packets wait until a shell reads them: the queue of its TUN device. What finds it full is
// lost, and nobody is told.
class DeviceQueue {
 public:
  // Without waits for the processor a shell reads what arrives at once, or after what came before.
  DeviceQueue(size_t capacity_packets, Microseconds read_us, bool waits)
      : read_times_us_(waits ? capacity_packets : 0),
        read_us_(read_us),
        read_all_us_(waits or capacity_packets == 0
                         ? never
                         : static_cast<Microseconds>(capacity_packets) * read_us) {}

  // For the packet that as many places ahead as the queue has must have been read.
  bool has_room(Microseconds time_us) const {
    if (read_times_us_.empty()) return busy_until_us_ - time_us <= read_all_us_;
    return read_times_us_[next_] <= time_us;
  }

  // A packet joins that the shell, were it idle, would read at `time_us`.
  void join(Microseconds time_us) {
    const Microseconds begin_us = std::max(busy_until_us_, time_us);
    busy_until_us_ = begin_us + read_us_;
    if (read_times_us_.empty()) return;
    read_times_us_[next_] = begin_us;
    if (++next_ == read_times_us_.size()) next_ = 0;
  }

 private:
  std::vector<Microseconds> read_times_us_;  // of the last packets, in a circle
  size_t next_ = 0;
  Microseconds read_us_;
  Microseconds read_all_us_;  // a full queue, without waits
  Microseconds busy_until_us_ = 0;
};

// A Link or a DelayLine in a mahimahi shell's event loop.
//
// Reading costs the shell time that decides what its device loses, and nothing else: packet_us,
// which was fitted, has what a packet loses on its way.
//
// The loop wakes for an arriving packet, and for the queue's next event after a poll(2) of whole
// milliseconds: last wake-up + (event's millisecond - last wake-up's millisecond) + lateness.
template <class Queue>
class Shell final : public Process {
 public:
  // Args:
  //   next_event_us: its place in the agenda.
  //   end_us: an arrival that is read then or later is no longer handled, for the queue's observers
  //     must not hear of it.
  Shell(Microseconds& next_event_us, Queue queue, const HostModel& host, Lateness lateness,
        Microseconds end_us = never)
      : agenda_us_(next_event_us),
        queue_(std::move(queue)),
        device_(static_cast<size_t>(host.device_packets), std::llround(host.read_us),
                lateness.waits()),
        packet_us_(std::llround(host.packet_us)),
        lateness_(lateness),
        end_us_(end_us),
        free_end_us_(lateness.waits() ? 0 : end_us) {
    settle();
  }

  // Packets go to this hop, `latency_us` later; it must outlive the shell.
  void connect(Hop& next, Microseconds latency_us) {
    next_ = &next;
    latency_us_ = latency_us;
  }

  Queue& queue() { return queue_; }
  const Queue& queue() const { return queue_; }

  // What found the device full; the queue counts its own drops.
  uint64_t packets_dropped() const { return packets_dropped_; }

  void arrive(Microseconds time_us, const Packet& packet) override {
    // Packets come in order, so nothing but the timer can happen here before this one arrives.
    if (time_us < free_until_us_ and device_.has_room(time_us)) [[likely]] {
      device_.join(time_us);
      handle_arrival(time_us, packet);
    } else {
      arrive_in_turn(time_us, packet);
    }
  }

  void act(Microseconds now_us) override {
    if (inbox_.next_us() <= now_us) {
      const Packet packet = inbox_.pop();
      handle_arrival(now_us, packet);
      return;
    }
    begin_to_act();
    const Milliseconds now_ms = whole_ms(now_us);
    queue_.advance(now_ms, hand_on(now_us));
    lateness_us_ = lateness_.draw_timer();
    set_timer(now_us, now_ms);
  }

 private:
  [[gnu::noinline]] void arrive_in_turn(Microseconds time_us, const Packet& packet) {
    if (not device_.has_room(time_us)) {
      ++packets_dropped_;
      return;
    }
    const Microseconds read_us = lateness_.read_time(time_us);
    device_.join(read_us);
    // What comes back while we are just handing it on waits, too.
    if (not is_acting_ and read_us < std::min(next_event_us(), end_us_)) {
      handle_arrival(read_us, packet);
    } else {
      inbox_.push(read_us, packet);
      if (not is_acting_) settle();
    }
  }

  void handle_arrival(Microseconds now_us, const Packet& packet) {
    begin_to_act();
    const Milliseconds now_ms = whole_ms(now_us);
    queue_.enqueue(packet, now_ms, hand_on(now_us));
    set_timer(now_us, now_ms);
  }

  auto hand_on(Microseconds now_us) {
    return [this, now_us](const Packet& packet) {
      busy_until_us_ = std::max(busy_until_us_, now_us) + packet_us_;
      next_->arrive(busy_until_us_ + latency_us_, packet);
    };
  }

  void set_timer(Microseconds now_us, Milliseconds now_ms) {
    const Milliseconds event_ms = queue_.next_event_ms();
    wake_up_us_ = event_ms == never ? never : now_us + (event_ms - now_ms) * 1000 + lateness_us_;
    settle();
  }

  Microseconds next_event_us() const { return std::min(inbox_.next_us(), wake_up_us_); }

  void begin_to_act() {
    is_acting_ = true;
    free_until_us_ = 0;
  }
  void settle() {
    is_acting_ = false;
    agenda_us_ = next_event_us();
    free_until_us_ = std::min(agenda_us_, free_end_us_);
  }

  Microseconds& agenda_us_;
  // Before it an arrival is handled at once, if it need not wait for the processor.
  Microseconds free_until_us_ = 0;
  Queue queue_;
  DeviceQueue device_;
  uint64_t packets_dropped_ = 0;
  Inbox inbox_{};
  Microseconds packet_us_;
  Microseconds latency_us_ = 0;
  Hop* next_ = nullptr;
  Lateness lateness_;
  Microseconds end_us_;
  Microseconds free_end_us_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next timer
  Microseconds wake_up_us_ = never;
  Microseconds busy_until_us_ = 0;
  bool is_acting_ = false;
};

}  // namespace kneepoint
