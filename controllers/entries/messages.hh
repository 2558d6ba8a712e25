// What the emulator and an entry's process say to each other, in virtual time.
//
// Each message is a packet in a pipe: the kernel copies it once, so that nothing changes what was
// said, and who is to hear it sleeps until it comes. An entry that could see an answer while it
// computes would have a clock.
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
    int64_t readable_ns;  // when the process, which was asleep, gets to it
    Header header;
  };

  // One of the entry's.
  struct Departure {
    int64_t clock_ns;
    uint64_t bytes;
    Header header;
  };

  // The emulator's message. Of the array only what is used is sent.
  struct Order {
    int64_t known_until_ns;  // all that is readable until then has been handed over
    int64_t lateness_ns;     // of the entry's next timer
    int64_t packet_ns;       // that sending one datagram takes
    int64_t start_ns;
    int64_t end_ns;
    uint64_t seed;
    uint32_t arrival_bytes;
    uint32_t arrivals;
    std::array<Arrival, max_datagrams> arrival;
  };

  // What an entry waits for.
  enum Wish : uint32_t {
    know,     // all that is readable until its clock's time
    arrival,  // a datagram, or until wakes_ns
    sleep,    // until wakes_ns
    end,      // nothing any more
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

// By an entry's process: it reports, and sleeps until the next order. False if none comes.
bool report_and_hear(EntryMessages& messages);

// By the emulator. False if the pipe is full of orders that nobody has heard.
bool send_order(int descriptor, const EntryMessages::Order& order);
// The next report, which has no more departures than came; what else is lacking is 0.
void take_report(int descriptor, EntryMessages::Report& report);

}  // namespace kneepoint
