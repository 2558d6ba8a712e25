// Swift against Algorithm 1 and section 3.5 of Kumar et al., SIGCOMM 2020.
#include <cmath>

#include "tests/bottleneck.hh"
#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-9;

// The scaling adds 5 base targets at a tenth of a packet and none at 100 packets, in proportion to
// 1/sqrt(window).
double target_ms(double min_ms, double window, double base_ms = 25) {
  const double share = (1 / std::sqrt(window) - 0.1) / (std::sqrt(10) - 0.1);
  return min_ms + base_ms * (1 + 5 * std::min(std::max(share, 0.0), 1.0));
}

// A flow after an acknowledgment with an RTT of 100 ms.
Clocked begun(double window, Parameters::Values more = {}) {
  more.insert({"initial_window", window});
  Clocked flow("swift", more);
  flow.ack(100);
  return flow;
}

}  // namespace

TEST(swift_adds_a_packet_a_round_trip_below_its_scaled_target) {
  for (const double window : {2.0, 16.0, 99.0, 150.0}) {
    for (const double ai : {0.5, 1.0}) {
      Clocked flow = begun(window, {{"ai", ai}});
      const double before = flow.window();
      EXPECT_NEAR(before, window + ai / window, exact);
      const double target = target_ms(100, before);
      EXPECT_NEAR(flow.ack(target - 0.01, 3), before + 3 * ai / before, exact);
      EXPECT_EQUAL(flow.ack(target + 0.01) < before + 3 * ai / before, true);
    }
  }
}

TEST(swift_decreases_by_the_excess_at_most_by_half_once_a_round_trip) {
  const auto share = [](double rtt_ms, Parameters::Values more = {}) {
    Clocked flow = begun(100, more);
    const double before = flow.window();
    return flow.ack(rtt_ms, 1, 150) / before;
  };
  EXPECT_NEAR(share(150), 1 - 0.8 * 25 / 150, 1e-4);
  EXPECT_NEAR(share(150, {{"beta", 0.4}}), 1 - 0.4 * 25 / 150, 1e-4);
  EXPECT_NEAR(share(150, {{"target_ms", 40}}), 1 - 0.8 * 10 / 150, 1e-4);
  EXPECT_NEAR(share(1000), 0.5, exact);
  EXPECT_NEAR(share(1000, {{"max_mdf", 0.2}}), 0.8, exact);
  Clocked flow = begun(100);
  const double once = flow.ack(400, 1, 400);
  EXPECT_NEAR(flow.ack(400, 1, 399), once, exact);
  EXPECT_NEAR(flow.lose(), once, exact);
  EXPECT_NEAR(flow.ack(400, 1, 1.001), once / 2, exact);
}

TEST(swift_halves_at_a_loss_and_shrinks_to_its_minimum_after_consecutive_timeouts) {
  Clocked flow = begun(100);
  const double before = flow.window();
  EXPECT_NEAR(flow.lose(), before / 2, exact);
  for (int i = 0; i < 3; ++i) {
    flow.wait(101);
    flow.lose(Loss::Kind::timed_out);
  }
  EXPECT_NEAR(flow.window(), before / 16, exact);
  flow.ack(100);  // the next timeouts are not consecutive
  const double after = flow.window();
  flow.wait(101);
  for (int i = 0; i < 4; ++i) flow.keepalive();
  EXPECT_NEAR(flow.window(), after / 2, exact);
  EXPECT_EQUAL(flow.keepalive(), 1);
  EXPECT_NEAR(flow.pacing_us(), 100e3 / 0.01, 1);
  EXPECT_NEAR(flow.ack(100, 1, 1000), 1.01, exact);  // grows by a packet, not by 1/window
}

TEST(swift_restarts_its_count_of_timeouts_after_a_fast_recovery) {
  Clocked flow = begun(100);
  const double before = flow.window();
  for (const auto kind : {Loss::Kind::timed_out, Loss::Kind::timed_out, Loss::Kind::timed_out,
                          Loss::Kind::timed_out, Loss::Kind::lost, Loss::Kind::timed_out}) {
    flow.wait(101);
    flow.lose(kind);
  }
  EXPECT_NEAR(flow.pacing_us(), 0, exact);
  EXPECT_NEAR(flow.window(), before / 64, exact);
}

TEST(swift_paces_less_than_a_packet) {
  Clocked flow = begun(1, {{"beta", 1}});
  EXPECT_NEAR(flow.ack(1000, 1, 1001), 1, exact);
  EXPECT_EQUAL(flow.pacing_us(), 0);
  for (const double window : {0.5, 0.25, 0.125}) {
    flow.ack(510, 1, 1001);
    EXPECT_NEAR(flow.pacing_us(), 510e3 / window, exact);
    flow.wait(511);
    flow.keepalive();
    EXPECT_NEAR(flow.pacing_us(), 510e3 / window, exact);  // the pause of pacing is no timeout
  }
  flow.ack(2000, 1, 2001);
  flow.ack(2000, 1, 2001);
  EXPECT_EQUAL(flow.pacing_us(), 10e6);
  // Below a tenth of a packet the target stays at 100 + 25 x 6 ms.
  flow.ack(260, 1, 2001);
  const double window = flow.ack(202, 1, 1000);
  EXPECT_NEAR(window, 1 + 0.03125 * (1 - 10 / 260.0),
              exact);  // grows by a packet, then by 1/window
  EXPECT_NEAR(flow.ack(160, 1, 1000), window + 1 / window, exact);
}

TEST(swift_takes_a_silence_beyond_its_pause_for_a_timeout) {
  Clocked flow = begun(1);
  double window = flow.window();
  for (int i = 0; i < 3; ++i) {
    flow.wait(101);
    flow.keepalive();
    window /= 2;
  }
  EXPECT_NEAR(flow.pacing_us(), 100e3 / window, exact);  // less than the keepalive interval
}

TEST(swift_forgets_a_min_rtt_of_ten_minutes_ago) {
  for (const double minutes : {9.9, 10.1}) {
    Clocked flow = begun(100);
    const double before = flow.window();
    EXPECT_EQUAL(flow.ack(200, 1, minutes * 60e3) > before, minutes > 10);
  }
}

TEST(swift_keeps_its_target_on_a_link) {
  for (const double target : {25.0, 60.0}) {
    Bottleneck link("swift", {{"target_ms", target}}, 500, 100);
    link.run_until(20);
    const auto before = static_cast<double>(link.delivered());
    double max = 0;
    for (int i = 0; i < 1000; ++i) {
      link.run_until(20 + 0.01 * i);
      max = std::max(max, link.queue() / 500 * 1e3);
    }
    // The queue exceeds its target by the packets that a round trip adds.
    EXPECT_NEAR(max, target_ms(0, link.window(), target), 3 * 2 + 1);
    EXPECT_NEAR(static_cast<double>(link.delivered()) - before, 500 * 9.99, 50);
  }
}
