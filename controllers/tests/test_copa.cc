// Copa against Arun and Balakrishnan, NSDI 2018, sections 2 and 3.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/bottleneck.hh"
#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-9;

// A flow past slow start, with a min RTT of 100 ms and a window of 11 - 2/11. Acknowledgments are
// so far apart that each alone gives the standing RTT.
Clocked past_slow_start(Parameters::Values more = {}) {
  more.insert({"initial_window", 10});
  Clocked flow("copa", more);
  flow.ack(100);
  flow.ack(200, 1, 150);
  return flow;
}

// With an acknowledgment each 25 ms: the index of the first acknowledgment that moves the window by
// `moves` packets per window, or `most`.
int first_move(Clocked& flow, double moves, int max) {
  for (int i = 0; i < max; ++i) {
    const double before = flow.window();
    if (std::abs(std::abs(flow.ack(200, 1, 25) - before) * before - moves) < 1e-6) return i;
  }
  return max;
}

}  // namespace

TEST(copa_doubles_in_slow_start_until_its_rate_is_above_the_target) {
  Clocked flow("copa", {{"initial_window", 10}});
  EXPECT_NEAR(flow.ack(100), 11, exact);
  EXPECT_NEAR(flow.ack(100, 2), 13, exact);
  // The rate, 13 / 120 ms, is above the target, 1/(.5 x 20 ms).
  EXPECT_NEAR(flow.ack(120, 1, 150), 13 - 2 / 13.0, exact);
}

TEST(copa_steps_towards_the_rate_that_its_queueing_delay_allows) {
  Clocked flow = past_slow_start();
  const double before = 11 - 2 / 11.0;
  EXPECT_NEAR(flow.window(), before, exact);
  // cwnd/RTT <= 1/(delta dq) for dq <= RTT/(delta cwnd): 10.818 x .5 x dq <= 100 + dq up to 22.68.
  Clocked below = past_slow_start();
  EXPECT_NEAR(below.ack(122.5, 1, 150), before + 2 / before, exact);
  Clocked above = past_slow_start();
  EXPECT_NEAR(above.ack(122.8, 1, 150), before - 2 / before, exact);
  Clocked more = past_slow_start({{"delta", 0.25}});
  // Half the delta doubles the step, 11 - 4/11, and the limit is 60.3.
  EXPECT_NEAR(more.window(), 11 - 4 / 11.0, exact);
  EXPECT_NEAR(more.ack(160, 2, 150), 11 - 4 / 11.0 + 8 / (11 - 4 / 11.0), exact);
}

TEST(copa_has_a_standing_rtt_of_half_a_round_trip) {
  const auto standing = [](double gap_ms) {
    Clocked flow("copa", {{"initial_window", 10}});
    for (int i = 0; i < 50; ++i) flow.ack(100, 1, 100);
    flow.ack(110, 1, gap_ms);
    return flow.pacing_us() * 2 * flow.window() / 1000;
  };
  EXPECT_NEAR(standing(50), 100, 1e-6);
  EXPECT_NEAR(standing(51), 110, 1e-6);  // srtt is 101.25
}

TEST(copa_forgets_a_min_rtt_of_ten_seconds_ago) {
  const auto step = [](double seconds) {
    Clocked flow = past_slow_start({{"competitive", 0}});
    const double before = flow.window();
    return flow.ack(200, 1, seconds * 1000 - 150) - before;
  };
  EXPECT_EQUAL(step(9.99) < 0, true);
  EXPECT_EQUAL(step(10.01) > 0, true);  // 200 ms is the min RTT
}

