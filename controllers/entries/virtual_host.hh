// An entry's host: clocks, sleeps and one UDP socket in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>

#include "common/random.hh"
#include "entries/messages.hh"

namespace kneepoint {

// The entry's own clock advances with its actions: each reading of a clock and each datagram takes
// some time. When the entry must know which datagrams have arrived, or waits, it is the emulator's
// turn.
class VirtualHost {
 public:
  // `hand_over` reports to the emulator, and returns with its order. Both must outlive the host.
  VirtualHost(EntryMessages& messages, std::function<void()> hand_over);

  // The first order has come.
  void begin();

  // A reading takes 50 ns; otherwise loops that wait for a time would never end.
  int64_t read_clock_ns();
  // CPU time used: 1 to 20 us between two readings, because entries divide by it.
  int64_t read_cpu_clock_ns();

  void sleep_until(int64_t time_ns);

  struct Readiness {
    bool readable;
    bool writable;
  };
  // Waits as poll(2) does. A socket can always be written to; a limit below 0 is no limit.
  Readiness wait(bool for_reading, bool for_writing, int64_t limit_ns);

  void send(std::span<const std::byte> first_bytes, size_t bytes);

  struct Received {
    int64_t arrived_ns;
    size_t bytes;
    EntryMessages::Header header;
  };
  // Nothing if no datagram arrives in time; a limit below 0 is no limit.
  std::optional<Received> receive(int64_t limit_ns);
  std::optional<Received> peek() const;

  // A program's randomness from its host.
  Random& random() { return random_; }

  // Ends this entry's part of the run. Does not return if the emulator ends the process.
  void end();

 private:
  void spend(int64_t time_ns) { clock_ns_ += time_ns; }
  bool can_read();
  void ask(EntryMessages::Wish wish, int64_t wakes_ns);
  void take_order();

  EntryMessages& messages_;
  std::function<void()> hand_over_;
  Random random_{0};
  int64_t clock_ns_ = 0;
  int64_t cpu_ns_ = 0;
  int64_t sent_ns_ = 0;         // when the last datagram began to leave
  bool has_just_sent_ = false;  // and no acknowledgment read since
  int64_t known_until_ns_ = 0;
  int64_t lateness_ns_ = 0;
  int64_t packet_ns_ = 0;
  int64_t end_ns_ = EntryMessages::never_ns;
  uint32_t departures_ = 0;
  std::deque<Received> inbox_{};
  std::deque<int64_t> readable_ns_{};  // when each datagram of the inbox is readable
};

}  // namespace kneepoint
