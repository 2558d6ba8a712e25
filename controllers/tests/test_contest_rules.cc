// Rules of contest reports, stepped through acknowledgments worked by hand.

#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-9;

}  // namespace

TEST(dalida_scales_its_steps_by_the_average_over_the_target) {
  Clocked flow("dalida", {});
  EXPECT_EQUAL(flow.window(), 60);
  EXPECT_EQUAL(flow.keepalive_ms(), 50);
  // a = 100, T = 150: up by 1.5 (150/100)/60.
  EXPECT_NEAR(flow.ack(100), 60 + 1.5 * 1.5 / 60, exact);
  EXPECT_EQUAL(flow.keepalive_ms(), 100);  // the least RTT
  // a = 20 + 88 = 108, v = .6 x 2 = 1.2, below T by far.
  double before = flow.window();
  EXPECT_NEAR(flow.ack(110), before + 1.5 * (150 / 108.0) / 60, exact);
  // a = 21.6 + 112 = 133.6, v = .48 + .6 x 6.4 = 4.32: 142.24 < 150.
  before = flow.window();
  EXPECT_NEAR(flow.ack(140), before + 1.5 * (150 / 133.6) / 60, exact);
  // a = 26.72 + 118.4 = 145.12, v = 1.728 + .6 x 2.88 = 3.456: 152.032 > 150, down by 3 (a/T)/60.
  before = flow.window();
  EXPECT_NEAR(flow.ack(148), before - 3 * (145.12 / 150) / 60, exact);
  before = flow.window();
  EXPECT_NEAR(flow.keepalive(), 0.9 * before, exact);
  Clocked small("dalida", {{"initial_window", 2.1}});
  EXPECT_EQUAL(small.keepalive(), 2);
  small.ack(100);
  EXPECT_EQUAL(small.ack(10'000), 2);
}

TEST(dalida_steps_by_the_integer_part_of_the_window) {
  Clocked flow("dalida", {{"initial_window", 10.9}});
  EXPECT_NEAR(flow.ack(100), 10.9 + 2.25 / 10, exact);
}
