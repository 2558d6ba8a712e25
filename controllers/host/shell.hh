// A process of the emulated host around a queue: its wake-ups, its forwarding, their costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/block_queue.hh"
#include "host/host_model.hh"
#include "host/process.hh"
#include "links/releases.hh"
#include "transport/packet.hh"

namespace kneepoint {

// A packet in flight between two processes, and its time of arrival.
struct Arrival {
  Microseconds time_us = 0;
  Packet packet{};
};

// Packets about to arrive at a process, in order.
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
  bool empty() const { return arrivals_.empty(); }

 private:
  BlockQueue<Arrival> arrivals_{};
  Microseconds next_us_ = never;
};

// Where packets wait until a shell reads them: the queue of its TUN device. Packets that find it
// full are lost silently.
class DeviceQueue {
 public:
  // Without scheduling delays a shell reads a packet at once, or after the packets before it.
  DeviceQueue(size_t capacity_packets, Microseconds read_us, bool waits)
      : waits_(waits),
        read_us_(read_us),
        read_all_us_(capacity_packets == 0 ? never
                                           : static_cast<Microseconds>(capacity_packets) * read_us),
        read_at_once_us_(waits ? -never : read_all_us_),
        read_times_us_(waits ? capacity_packets : 0) {}

  // There is room if the packet `capacity_packets` places ahead has been read.
  bool has_room(Microseconds time_us) const {
    if (not waits_) return busy_until_us_ - time_us <= read_all_us_;
    return read_times_us_.empty() or read_times_us_[next_] <= time_us;
  }

  // A packet joins that an idle shell would read at `time_us`.
  void join(Microseconds time_us) {
    const Microseconds begin_us = std::max(busy_until_us_, time_us);
    busy_until_us_ = begin_us + read_us_;
    if (read_times_us_.empty()) return;
    read_times_us_[next_] = begin_us;
    if (++next_ == read_times_us_.size()) next_ = 0;
  }

  // Both in one, for a shell without scheduling delays; always false for one with them.
  bool join_if_room(Microseconds time_us) {
    if (busy_until_us_ - time_us > read_at_once_us_) return false;
    busy_until_us_ = std::max(busy_until_us_, time_us) + read_us_;
    return true;
  }

 private:
  bool waits_;
  Microseconds read_us_;
  Microseconds read_all_us_;      // a full queue, without waits
  Microseconds read_at_once_us_;  // the same for one that does not wait
  Microseconds busy_until_us_ = 0;
  std::vector<Microseconds> read_times_us_;  // with waits, of the last packets, in a circle
  size_t next_ = 0;
};

// A Link or a DelayLine in a mahimahi shell's event loop.
//
// The time to read a packet decides only what the shell's device drops: packet_us, which was
// fitted, covers all delay of a packet.
//
// The loop wakes for an arriving packet, and for the queue's next event after a poll(2) of whole
// milliseconds: last wake-up + (event's millisecond - last wake-up's millisecond) + lateness.
//
// Next is the hop to which its packets go; if that is one class, no virtual call is needed.
template <class Queue, class Next>
class Shell final : public Process {
 public:
  // Args:
  //   next_event_us: its place in the agenda.
  //   deaf_from_us: packets read from then on are not handled, because the queue's observers must
  //   not see them.
  Shell(Microseconds& next_event_us, Queue queue, const HostModel& host, Lateness lateness,
        Microseconds deaf_from_us = never)
      : agenda_us_(next_event_us),
        queue_(std::move(queue)),
        device_(static_cast<size_t>(host.device_packets), std::llround(host.read_us),
                lateness.waits()),
        packet_us_(std::llround(host.packet_us)),
        lateness_(lateness),
        deaf_from_us_(deaf_from_us) {
    agenda_us_ = never;
  }

  // Packets go to this hop, `latency_us` later; it must outlive the shell.
  void connect(Next& next, Microseconds latency_us) {
    next_ = &next;
    latency_us_ = latency_us;
  }

  Queue& queue() { return queue_; }
  const Queue& queue() const { return queue_; }

  [[gnu::always_inline]] void arrive(Microseconds time_us, const Packet& packet) override {
    arrive(time_us, packet, [](Packet&) {});
  }

  // The same for a copy of the packet after change(copy). It is changed where it waits: a processor
  // stalls where a packet is read whole soon after parts of it were written.
  template <class Change>
  [[gnu::always_inline]] void arrive(Microseconds time_us, const Packet& packet,
                                     const Change& change) {
    if (time_us >= ahead_from_us_ and device_.join_if_room(time_us)) [[likely]] {
      change(queue_.decide(packet, time_us, whole_ms(time_us)));
    } else {
      Packet changed = packet;
      change(changed);
      arrive_in_order(time_us, changed);
    }
  }

  [[gnu::always_inline]] void act(Microseconds now_us) override {
    begin_to_act();
    wake(now_us);
    settle();
  }

  void finish(Microseconds, Traffic& traffic) override {
    traffic.packets_dropped += packets_dropped_ + queue_.packets_dropped();
  }

  // Whether it can: where all that arrives joins the queue at once.
  bool takes_turns() const { return queue_.decides_on_arrival(); }

  // A turn: acts on all before `known_us`, until when all arrivals are known. What arrives
  // meanwhile waits for the next turn. Returns until when the next hop now knows all of its own.
  [[gnu::always_inline]] Microseconds act_until(Microseconds known_us) {
    begin_to_act();
    ahead_from_us_ = 0;
    release_until(known_us);
    const Microseconds due_us = queue_.next_event_us();  // nothing leaves before
    if (due_us != beyond_us) known_us = std::max(known_us, due_us);
    return known_us + packet_us_ + latency_us_;
  }

