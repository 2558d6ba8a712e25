// A process of the emulated host around a queue: its wake-ups, its forwarding, their costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/host_model.hh"
#include "host/process.hh"
#include "links/timed_packets.hh"
#include "transport/packet.hh"

namespace kneepoint {

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
template <class Queue>
class Shell final : public Process {
 public:
  // Args:
  //   next_event_us: its place in the agenda.
  //   ahead_until_us: before then it may handle an arrival before its turn.
  //   deaf_from_us: packets read from then on are not handled, because the queue's observers must
  //   not see them.
  Shell(Microseconds& next_event_us, const Microseconds& ahead_until_us, Queue queue,
        const HostModel& host, Lateness lateness, Microseconds deaf_from_us = never)
      : agenda_us_(next_event_us),
        ahead_until_us_(ahead_until_us),
        queue_(std::move(queue)),
        device_(static_cast<size_t>(host.device_packets), std::llround(host.read_us),
                lateness.waits()),
        packet_us_(std::llround(host.packet_us)),
        lateness_(lateness),
        deaf_from_us_(deaf_from_us) {
    agenda_us_ = never;
  }

  // Packets go to this hop, `latency_us` later; it must outlive the shell.
  void connect(Hop& next, Microseconds latency_us) {
    next_ = &next;
    latency_us_ = latency_us;
  }

  Queue& queue() { return queue_; }
  const Queue& queue() const { return queue_; }

  void arrive(Microseconds time_us, const Packet& packet) override {
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
    // Packets come in order: nothing happens here before.
    if (read_us < agenda_us_ or
        (read_us == agenda_us_ and inbox_.empty() and read_us < ahead_until_us_)) [[likely]] {
      read(packet, read_us);
    } else {
      inbox_.push(read_us, packet);
    }
  }

  void act(Microseconds now_us) override {
    if (inbox_.next_us() <= now_us) [[unlikely]] {
      const Packet packet = inbox_.pop();
      read(packet, now_us);
    } else {
      const Milliseconds now_ms = whole_ms(now_us);
      forward(now_us, now_ms);
      lateness_us_ = lateness_.draw_timer();
      poll(now_us, now_ms);
    }
  }

  void finish(Microseconds, Traffic& traffic) override {
    traffic.packets_dropped += packets_dropped_ + queue_.packets_dropped();
  }

 private:
  [[gnu::always_inline]] void read(const Packet& packet, Microseconds now_us) {
    const Milliseconds now_ms = whole_ms(now_us);
    if (queue_.next_event_us() <= now_us) [[unlikely]]
      forward_late(now_us, now_ms);
    queue_.enqueue(packet, now_ms);
    if (queue_.next_event_us() <= now_us) [[unlikely]]  // without any delay
      forward_late(now_us, now_ms);
    poll(now_us, now_ms);
  }

  [[gnu::always_inline]] void forward(Microseconds now_us, Milliseconds now_ms) {
    agenda_us_ = acting_;
    busy_until_us_ = std::max(busy_until_us_, now_us);
    queue_.advance(now_ms, [this](const Packet& packet) __attribute__((always_inline)) {
      busy_until_us_ += packet_us_;
      next_->arrive(busy_until_us_ + latency_us_, packet);
    });
  }

  // Before the timer, as an arrival happens to wake it.
  [[gnu::noinline]] void forward_late(Microseconds now_us, Milliseconds now_ms) {
    forward(now_us, now_ms);
  }

  // Until the queue's next event.
  void poll(Microseconds now_us, Milliseconds now_ms) {
    const Microseconds timer_us = queue_.next_event_us() + now_us - now_ms * 1000 + lateness_us_;
    agenda_us_ = std::min(inbox_.next_us(), timer_us);
  }

  static constexpr Microseconds acting_ = -1;  // before any arrival

  Microseconds& agenda_us_;
  const Microseconds& ahead_until_us_;
  Queue queue_;
  DeviceQueue device_;
  uint64_t packets_dropped_ = 0;  // found the device full
  TimedPackets inbox_{};
  Microseconds packet_us_;
  Microseconds latency_us_ = 0;
  Hop* next_ = nullptr;
  Lateness lateness_;
  Microseconds deaf_from_us_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next timer
  Microseconds busy_until_us_ = 0;
};

}  // namespace kneepoint
