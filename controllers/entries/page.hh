// The one page of memory that the emulator shares with an entry's process.
//
// An entry may write anything into it. The emulator copies each value once, and only
// then checks it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kneepoint {

// Times on the page are nanoseconds of virtual time.
struct EntryPage {
  // Where an entry's process finds its page, and in real time its socket.
  static constexpr int descriptor = 3;
  static constexpr int socket_descriptor = 4;
  static constexpr size_t header_bytes = 48;
  static constexpr size_t most_datagrams = 29;  // that one turn carries in each direction
  static constexpr int64_t never_ns = std::numeric_limits<int64_t>::max();

  using Header = std::array<std::byte, header_bytes>;  // all of a datagram that is not padding

  enum Turn : uint32_t { emulators, entrys };

  // A datagram for the entry.
  struct Arrival {
    int64_t arrived_ns;   // the kernel's time
    int64_t readable_ns;  // when the process, which was asleep, gets to it
    Header header;
  };

  // One of the entry's.
  struct Departure {
    int64_t clock_ns;
    uint64_t bytes;
    Header header;
  };

  // The emulator's message.
  struct Order {
    int64_t known_until_ns;  // all that is readable until then has been handed over
    int64_t lateness_ns;     // of the entry's next timer
    int64_t packet_ns;       // that sending one datagram takes
    int64_t start_ns;
    int64_t end_ns;
    uint64_t seed;
    uint32_t arrival_bytes;
    uint32_t arrivals;
    std::array<Arrival, most_datagrams> arrival;
  };

  // What an entry waits for.
  enum Wish : uint32_t {
    know,     // all that is readable until its clock's time
    arrival,  // a datagram, or until wakes_ns
    sleep,    // until wakes_ns
    end,      // nothing any more
  };

  // The entry's message.
  struct Report {
    int64_t clock_ns;
    int64_t wakes_ns;
    uint32_t wish;
    uint32_t departures;
    std::array<Departure, most_datagrams> departure;
  };

  std::atomic<uint32_t> turn;
  std::array<std::atomic<uint32_t>, 2> sleeps;  // whether a side must be woken for its turn
  int32_t denied_call;                          // the system call that ended the entry; -1: none
  // In real time, where there are no turns: what each of its datagrams must have, and their
  // numbers.
  uint64_t datagram_bytes;  // 0: this is virtual time
  std::atomic<uint64_t> sent;
  std::atomic<uint64_t> received;
  Order order;
  Report report;
};
static_assert(sizeof(EntryPage) <= 4096);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// Gives the turn to the other side.
void give_turn(EntryPage& page, EntryPage::Turn to);

// Waits until it is `mine`, or for `limit` where that is not 0. Returns whether it is.
bool await_turn(EntryPage& page, EntryPage::Turn mine, std::chrono::microseconds limit);

}  // namespace kneepoint
