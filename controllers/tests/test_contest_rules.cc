// Controllers of contest reports, stepped through acknowledgments computed by hand.
#include <algorithm>
#include <cmath>

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
  EXPECT_EQUAL(flow.keepalive_ms(), 100);  // the min RTT
  // a = 20 + 88 = 108, v = .6 x 2 = 1.2, far below T.
  double before = flow.window();
  EXPECT_NEAR(flow.ack(110), before + 1.5 * (150 / 108.0) / 60, exact);
  // a = 21.6 + 112 = 133.6, v = .48 + .6 x 6.4 = 4.32: 142.24 < 150.
  before = flow.window();
  EXPECT_NEAR(flow.ack(140), before + 1.5 * (150 / 133.6) / 60, exact);
  // a = 26.72 + 112 = 138.72, v = 1.728 + .6 x 1.28 = 2.496: 143.712.
  before = flow.window();
  EXPECT_NEAR(flow.ack(140), before + 1.5 * (150 / 138.72) / 60, exact);
  // a = 27.744 + 118.4 = 146.144, v = .9984 + .6 x 1.856 = 2.112: 150.368 > 150, down by 3
  // (a/T)/60.
  before = flow.window();
  EXPECT_NEAR(flow.ack(148), before - 3 * (146.144 / 150) / 60, exact);
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

TEST(tensor_fairness_steps_by_the_square_of_the_distance) {
  Clocked flow("tensor_fairness", {});
  EXPECT_EQUAL(flow.keepalive_ms(), 60);
  // No queueing delay: up by .6 x 1.
  EXPECT_NEAR(flow.ack(50), 10.6, exact);
  EXPECT_EQUAL(flow.keepalive_ms(), 75);  // 1.5 times the min RTT
  // Half of the target of 18 ms: up by .6 / 4. The average is .1 x 10.6 + .9 x 10 = 10.06.
  EXPECT_NEAR(flow.ack(59), 10.75, exact);
  // At 18 ms the window returns to its average, .1 x 10.75 + .9 x 10.06 = 10.129.
  EXPECT_NEAR(flow.ack(68), 10.129, exact);
  // At its average it falls by .0125 x ((36 + 18)/18)^2.
  EXPECT_NEAR(flow.ack(86), 10.129 - 0.0125 * 9, exact);
}

TEST(tensor_fairness_grows_back_to_its_average_at_once) {
  Clocked flow("tensor_fairness", {});
  EXPECT_NEAR(flow.ack(50), 10.6, exact);
  EXPECT_NEAR(flow.keepalive(), 7.95, exact);
  // .1 ms below the target: the average, .1 x 7.95 + .9 x 10, exceeds any step.
  EXPECT_NEAR(flow.ack(67.9), 9.795, exact);
}

TEST(tensor_fairness_shrinks_once_in_300_ms_of_silence) {
  Clocked flow("tensor_fairness", {});
  EXPECT_NEAR(flow.keepalive(), 7.5, exact);
  flow.wait(299);
  EXPECT_NEAR(flow.keepalive(), 7.5, exact);
  flow.wait(1);
  EXPECT_NEAR(flow.keepalive(), 5.625, exact);
  for (int i = 0; i < 9; ++i) {
    flow.wait(300);
    flow.keepalive();
  }
  EXPECT_EQUAL(flow.window(), 1);
  Clocked small("tensor_fairness", {{"initial_window", 1}});
  small.ack(50);
  for (int i = 0; i < 20; ++i) small.ack(1000);
  EXPECT_EQUAL(small.window(), 1);
}

TEST(pid_adds_its_three_terms) {
  Clocked flow("pid", {{"kp", 4}, {"ki", 10}, {"kd", 0.05}, {"gain", 0}});
  // The error of 60 ms against 80 is 1/4, and its integral 0, since no time has passed.
  EXPECT_NEAR(flow.ack(60), 10 + 4 * 0.25, exact);
  // 100 ms later at 40 ms: the error is 1/2, its integral 10 x .5 x .1, its slope 2.5/s.
  EXPECT_NEAR(flow.ack(40, 1, 100), 10.5 + 4 * 0.5 + 0.05 * 2.5, exact);
  EXPECT_NEAR(flow.ack(80, 1, 100), 10.5 + 0 - 0.05 * 5, exact);
  EXPECT_EQUAL(flow.ack(4000, 1, 1000), 1);
  // The integral stops at the minimum window, 1, and at the maximum, 1,000.
  EXPECT_NEAR(flow.ack(80, 1, 1e9), 1, 1e-3);
  EXPECT_EQUAL(flow.ack(1, 1, 1e9), 1000);
  EXPECT_NEAR(flow.ack(100, 1, 1000), 1000 - 10 * 0.25 - 4 * 0.25, 0.1);
}

TEST(pid_can_smooth_the_rtt) {
  Clocked flow("pid", {{"kp", 4}, {"ki", 10}});
  flow.ack(80);
  EXPECT_NEAR(flow.ack(40, 1, 100), 10 + 10 * 0.25 * 0.1 + 4 * 0.25,
              exact);  // a smoothed RTT of 60 ms
}

