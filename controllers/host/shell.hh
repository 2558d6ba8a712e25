// A process of the emulated host around a queue: when it wakes, what it hands on, at what cost.
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
  // When the run ends. Packets handled before `ahead_until_us` cannot reach that end at once; those
  // read from `deaf_from_us` on are not handled, because the queue's observers must not see them.
  struct End {
    Microseconds ahead_until_us;
    Microseconds deaf_from_us = never;
  };

  // Args:
  //   next_event_us: its place in the agenda.
  Shell(Microseconds& next_event_us, Queue queue, const HostModel& host, Lateness lateness, End end)
      : agenda_us_(next_event_us),
        queue_(std::move(queue)),
        device_(static_cast<size_t>(host.device_packets), std::llround(host.read_us),
                lateness.waits()),
        packet_us_(std::llround(host.packet_us)),
        lateness_(lateness),
        end_(end) {
    settle();
  }

  // Packets go to this hop, `latency_us` later; it must outlive the shell.
  void connect(Next& next, Microseconds latency_us) {
    next_ = &next;
    latency_us_ = latency_us;
  }

  Queue& queue() { return queue_; }
  const Queue& queue() const { return queue_; }

  // What found the device full; the queue counts its own drops.
  uint64_t packets_dropped() const { return packets_dropped_; }

  [[gnu::always_inline]] void arrive(Microseconds time_us, const Packet& packet) override {
    // Packets come in order, so nothing but the timer can happen here before this one arrives.
    if (time_us < agenda_us_ and device_.join_if_room(time_us)) [[likely]] {
      const Milliseconds now_ms = whole_ms(time_us);
      if (not queue_.delivers_at(now_ms)) [[likely]] {
        queue_.enqueue(packet, now_ms);
        set_timer(time_us, now_ms);
        agenda_us_ = wake_up_us_;  // the inbox is empty
      } else {
        handle_arrival(time_us, packet);
      }
    } else {
      arrive_in_turn(time_us, packet);
    }
  }

  [[gnu::always_inline]] void act(Microseconds now_us) override {
    if (inbox_.next_us() <= now_us) [[unlikely]] {
      const Packet packet = inbox_.pop();
      handle_arrival(now_us, packet);
      return;
    }
    act_on_timer(now_us);
  }

 private:
  [[gnu::always_inline]] void act_on_timer(Microseconds now_us) {
    begin_to_act();
    const Milliseconds now_ms = whole_ms(now_us);
    queue_.advance(now_ms, hand_on(now_us));
    lateness_us_ = lateness_.draw_timer();
    set_timer(now_us, now_ms);
    settle();
  }

  [[gnu::noinline]] void arrive_in_turn(Microseconds time_us, const Packet& packet) {
    if (not device_.has_room(time_us)) {
      ++packets_dropped_;
      return;
    }
    const Microseconds read_us = lateness_.read_time(time_us);
    device_.join(read_us);
    if (read_us >= end_.deaf_from_us) return;
    // All earlier events here are known and need not wait for their turn.
    if (may_act_ahead(read_us)) {
      while (wake_up_us_ < read_us and inbox_.empty()) act_on_timer(wake_up_us_);
    }
    // A packet that comes back while we are forwarding also waits.
    if (is_acting()) {
      inbox_.push(read_us, packet);
    } else if (read_us < next_event_us()) {
      handle_arrival(read_us, packet);
    } else {
      inbox_.push(read_us, packet);
      settle();
    }
  }

  // If handling a packet costs no time, simultaneous events happen in the agenda's order.
  bool may_act_ahead(Microseconds until_us) const {
    return not is_acting() and packet_us_ > 0 and
           std::max(until_us, busy_until_us_) < end_.ahead_until_us;
  }

  [[gnu::noinline]] void handle_arrival(Microseconds now_us, const Packet& packet) {
    begin_to_act();
    const Milliseconds now_ms = whole_ms(now_us);
    queue_.enqueue(packet, now_ms, hand_on(now_us));
    set_timer(now_us, now_ms);
    settle();
  }

  auto hand_on(Microseconds now_us) {
    return [this, now_us](const Packet& packet) __attribute__((always_inline)) {
      busy_until_us_ = std::max(busy_until_us_, now_us) + packet_us_;
      next_->arrive(busy_until_us_ + latency_us_, packet);
    };
  }

  void set_timer(Microseconds now_us, Milliseconds now_ms) {
    wake_up_us_ = now_us + (queue_.next_event_ms() - now_ms) * 1000 + lateness_us_;
  }

  Microseconds next_event_us() const { return std::min(inbox_.next_us(), wake_up_us_); }

  // Until it has settled, nothing is handled.
  void begin_to_act() { agenda_us_ = acting_; }
  bool is_acting() const { return agenda_us_ == acting_; }
  void settle() { agenda_us_ = next_event_us(); }

  static constexpr Microseconds acting_ = -1;  // before any arrival

  Microseconds& agenda_us_;
  Queue queue_;
  DeviceQueue device_;
  uint64_t packets_dropped_ = 0;
  Inbox inbox_{};
  Microseconds packet_us_;
  Microseconds latency_us_ = 0;
  Next* next_ = nullptr;
  Lateness lateness_;
  End end_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next timer
  Microseconds wake_up_us_ = never;
  Microseconds busy_until_us_ = 0;
};

}  // namespace kneepoint
