#include <vector>

#include "common/input_file.hh"
#include "common/random.hh"
#include "links/delay_line.hh"
#include "links/link.hh"
#include "queues/registry.hh"
#include "tests/check.hh"
#include "tests/temporary_file.hh"

using namespace kneepoint;
using kneepoint::test::TemporaryFile;

namespace {

Packet datagram(uint64_t number, uint16_t bytes = datagram_bytes) {
  return {.sequence_number = number, .bytes = bytes};
}

// A link that records the packets of each call of advance().
struct LinkUnderTest {
  explicit LinkUnderTest(const Trace& trace, Link::AtEnd at_end = Link::AtEnd::stop)
      : link(trace, at_end, make_packet_queue("infinite", 0)) {}

  void enqueue(uint64_t number, Milliseconds now_ms, uint16_t bytes = datagram_bytes) {
    link.advance(now_ms, keep());
    link.enqueue(datagram(number, bytes), now_ms);
  }
  std::vector<uint64_t> advance(Milliseconds now_ms) {
    delivered.clear();
    link.advance(now_ms, keep());
    return delivered;
  }
  std::function<void(const Packet&)> keep() {
    return [this](const Packet& packet) { delivered.push_back(packet.sequence_number); };
  }

  Link link;
  std::vector<uint64_t> delivered{};
};

std::string text(const std::vector<uint64_t>& numbers) {
  std::string joined;
  for (const uint64_t number : numbers) joined += std::to_string(number) + " ";
  return joined;
}

// The events of a link's log, without the header that names files.
std::string events_of(const TemporaryFile& log) {
  const std::string text = read_file(log.path(), "log", 1 << 20);
  return text.substr(text.find("# base timestamp"));
}

}  // namespace

TEST(link_consumes_a_milliseconds_opportunities_before_its_arrivals) {
  const Trace trace("t", "5\n5\n6\n");
  LinkUnderTest t(trace);
  t.enqueue(0, 5);
  EXPECT_EQUAL(text(t.advance(5)), "");
  EXPECT_EQUAL(text(t.advance(6)), "0 ");
}

TEST(link_loses_an_opportunity_that_finds_no_packet) {
  const Trace trace("t", "1\n2\n3\n9\n");
  LinkUnderTest t(trace);
  t.enqueue(0, 4);
  EXPECT_EQUAL(t.link.next_event_us(), 9000);
  EXPECT_EQUAL(text(t.advance(8)), "");
  EXPECT_EQUAL(text(t.advance(9)), "0 ");
}

TEST(link_carries_a_packet_over_several_opportunities) {
  const Trace trace("t", "1\n2\n3\n");
  LinkUnderTest t(trace);
  t.enqueue(0, 0, 3008 - 8);
  EXPECT_EQUAL(text(t.advance(1)), "");
  EXPECT_EQUAL(text(t.advance(2)), "0 ");
}

TEST(link_carries_18_acknowledgments_and_a_part_of_the_19th_in_one_opportunity) {
  const Trace trace("t", "1\n2\n");
  LinkUnderTest t(trace);
  for (uint64_t i = 0; i < 20; ++i) t.enqueue(i, 0, acknowledgment_bytes);
  EXPECT_EQUAL(t.advance(1).size(), 18u);
  EXPECT_EQUAL(text(t.advance(2)), "18 19 ");
}

TEST(link_repeats_its_trace_shifted_by_the_last_time) {
  const Trace trace("t", "3\n10\n");
  LinkUnderTest t(trace, Link::AtEnd::repeat);
  t.advance(10);
  t.enqueue(0, 11);
  EXPECT_EQUAL(t.link.next_event_us(), 13000);
  t.advance(20);
  t.enqueue(1, 20);
  EXPECT_EQUAL(t.link.next_event_us(), 23000);
}

TEST(link_stops_after_its_trace) {
  const Trace trace("t", "3\n10\n");
  LinkUnderTest t(trace);
  t.enqueue(0, 10);
  EXPECT_EQUAL(t.link.next_event_us(), beyond_us);
  EXPECT_EQUAL(text(t.advance(1000)), "");
}

