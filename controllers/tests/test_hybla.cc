// Hybla against its definition: rho = RTT/RTT0, and per acknowledgment 2^rho - 1 or rho^2/cwnd.
#include <cmath>

#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-9;

}  // namespace

TEST(hybla_is_reno_up_to_its_reference_rtt) {
  Clocked flow("hybla", {{"initial_window", 10}, {"initial_ssthresh", 12}});
  EXPECT_NEAR(flow.ack(25), 11, exact);
  EXPECT_NEAR(flow.ack(10), 12, exact);
  EXPECT_NEAR(flow.ack(10), 12 + 1 / 12.0, exact);
}

TEST(hybla_grows_as_a_short_connection_would) {
  // 75 ms are three times RTT0: 2^3 - 1 = 7 in slow start, 9/cwnd after it.
  Clocked flow("hybla", {{"initial_window", 10}, {"initial_ssthresh", 20}});
  EXPECT_NEAR(flow.ack(75), 17, exact);
  EXPECT_NEAR(flow.ack(75), 20, exact);  // up to ssthresh
  EXPECT_NEAR(flow.ack(75), 20 + 9 / 20.0, exact);
  Clocked fraction("hybla", {{"initial_window", 10}});
  EXPECT_NEAR(fraction.ack(40), 10 + std::pow(2, 1.6) - 1, exact);
  EXPECT_NEAR(fraction.ack(40, 2), 10 + 3 * (std::pow(2, 1.6) - 1), exact);
  Clocked other("hybla", {{"initial_window", 10}, {"rtt0_ms", 20}});
  EXPECT_NEAR(other.ack(40), 13, exact);
}

// Linux's hybla_init: the initial window is rho.
TEST(hybla_begins_with_rho_packets) {
  Clocked flow("hybla", {});
  EXPECT_NEAR(flow.window(), 1, exact);
  EXPECT_NEAR(flow.ack(75), 3 + 7, exact);
  EXPECT_NEAR(flow.ack(75), 10 + 7, exact);
  Clocked near("hybla", {});
  EXPECT_NEAR(near.ack(10), 2, exact);
}

TEST(hybla_is_reno_until_it_has_measured_an_rtt) {
  Clocked flow("hybla", {{"initial_window", 10}, {"initial_ssthresh", 12}});
  flow.is_tcp = true;
  EXPECT_NEAR(flow.ack(Clocked::unmeasured), 11, exact);
  EXPECT_NEAR(flow.ack(Clocked::unmeasured), 12, exact);
  EXPECT_NEAR(flow.ack(Clocked::unmeasured), 12 + 1 / 12.0, exact);
}

TEST(hybla_bounds_the_exponent_of_slow_start) {
  Clocked flow("hybla", {{"initial_window", 10}});
  EXPECT_NEAR(flow.ack(500), 20 + 65535, exact);  // Linux: 16 at a rho of 20
}

TEST(hybla_follows_the_minimum_or_the_present_smoothed_rtt) {
  const auto step = [](double follow_rtt) {
    Clocked flow("hybla",
                 {{"initial_window", 10}, {"initial_ssthresh", 2}, {"follow_rtt", follow_rtt}});
    flow.ack(50);
    const double before = flow.window();
    return (flow.ack(250) - before) * before;
  };
  EXPECT_NEAR(step(0), 4, 1e-9);
  EXPECT_NEAR(step(1), 9, 1e-9);  // 7/8 of 50 and 1/8 of 250 are 75
  Clocked flow("hybla", {{"initial_window", 10}, {"initial_ssthresh", 2}});
  flow.ack(100);
  const double before = flow.window();
  EXPECT_NEAR((flow.ack(60) - before) * before, 3.8 * 3.8, 1e-9);  // srtt 95
}

TEST(hybla_halves_at_a_loss) {
  Clocked flow("hybla", {{"initial_window", 10}});
  EXPECT_NEAR(flow.lose(), 5, exact);
  flow.is_recovering = true;
  EXPECT_NEAR(flow.ack(75), 5, exact);
  flow.is_recovering = false;
  EXPECT_NEAR(flow.ack(75), 5 + 9 / 5.0, exact);
  EXPECT_NEAR(flow.lose(Loss::Kind::timed_out), 1, exact);
  EXPECT_NEAR(flow.ack(75), 3.4, exact);  // slow start up to half of 6.8
  EXPECT_NEAR(flow.lose(), 2, exact);
  EXPECT_NEAR(flow.keepalive(), 1, exact);
}
