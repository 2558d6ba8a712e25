#include <algorithm>
#include <memory>

#include "host/rate_link.hh"
#include "tests/check.hh"

using namespace kneepoint;

namespace {

// Serves flow 1 first.
class PriorityQueue final : public PacketQueue {
 public:
  void enqueue(const Packet& packet, Microseconds now_us) override {
    push(packet.flow == 1 ? first_ : others_, packet, now_us);
  }
  const Packet* dequeue(Microseconds) override {
    return empty() ? nullptr : &pop(first_.empty() ? others_ : first_);
  }
  Microseconds oldest_us() const override {
    return std::min(first_.oldest_us(), others_.oldest_us());
  }

 private:
  Fifo first_{};
  Fifo others_{};
};

// The far end of an observed link.
struct FarEnd final : Hop {
  void arrive(Microseconds, const Packet& packet) override {
    ++packets;
    in_time += whole_ms(packet.queued_us) >= meter.settled_ms();
  }

  Meter meter{};
  int packets = 0;
  int in_time = 0;
};

}  // namespace

// While a packet is in transit a second arrives, and, a millisecond later, a third that overtakes
// the second. From 2^18 departures on the meter settles the times before the oldest packet that
// waits or is in transit.
TEST(a_packet_in_transit_is_not_settled_before_it_departs) {
  FarEnd far_end;
  far_end.meter.start();
  Microseconds next_event_us = never;
  const double mbps = datagram_bytes * 8 / 4000.0;  // a packet takes 4 ms
  RateLink link(next_event_us, mbps, false, std::make_unique<PriorityQueue>(), far_end);
  link.observe(&far_end.meter);
  constexpr int periods = 300'000;
  for (Microseconds period = 0; period < periods; ++period) {
    for (const uint16_t k : {uint16_t{0}, uint16_t{2}, uint16_t{1}}) {
      const Microseconds arrival_us = period * 16'000 + (k == 0 ? 0 : k == 2 ? 1000 : 2000);
      while (next_event_us <= arrival_us) link.act(next_event_us);
      Packet packet;
      packet.flow = k;
      link.arrive(arrival_us, packet);
    }
  }
  while (next_event_us != never) link.act(next_event_us);
  EXPECT_EQUAL(far_end.packets, 3 * periods);
  EXPECT_EQUAL(far_end.meter.settled_ms() > 0, true);
  EXPECT_EQUAL(far_end.in_time, far_end.packets);
}