  // What is here does not leave before.
  Microseconds earliest_us() const { return queue_.next_event_us(); }

  // From now on it acts when the agenda says so.
  void end_turns() {
    ahead_from_us_ = never;
    settle();
  }

 private:
  // The same as waking again and again, where all that arrives is in the queue.
  [[gnu::always_inline]] void release_until(Microseconds known_us) {
    Releases& releases = queue_.releases();
    Microseconds woke_us = woke_us_;
    Microseconds lateness_us = lateness_us_;
    Microseconds busy_until_us = busy_until_us_;
    // What comes before anything is due only restarts the poll.
    for (Microseconds due_us; (due_us = releases.next_us()) < known_us;) {
      woke_us = releases.see_until(due_us, woke_us);
      const Microseconds timer_us = due_us + rest_us(woke_us) + lateness_us;
      const Microseconds arrival_us = releases.next_arrival_us();
      const Microseconds now_us = std::min(arrival_us, timer_us);
      if (now_us >= known_us) break;
      busy_until_us = std::max(busy_until_us, now_us);
      releases.release(now_us, [&](const Packet& packet) __attribute__((always_inline)) {
        busy_until_us += packet_us_;
        next_->arrive(busy_until_us + latency_us_, packet);
      });
      if (arrival_us == now_us) {
        releases.see_arrival();
      } else {
        lateness_us = lateness_.draw_timer();
      }
      woke_us = now_us;
    }
    woke_us_ = releases.see_until(known_us, woke_us);
    lateness_us_ = lateness_us;
    busy_until_us_ = busy_until_us;
  }

  // By an arrival or by the timer.
  [[gnu::always_inline]] void wake(Microseconds now_us) {
    const Milliseconds now_ms = whole_ms(now_us);
    woke_us_ = now_us;
    if (queue_.releases().next_arrival_us() <= now_us) {
      queue_.releases().see_arrival();
      queue_.advance(now_ms, hand_on(now_us));
    } else if (inbox_.next_us() <= now_us) [[unlikely]] {
      const Packet packet = inbox_.pop();
      queue_.enqueue(packet, now_ms, hand_on(now_us));
    } else {
      queue_.advance(now_ms, hand_on(now_us));
      lateness_us_ = lateness_.draw_timer();
    }
  }

  // Out of turns, or where packets wait to be read or find the device full.
  [[gnu::noinline]] void arrive_in_order(Microseconds time_us, const Packet& packet) {
    Microseconds read_us = time_us;
    if (not device_.join_if_room(time_us)) [[unlikely]] {
      if (not device_.has_room(time_us)) {
        ++packets_dropped_;
        return;
      }
      read_us = lateness_.read_time(time_us);
      device_.join(read_us);
      if (read_us >= deaf_from_us_) return;
    }
    if (read_us < agenda_us_) {  // packets come in order: nothing but this can happen here before
      woke_us_ = read_us;
      const Milliseconds now_ms = whole_ms(read_us);
      if (queue_.decides_on_arrival() and queue_.next_event_us() > read_us) [[likely]] {
        queue_.decide(packet, read_us, now_ms);
        queue_.releases().see_arrival();
        set_timer();
        agenda_us_ = wake_up_us_;  // all have arrived
      } else {
        begin_to_act();
        queue_.enqueue(packet, now_ms, hand_on(read_us));
        settle();
      }
    } else if (queue_.decides_on_arrival()) {
      queue_.decide(packet, read_us, whole_ms(read_us));
    } else {
      inbox_.push(read_us, packet);
    }
  }

  auto hand_on(Microseconds now_us) {
    return [this, now_us](const Packet packet) __attribute__((always_inline)) {
      busy_until_us_ = std::max(busy_until_us_, now_us) + packet_us_;
      next_->arrive(busy_until_us_ + latency_us_, packet);
    };
  }

  void set_timer() { wake_up_us_ = queue_.next_event_us() + rest_us(woke_us_) + lateness_us_; }
  Microseconds next_arrival_us() {
    return std::min(queue_.releases().next_arrival_us(), inbox_.next_us());
  }
  Microseconds next_event_us() { return std::min(next_arrival_us(), wake_up_us_); }
  static Microseconds rest_us(Microseconds time_us) { return time_us - whole_ms(time_us) * 1000; }
  void settle() {
    set_timer();
    agenda_us_ = next_event_us();
  }
  void begin_to_act() { agenda_us_ = acting_; }

  static constexpr Microseconds acting_ = -1;  // before any arrival

  Microseconds& agenda_us_;
  Microseconds ahead_from_us_ = never;  // arrivals from then on join the queue ahead of their turn
  Queue queue_;
  DeviceQueue device_;
  uint64_t packets_dropped_ = 0;  // found the device full
  Inbox inbox_{};                 // of what joins the queue in its turn
  Microseconds packet_us_;
  Microseconds latency_us_ = 0;
  Next* next_ = nullptr;
  Lateness lateness_;
  Microseconds deaf_from_us_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next timer
  Microseconds woke_us_ = 0;                           // the last time
  Microseconds wake_up_us_ = never;                    // the next time
  Microseconds busy_until_us_ = 0;
};

}  // namespace kneepoint
