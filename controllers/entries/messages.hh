// The messages between the emulator and an entry's process, in virtual time.
//
// Each message is a packet in a pipe: the kernel copies it, so that nothing can change it
// afterwards, and its reader sleeps until it comes. An entry that could see an answer arrive while
// it computes would have a clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kneepoint {

// Times are nanoseconds of virtual time.
struct EntryMessages {
  // Where an entry's process finds the ends of its pipes.
  static constexpr int reports_descriptor = 29;
  static constexpr int orders_descriptor = 30;
  static constexpr size_t header_bytes = 48;
  static constexpr size_t max_datagrams = 29;  // that one message carries
  static constexpr int64_t never_ns = std::numeric_limits<int64_t>::max();

  using Header = std::array<std::byte, header_bytes>;  // all of a datagram that is not padding

  // A datagram for the entry.
  struct Arrival {
    int64_t arrived_ns;   // the kernel's time
    int64_t readable_ns;  // when the process, once awake, can read it
    Header header;
  };

  // A datagram of the entry.
  struct Departure {
    int64_t clock_ns;
    uint64_t bytes;
    Header header;
  };

  // The emulator's message. Only the used part of the array is sent.
  struct Order {
    int64_t known_until_ns;  // all datagrams readable by then have been handed over
    int64_t lateness_ns;     // of the entry's next timer
    int64_t packet_ns;       // the time to send one datagram
    int64_t start_ns;
    int64_t end_ns;
    uint64_t seed;
    uint32_t arrival_bytes;
    uint32_t arrivals;
    std::array<Arrival, max_datagrams> arrival;
  };

  // What an entry waits for; `know` asks for all datagrams readable by its clock's time.
  enum Wish : uint32_t {
    know,     // the emulator's answer alone
    arrival,  // a datagram, or until wakes_ns
    sleep,    // until wakes_ns
    end,      // nothing: it has ended
  };

  // The entry's message, which may say anything.
  struct Report {
    int64_t clock_ns;
    int64_t wakes_ns;
    uint32_t wish;
    uint32_t departures;
    std::array<Departure, max_datagrams> departure;
  };

  Order order;
  Report report;
};
// A packet in a pipe is no longer than a page.
static_assert(sizeof(EntryMessages::Order) <= 4096 and sizeof(EntryMessages::Report) <= 4096);

// Called by an entry's process: reports, and sleeps until the next order. Returns false if no order
// comes.
bool report_and_hear(EntryMessages& messages);

// Called by the emulator. Returns false if the pipe is full of unread orders.
bool send_order(int descriptor, const EntryMessages::Order& order);
// Reads the next report, which has no more departures than were received; other missing values are
// 0.
void take_report(int descriptor, EntryMessages::Report& report);

}  // namespace kneepoint
