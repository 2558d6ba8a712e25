// A process of the emulated host around a queue: its wake-ups, its forwarding, their costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "host/host_model.hh"
#include "host/process.hh"
#include "links/timed_packets.hh"
#include "transport/packet.hh"

namespace kneepoint {

// A device is the queue of a shell's TUN device, where packets wait until the shell reads them.
// Packets that find it full are lost silently.

// The device of a shell that reads a packet at once, or after the packets before it.
class PromptDevice {
 public:
  // A capacity of 0 is no limit.
  PromptDevice(size_t capacity_packets, Microseconds read_us)
      : read_us_(read_us),
        read_all_us_(
            capacity_packets == 0 ? never : static_cast<Microseconds>(capacity_packets) * read_us) {
  }

  // Returns whether a packet finds room.
  bool join(Microseconds time_us) {
    if (busy_until_us_ - time_us > read_all_us_) return false;
    busy_until_us_ = std::max(busy_until_us_, time_us) + read_us_;
    return true;
  }

 private:
  Microseconds read_us_;
  Microseconds read_all_us_;  // of a full queue
  Microseconds busy_until_us_ = 0;
};

// The device of a shell that waits for the processor before it reads.
class LateDevice {
 public:
  LateDevice(size_t capacity_packets, Microseconds read_us)
      : read_us_(read_us), read_times_us_(capacity_packets) {}

  // Returns when a packet is read; nothing if it finds no room. There is room once the packet
  // `capacity_packets` places ahead has been read.
  std::optional<Microseconds> join(Microseconds time_us, Lateness& lateness) {
    const bool is_bounded = not read_times_us_.empty();
    if (is_bounded and read_times_us_[next_] > time_us) return std::nullopt;
    const Microseconds awake_us = lateness.read_time(time_us);
    const Microseconds begin_us = std::max(busy_until_us_, awake_us);
    busy_until_us_ = begin_us + read_us_;
    if (is_bounded) {
      read_times_us_[next_] = begin_us;
      if (++next_ == read_times_us_.size()) next_ = 0;
    }
    return awake_us;
  }

 private:
  Microseconds read_us_;
  Microseconds busy_until_us_ = 0;
  std::vector<Microseconds> read_times_us_;  // of the last packets, in a ring
  size_t next_ = 0;
};

// A Link or a DelayLine in a mahimahi shell's event loop.
//
// The time to read a packet decides only which packets the shell's device drops: packet_us, which
// was fitted, covers the whole delay of a packet.
//
// The loop wakes for an arriving packet, and for the queue's next event after a poll(2) of whole
// milliseconds: last wake-up + (event's millisecond - last wake-up's millisecond) + lateness.
template <class Queue>
class Shell final : public Process {
 public:
  // Args:
  //   next_event_us: the shell's place in the agenda.
  // ignore_from_us: a shell that waits leaves out packets that it would read from this time on, so
  // that the observers of the queue do not see them.
  Shell(Microseconds& next_event_us, Queue queue, const HostModel& host, Lateness lateness,
        Microseconds ignore_from_us)
      : agenda_us_(next_event_us),
        queue_(std::move(queue)),
        device_(device_of(host, lateness)),
        packet_us_(std::llround(host.packet_us)),
        lateness_(lateness),
        ignore_from_us_(ignore_from_us) {
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
    if (auto* const device = std::get_if<PromptDevice>(&device_)) [[likely]] {
      if (device->join(time_us)) [[likely]] {
        take(packet, time_us);
      } else {
        ++packets_dropped_;
      }
    } else {
      arrive_late(time_us, packet);
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
  using Device = std::variant<PromptDevice, LateDevice>;

  static Device device_of(const HostModel& host, const Lateness& lateness) {
    const auto capacity_packets = static_cast<size_t>(host.device_packets);
    const Microseconds read_us = std::llround(host.read_us);
    if (lateness.waits()) return LateDevice(capacity_packets, read_us);
    return PromptDevice(capacity_packets, read_us);
  }

  [[gnu::noinline]] void arrive_late(Microseconds time_us, const Packet& packet) {
    const auto read_us = std::get<LateDevice>(device_).join(time_us, lateness_);
    if (not read_us) {
      ++packets_dropped_;
    } else if (*read_us < ignore_from_us_) {
      take(packet, *read_us);
    }
  }

  // Reads a packet now or later. Packets come in order: if no event is planned before `read_us`,
  // the packet can be read at once.
  [[gnu::always_inline]] void take(const Packet& packet, Microseconds read_us) {
    if (read_us < agenda_us_) [[likely]] {
      read(packet, read_us);
    } else {
      inbox_.push(read_us, packet);
    }
  }

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
    agenda_us_ = now_us;  // packets that arrive meanwhile wait
    busy_until_us_ = std::max(busy_until_us_, now_us);
    queue_.advance(now_ms, [this](const Packet& packet) __attribute__((always_inline)) {
      busy_until_us_ += packet_us_;
      next_->arrive(busy_until_us_ + latency_us_, packet);
    });
  }

  // Before the timer, because an arrival has woken the loop.
  [[gnu::noinline]] void forward_late(Microseconds now_us, Milliseconds now_ms) {
    forward(now_us, now_ms);
  }

  // Sleeps until the queue's next event.
  void poll(Microseconds now_us, Milliseconds now_ms) {
    const Microseconds timer_us = queue_.next_event_us() + now_us - now_ms * 1000 + lateness_us_;
    agenda_us_ = std::min(inbox_.next_us(), timer_us);
  }

  Microseconds& agenda_us_;
  Queue queue_;
  Device device_;
  uint64_t packets_dropped_ = 0;  // found the device full
  TimedPackets inbox_{};
  Microseconds packet_us_;
  Microseconds latency_us_ = 0;
  Hop* next_ = nullptr;
  Lateness lateness_;
  Microseconds ignore_from_us_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next timer
  Microseconds busy_until_us_ = 0;
};

}  // namespace kneepoint