TEST(rate_horizon_fills_its_horizon_at_the_rate_of_acks) {
  Clocked flow("rate_horizon", {});
  EXPECT_EQUAL(flow.window(), 10);
  // The initial rate is 10 packets in 60 ms. One packet more, filtered over 100 ms:
  double rate = (0.1 * 10 / 0.06 + 1) / 0.1;
  EXPECT_NEAR(flow.ack(50), rate * 0.06, exact);
  rate = (0.1 * rate + 2) / 0.15;
  EXPECT_NEAR(flow.ack(50, 2, 50), rate * 0.06, exact);
  EXPECT_EQUAL(flow.ack(50, 1, 10'000), 2);
  // One packet each 2 ms is 500 packets/s: 30 packets in 60 ms.
  for (int i = 0; i < 1000; ++i) flow.ack(50, 1, 2);
  EXPECT_NEAR(flow.window(), 30, 0.7);
}

TEST(rate_threshold_grows_below_its_threshold_and_shrinks_above) {
  Clocked flow("rate_threshold", {{"threshold_ms", 20},
                                  {"fall_share", 0.5},
                                  {"increase", 5},
                                  {"decrease", 0.01},
                                  {"lean", 0.99}});
  EXPECT_EQUAL(flow.window(), 20);
  EXPECT_NEAR(flow.ack(100, 1, 0), 20.25, exact);
  // Both rates double in the same millisecond. Queueing delay 8 ms: w = 20.25 + 5/20.25, times
  // .99^8.
  double w = 20.25 + 5 / 20.25;
  EXPECT_NEAR(flow.ack(108, 1, 0), w * std::pow(0.99, 8), exact);
  // 30 ms exceed the threshold at once.
  w -= 0.3;
  EXPECT_NEAR(flow.ack(130, 1, 0), w * std::pow(0.99, 30), exact);
  // No queueing delay counts as 15 ms: the envelope falls by half.
  w += 5 / w;
  EXPECT_NEAR(flow.ack(100, 1, 0), w * std::pow(0.99, 15), exact);
}

TEST(rate_threshold_bears_more_delay_at_more_than_its_usual_rate) {
  Clocked flow("rate_threshold",
               {{"span_s", 0.1}, {"usual_span_s", 1e9}, {"lean", 0.5}, {"rate_power", 1}});
  flow.ack(100, 1, 0);
  for (int i = 0; i < 1000; ++i) flow.ack(101, 1, 10);
  const double slow = flow.window();
  flow.ack(101, 1, 1);
  EXPECT_EQUAL(flow.window() > slow + 1, true);
}

TEST(rate_threshold_shrinks_by_a_part_on_silences_and_losses) {
  Clocked flow("rate_threshold", {{"silence_factor", 0.9}, {"loss_factor", 0.7}, {"increase", 4}});
  EXPECT_NEAR(flow.keepalive(), 18, exact);
  const double grown = 18 + 4 / 18.0;  // from the window after the silence
  EXPECT_NEAR(flow.ack(100), grown, exact);
  EXPECT_NEAR(flow.lose(), 0.7 * grown, exact);
  EXPECT_NEAR(flow.lose(Loss::Kind::timed_out), 0.7 * 0.7 * grown, exact);
  for (int i = 0; i < 20; ++i) flow.keepalive();
  EXPECT_EQUAL(flow.window(), 2);
  EXPECT_NEAR(flow.ack(100), 4, exact);
}

TEST(rate_threshold_keeps_between_2_and_600_packets) {
  Clocked wide("rate_threshold", {{"initial_window", 599.999}});
  EXPECT_EQUAL(wide.ack(100), 600);
  Clocked flow("rate_threshold", {{"initial_window", 3}, {"decrease", 0.1}});
  flow.ack(100);
  for (int i = 0; i < 20; ++i) flow.ack(10'000);
  EXPECT_EQUAL(flow.window(), 2);
}

TEST(rate_threshold_follows_its_formula) {
  struct Rate {
    double span_ms;
    double sum = 0;
    double weight = 0;
    double add(double packets, double silence_ms) {
      const double kept = std::exp(-silence_ms / span_ms);
      sum = sum * kept + packets / span_ms;
      weight = weight * kept + 1 - kept;
      return sum / std::max(weight, 1 / span_ms);
    }
  };
  for (const bool is_tcp : {false, true}) {
    Clocked flow("rate_threshold", {{"threshold_ms", 20},
                                    {"span_s", 0.1},
                                    {"usual_span_s", 5},
                                    {"rate_power", 0.7},
                                    {"increase", 4},
                                    {"fall_share", 0.69},
                                    {"decrease", 0.005},
                                    {"lean", 0.99}});
    flow.is_tcp = is_tcp;
    Rate rate{100};
    Rate usual{5000};
    double w = flow.window();
    double envelope = 0;
    double nearest = 1e9;
    for (int i = 0; i < 3000; ++i) {
      // The queueing delay is 0, then up to 30 ms, then 400 ms, then 0.
      const int queue = i < 300 or i > 2900 ? 0 : i < 1000 ? i * 7 % 31 : 400;
      const int silence = i == 0 ? 0 : 1 + i * i % 13;
      envelope = std::max<double>(queue, envelope + 0.69 * (queue - envelope));
      const double now = rate.add(1, silence);
      const double delay = envelope * std::pow(usual.add(1, silence) / now, 0.7);
      nearest = std::min(nearest, std::abs(delay - 20));
      w = std::clamp(w + (delay < 20 ? 4 / w : -0.005 * delay), 2.0, 600.0);
      const double window = flow.ack(100 + queue, 1, silence);
      EXPECT_NEAR(window, std::max(2.0, w * std::pow(0.99, delay)), 1e-6);
      if (i == 2900) EXPECT_EQUAL(w, 2);
    }
    EXPECT_EQUAL(nearest < 1, true);
  }
}