// Departures from an infinite queue are decided on arrival, departures from a bounded queue at each
// opportunity, even if the bound is never reached.
TEST(link_decides_departures_on_arrival_as_it_would_at_each_opportunity) {
  const Trace trace("t", "0\n3\n3\n4\n9\n9\n9\n30\n31\n");
  for (const auto at_end : {Link::AtEnd::stop, Link::AtEnd::repeat}) {
    Link decides(trace, at_end, make_packet_queue("infinite", 0));
    Link asks(trace, at_end, make_packet_queue("droptail:packets=100000", 0));
    Meter meters[2];
    for (Meter& meter : meters) meter.start();
    const TemporaryFile files[2];
    LinkLog decided(files[0].path(), "t", "", "");
    LinkLog asked(files[1].path(), "t", "", "");
    decides.observe(&meters[0], &decided, 500);
    asks.observe(&meters[1], &asked, 500);
    Random random(7);
    std::vector<uint64_t> delivered[2];
    uint64_t number = 0;
    for (Milliseconds now_ms = 0; now_ms <= 500; ++now_ms) {
      for (Link* const link : {&decides, &asks}) {
        link->advance(now_ms, [&](const Packet& packet) {
          delivered[link == &asks].push_back(packet.sequence_number * 1000 +
                                             static_cast<uint64_t>(now_ms));
        });
      }
      for (uint64_t burst = random.next() % 64 >> (random.next() % 8); burst > 0; --burst) {
        const uint16_t bytes = random.next() % 2 == 0 ? datagram_bytes : acknowledgment_bytes;
        decides.enqueue(datagram(number, bytes), now_ms);
        asks.enqueue(datagram(number, bytes), now_ms);
        ++number;
      }
      EXPECT_EQUAL(decides.next_event_us(), asks.next_event_us());
    }
    EXPECT_EQUAL(text(delivered[0]), text(delivered[1]));
    EXPECT_EQUAL(delivered[0].size() > 4, true);
    for (Link* const link : {&decides, &asks}) link->report();
    for (LinkLog* const log : {&decided, &asked}) log->finish();
    EXPECT_EQUAL(events_of(files[0]), events_of(files[1]));
    EXPECT_EQUAL(meters[0].metrics().signal_delay_p95_ms, meters[1].metrics().signal_delay_p95_ms);
    EXPECT_EQUAL(meters[0].metrics().capacity_mbps, meters[1].metrics().capacity_mbps);
    EXPECT_EQUAL(meters[0].metrics().throughput_mbps, meters[1].metrics().throughput_mbps);
  }
}

TEST(link_reports_every_opportunity_and_departure_to_its_meter) {
  const Trace trace("t", "0\n10\n20\n30\n");
  LinkUnderTest t(trace);
  Meter meter;
  meter.start();
  t.link.observe(&meter, nullptr, 30);
  t.enqueue(0, 4);
  t.enqueue(1, 5);
  t.advance(30);
  t.link.report();
  const Metrics metrics = meter.metrics();
  EXPECT_NEAR(metrics.throughput_mbps, 2 * 1504 * 8 / 30e3, 1e-12);
  EXPECT_NEAR(metrics.capacity_mbps, 4 * 1504 * 8 / 30e3, 1e-12);
  EXPECT_EQUAL(metrics.queueing_delay_p95_ms, 15);
}

TEST(delay_line_counts_whole_milliseconds_from_the_arrivals_millisecond) {
  DelayLine line(DelayTrace(20'000));
  std::vector<uint64_t> delivered;
  const auto keep = [&](const Packet& packet) { delivered.push_back(packet.sequence_number); };
  line.enqueue(datagram(0), 7);
  line.enqueue(datagram(1), 9);
  EXPECT_EQUAL(line.next_event_us(), 27000);
  line.advance(26, keep);
  EXPECT_EQUAL(delivered.size(), 0u);
  line.advance(28, keep);
  EXPECT_EQUAL(text(delivered), "0 ");
  line.advance(29, keep);
  EXPECT_EQUAL(text(delivered), "0 1 ");
}

TEST(delay_line_whose_delay_changes_keeps_the_order) {
  DelayLine line(DelayTrace::square(10'000, 20'000, 100'000));
  std::vector<uint64_t> delivered;
  const auto keep = [&](const Packet& packet) { delivered.push_back(packet.sequence_number); };
  const auto released_ms = [&](Milliseconds arrival_ms) {
    line.enqueue(datagram(0), arrival_ms);
    Milliseconds time_ms = arrival_ms;
    for (const size_t before = delivered.size(); delivered.size() == before; ++time_ms) {
      line.advance(time_ms + 1, keep);
    }
    return time_ms;
  };
  EXPECT_EQUAL(released_ms(0), 10);
  EXPECT_EQUAL(released_ms(49), 59);
  EXPECT_EQUAL(released_ms(70), 100);
  EXPECT_EQUAL(released_ms(110), 120);
  EXPECT_EQUAL(released_ms(160), 190);
  // A packet with the long delay holds back the packets after it.
  line.enqueue(datagram(1), 199);
  for (const Milliseconds arrival_ms : {200, 210, 225}) {
    line.enqueue(datagram(static_cast<uint64_t>(arrival_ms)), arrival_ms);
  }
  delivered.clear();
  line.advance(228, keep);
  EXPECT_EQUAL(text(delivered), "");
  line.advance(229, keep);
  EXPECT_EQUAL(text(delivered), "1 200 210 ");
  line.advance(235, keep);
  EXPECT_EQUAL(text(delivered), "1 200 210 225 ");
}