TEST(copa_paces_twice_a_window_in_a_standing_rtt) {
  Clocked flow("copa", {{"initial_window", 10}});
  EXPECT_EQUAL(flow.pacing_us(), 0);
  flow.ack(100);
  EXPECT_NEAR(flow.pacing_us(), 100'000 / 22.0, exact);
}

TEST(copa_doubles_its_velocity_after_three_rounds_in_one_direction) {
  Clocked flow = past_slow_start();
  // With 1 ms of queueing delay the window grows towards 202 packets.
  double last = flow.window();
  std::vector<double> steps;
  for (int i = 0; i < 8; ++i) {
    const double window = flow.round(101);
    steps.push_back((window - last) / 2);
    last = window;
  }
  // Three round trips add 1/delta packets each; then the velocity doubles in each round trip.
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(steps[i], 1, 0.15);
  EXPECT_NEAR(steps[3], 2, 0.1);
  EXPECT_NEAR(steps[4], 4, 0.2);
  EXPECT_NEAR(steps[5], 8, 0.5);
  // The velocity returns to one when the direction changes.
  flow.round(400);
  flow.round(400);
  const double before = flow.window();
  EXPECT_NEAR((flow.ack(400) - before) * before / 2, -1, 1e-6);
}

TEST(copa_moves_by_one_over_delta_in_a_round_trip_while_its_window_is_smaller) {
  Clocked flow("copa", {{"initial_window", 60}, {"delta", 0.02}, {"competitive", 0}});
  flow.ack(100);
  flow.ack(10'000, 1, 5000);  // above its target of 50.5
  flow.lose(Loss::Kind::timed_out);
  for (int i = 0; i < 8; ++i) {
    flow.skip(flow.flight() - 1);
    const double before = flow.window();
    EXPECT_NEAR(flow.ack(100, 1, 1000) - before, 1 / (0.02 * before), exact);
  }
}

TEST(copa_keeps_its_queue_below_two_and_a_half_over_delta) {
  // Section 3: the queue goes from empty to 2.5/delta packets in a cycle of five round trips.
  for (const double delta : {0.5, 0.1}) {
    Bottleneck link("copa", {{"delta", delta}, {"competitive", 0}}, 500, 100);
    link.run_until(11);
    const uint64_t before = link.delivered();
    double max = 0;
    double mean = 0;
    double min = 1e9;
    for (int i = 0; i < 3000; ++i) {
      link.run_until(11 + 0.01 * i);
      max = std::max(max, link.queue());
      mean += link.queue() / 3000;
      min = std::min(min, link.queue());
    }
    EXPECT_EQUAL(max < 2.7 / delta, true);
    EXPECT_NEAR(mean, 1.25 / delta, 0.5 / delta);
    EXPECT_EQUAL(min < 0.5 / delta, true);
    EXPECT_NEAR(static_cast<double>(link.delivered() - before) / 500 / 29.99, 1, 0.03);
  }
}

TEST(copa_competes_where_the_queue_is_never_nearly_empty) {
  // From 5 s on other flows keep 80 ms in the queue, and Copa's own packets 20 ms: the window is
  // 200 ms at the rate 1/(delta x 80 ms), which is 2.5/delta. After five round trips of 200 ms,
  // 1/delta, which was 2, grows by one in each round trip without a loss.
  const auto window_at = [](double end_s, double competitive, bool loses, int lost_at = -1) {
    Bottleneck link("copa", {{"competitive", competitive}}, 5000, 100);
    link.run_until(5);
    link.set_rtt(180);
    double sum = 0;
    for (int i = 0; i < 100; ++i) {
      link.run_until(5 + (end_s - 5) * (i + 1) / 100);
      if (loses or i == lost_at) {
        link.controller().on_loss(
            {.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 1});
      }
      if (i >= 80) sum += link.window() / 20;
    }
    return sum;
  };
  EXPECT_NEAR(window_at(12, 0, false), 4.5, 1);
  EXPECT_NEAR(window_at(12, 1, true), 4.5, 1);
  // The mean over the last fifth of the time is the window a tenth before the end.
  for (const double end_s : {8.0, 10.0, 12.0, 14.0}) {
    EXPECT_NEAR(window_at(end_s, 1, false), 2.5 * (3 + 0.9 * (end_s - 5) / 0.2 - 5), 0.7);
  }
  // A loss halves 1/delta, at 11.4 s or at the end of this round trip.
  const double lost = (3 + 6.4 / 0.2 - 5) / 2;
  EXPECT_NEAR(window_at(14, 1, false, 70), 2.5 * (lost + 1.7 / 0.2), 2.5);
}

TEST(copa_is_alone_if_a_delay_is_below_a_tenth_of_the_longest_of_four_round_trips) {
  // The longest RTT is 200 ms, or was 300 ms `ago` acknowledgments ago; the smoothed RTT has become
  // 190 ms.
  struct Case {
    double longest_ms;
    int ago;
    double rtt_ms;
    bool is_alone;
  };
  for (const auto& [longest_ms, ago, rtt_ms, is_alone] : {Case{200, 1, 109, true},
                                                          {200, 1, 111, false},
                                                          {300, 28, 115, true},
                                                          {300, 34, 115, false}}) {
    Clocked flow = past_slow_start();
    first_move(flow, 3, 100);
    flow.ack(longest_ms, 1, 25);
    for (int i = 1; i < ago; ++i) flow.ack(200, 1, 25);
    flow.ack(rtt_ms, 1, 25);
    EXPECT_EQUAL(first_move(flow, 2, 36) < 36, is_alone);
  }
}

TEST(copa_begins_with_two_packets_after_a_timeout) {
  Clocked flow = past_slow_start();
  const double before = flow.window();
  EXPECT_EQUAL(flow.lose(), before);
  EXPECT_EQUAL(flow.lose(Loss::Kind::timed_out), 2);
  EXPECT_EQUAL(flow.ack(900, 1, 900), 3);  // below the target of 2.25 packets: up by 1/(.5 x 2)
}
