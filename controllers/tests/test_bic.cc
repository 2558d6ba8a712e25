// BIC's steps in Linux (net/ipv4/tcp_bic.c) and in section III of the paper.
#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-9;

// The increase at `window`, in packets per round trip, after a loss at 1024 packets left 819.
double step_at(double window, Parameters::Values more = {}) {
  more.insert({{"initial_window", 1024}, {"initial_ssthresh", 2}});
  Clocked flow("bic", more);
  flow.lose();
  while (flow.window() < window) flow.ack(100);
  const double before = flow.window();
  return (flow.ack(100) - before) * before;
}

}  // namespace

TEST(bic_leaves_four_fifths_and_searches_by_quarters) {
  Clocked flow("bic", {{"initial_window", 1024}, {"initial_ssthresh", 2}});
  EXPECT_NEAR(flow.lose(), 819, exact);
  EXPECT_NEAR(flow.ack(100), 819 + 16 / 819.0,
              exact);                     // a quarter of the distance, 205, exceeds Smax
  EXPECT_NEAR(step_at(970), 13.5, 0.02);  // a quarter of 54
  EXPECT_NEAR(step_at(1000), 6, 0.02);
  EXPECT_NEAR(step_at(1018), 1.5, 0.02);
  EXPECT_NEAR(step_at(1021), 0.2, exact);  // the last four packets in 20 rounds
  EXPECT_NEAR(step_at(1025), 0.2, exact);
  EXPECT_NEAR(step_at(1030), 2, 0.02);  // a third of the distance beyond the maximum
  EXPECT_NEAR(step_at(1060), 12, 0.02);
  EXPECT_NEAR(step_at(1071), 47 / 3.0, 0.02);
  EXPECT_NEAR(step_at(1073), 16, exact);
}

TEST(bic_can_search_by_halves_as_its_paper_does) {
  const Parameters::Values paper{{"halves", 1}, {"max_increment", 32}, {"beta", 0.875}};
  EXPECT_NEAR(step_at(896, paper), 32, exact);  // half of the distance, 128, exceeds Smax
  EXPECT_NEAR(step_at(984, paper), 20, 0.02);
  EXPECT_NEAR(step_at(1022, paper), 1, 0.02);
  EXPECT_NEAR(step_at(1024 - 0.021, paper), 0.01, 0.001);  // never below Smin
  EXPECT_NEAR(step_at(1024.5, paper), 1, exact);  // beyond the maximum by 1, 2, 4 and so on
  EXPECT_NEAR(step_at(1026, paper), 2, exact);
  EXPECT_NEAR(step_at(1027.1, paper), 4, exact);
  EXPECT_NEAR(step_at(1040, paper), 16, exact);
  EXPECT_NEAR(step_at(1110, paper), 32, exact);
  Parameters::Values faster = paper;
  faster["min_increment"] = 1;
  EXPECT_NEAR(step_at(1023.5, faster), 1, exact);
}

TEST(bic_is_reno_up_to_fourteen_packets) {
  Clocked flow("bic", {{"initial_window", 13.95}, {"initial_ssthresh", 2}});
  EXPECT_NEAR(flow.ack(100), 13.95 + 1 / 13.95, exact);
  const double before = flow.window();
  EXPECT_EQUAL(before > 14, true);
  EXPECT_NEAR(flow.ack(100), before + before / 3 / before, exact);  // no maximum is known
  Clocked small("bic", {{"initial_window", 14}, {"initial_ssthresh", 2}});
  EXPECT_NEAR(small.lose(), 7, exact);
  EXPECT_NEAR(small.lose(), 3.5, exact);
  EXPECT_NEAR(small.lose(), 2, exact);
}

TEST(bic_grows_by_a_twentieth_at_least_before_its_first_loss) {
  const auto step = [](double window) {
    Clocked flow("bic", {{"initial_window", window}, {"initial_ssthresh", 2}});
    return (flow.ack(100) - window) * window;
  };
  EXPECT_NEAR(step(30), 10, exact);
  EXPECT_NEAR(step(200), 16, exact);
  EXPECT_NEAR(step(600), 30, exact);
}

TEST(bic_has_fast_convergence) {
  // After losses at 1024 and 819 packets the maximum is 819 (1 + .8) / 2 = 737, and not 819.
  const auto step = [](double fast_convergence) {
    Clocked flow("bic", {{"initial_window", 1024},
                         {"initial_ssthresh", 2},
                         {"fast_convergence", fast_convergence}});
    flow.lose();
    flow.lose();
    while (flow.window() < 735) flow.ack(100);
    const double before = flow.window();
    return (flow.ack(100) - before) * before;
  };
  EXPECT_NEAR(step(1), 0.2, exact);  // the maximum, 737.0, is less than four packets above
  EXPECT_NEAR(step(0), 16, exact);
}

TEST(bic_forgets_its_maximum_at_a_timeout) {
  Clocked flow("bic", {{"initial_window", 100}});
  flow.lose();
  EXPECT_NEAR(flow.keepalive(), 1, exact);
  EXPECT_NEAR(flow.ack(100, 3), 4, exact);  // slow start
  EXPECT_NEAR(flow.ack(100, 100), 80 * 819 / 1024.0 - 0.0, 1);
  const double before = flow.window();
  EXPECT_NEAR((flow.ack(100) - before) * before, 16, exact);
}

TEST(bic_halts_in_a_recovery_and_where_its_window_bounds_nothing) {
  Clocked flow("bic", {{"initial_window", 20}});
  flow.is_recovering = true;
  EXPECT_EQUAL(flow.ack(100), 20);
  flow.is_recovering = false;
  flow.is_cwnd_limited = false;
  EXPECT_EQUAL(flow.ack(100), 20);
}
