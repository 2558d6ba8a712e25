// Vegas against windows computed from its formula: Brakmo and Peterson, JSAC 1995, sections 3.3 and
// 3.4.
#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-9;

// A flow of ten packets, past slow start, after a first round trip of 100 ms.
Clocked avoiding(Parameters::Values more = {}) {
  more.insert({{"initial_window", 10}, {"initial_ssthresh", 2}});
  Clocked flow("vegas", more);
  flow.round(100);
  return flow;
}

}  // namespace

TEST(vegas_grows_by_a_packet_a_round_trip_without_a_queue) {
  Clocked flow = avoiding();
  // Before the first acknowledgment there is no RTT sample: it counts as in Reno.
  EXPECT_NEAR(flow.window(), 10.1, exact);
  EXPECT_NEAR(flow.round(100), 11.1, exact);
  EXPECT_NEAR(flow.round(100), 12.1, exact);
}

TEST(vegas_keeps_alpha_to_beta_packets_in_the_queue) {
  // Of 11.1 packets, 11.1 x (RTT - 100)/100 wait. The RTTs of a round trip are judged when the next
  // begins.
  const auto after = [](double rtt_ms) {
    Clocked flow = avoiding();
    flow.round(rtt_ms);  // begins by judging the previous round trip: 11.1
    return flow.ack(rtt_ms) - 11.1;
  };
  EXPECT_NEAR(after(117.9), 1, exact);   // 11.1 x .179 = 1.99
  EXPECT_NEAR(after(118.1), 0, exact);   // 2.01
  EXPECT_NEAR(after(135.9), 0, exact);   // 3.98
  EXPECT_NEAR(after(136.1), -1, exact);  // 4.007
}

TEST(vegas_can_count_the_queue_as_its_paper_does) {
  // (expected - actual) x base = 11.1 x (RTT - 100)/RTT.
  const auto after = [](double rtt_ms) {
    Clocked flow = avoiding({{"divide_by_rtt", 1}});
    flow.round(rtt_ms);
    return flow.ack(rtt_ms) - 11.1;
  };
  EXPECT_NEAR(after(121.9), 1, exact);   // 1.994
  EXPECT_NEAR(after(122.1), 0, exact);   // 2.009
  EXPECT_NEAR(after(156.2), 0, exact);   // 3.994
  EXPECT_NEAR(after(156.5), -1, exact);  // 4.007
}

TEST(vegas_judges_the_min_rtt_of_a_round) {
  Clocked flow = avoiding();
  EXPECT_NEAR(flow.ack(200), 11.1, exact);
  flow.ack(101);
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(flow.ack(300), 11.1, exact);
  EXPECT_NEAR(flow.ack(300), 12.1, exact);  // 11.1 x .01 wait, by the RTT of 101 ms
}

TEST(vegas_slow_start_doubles_and_ends_at_gamma) {
  Clocked flow("vegas", {{"initial_window", 4}});
  EXPECT_NEAR(flow.round(100), 8, exact);
  EXPECT_NEAR(flow.round(100), 16, exact);
  EXPECT_NEAR(flow.round(106), 32, exact);
  // A queue of 16 x .06 packets is below gamma. A queue of 33 x .06 packets ends slow start: the
  // window becomes the BDP, 32 x 100/106, plus one packet.
  flow.ack(106);
  EXPECT_NEAR(flow.window(), 32 * 100.0 / 106 + 1, 1e-4);
}

TEST(vegas_slow_start_can_rest_every_other_round) {
  Clocked flow("vegas", {{"initial_window", 4}, {"every_other_round", 1}});
  const double first = flow.round(100);
  const double second = flow.round(100);
  const double third = flow.round(100);
  const double fourth = flow.round(100);
  EXPECT_NEAR(first, 5, exact);
  EXPECT_NEAR(second, 9, exact);
  EXPECT_NEAR(third, 10, exact);
  EXPECT_NEAR(fourth, 19, exact);
}

TEST(vegas_can_compute_in_whole_packets) {
  const auto after = [](double rtt_ms) {
    Clocked flow = avoiding({{"whole_packets", 1}});
    flow.round(rtt_ms);
    return flow.ack(rtt_ms);
  };
  EXPECT_NEAR(after(118.1), 12, exact);  // 11 x .181 = 1.991
  EXPECT_NEAR(after(118.3), 11, exact);  // 2.01
  EXPECT_NEAR(after(145.4), 11, exact);  // 4.99: four whole packets do not exceed beta
  EXPECT_NEAR(after(145.5), 10, exact);  // 5.005
}

TEST(vegas_does_not_return_to_slow_start_as_it_shrinks) {
  Clocked flow("vegas", {{"initial_window", 10}, {"initial_ssthresh", 10}});
  flow.round(100);
  flow.round(150);
  for (const double expected : {10.1, 9.1, 8.1}) EXPECT_NEAR(flow.round(150), expected, exact);
  Clocked started("vegas", {{"initial_window", 16}});
  started.round(100);
  started.round(150);
  const double left = started.ack(150);  // leaves slow start
  EXPECT_NEAR(left, 64 * 100.0 / 150 + 1, 0.7);
  EXPECT_NEAR(started.ack(150), left, exact);
  for (int i = 0; i < 10; ++i) started.ack(150);
  EXPECT_NEAR(started.window(), left, exact);
}

TEST(vegas_is_reno_with_two_samples_a_round_trip) {
  // Both samples may come from delayed acknowledgments.
  Clocked flow("vegas", {{"initial_window", 2}, {"initial_ssthresh", 2}});
  EXPECT_NEAR(flow.round(100), 2.5, exact);
  EXPECT_NEAR(flow.round(100), 2.9, exact);
  const double third = flow.round(100);
  EXPECT_NEAR(third, 2.9 + 1 / 2.9, exact);
  EXPECT_NEAR(flow.round(100), third + 1 / third,
              exact);  // still two samples: the window had two packets
  EXPECT_NEAR(flow.round(100), third + 1 / third + 1, exact);
  // As in Linux's tcp_reno_cong_avoid, the window does not grow while the flow is app-limited.
  Clocked limited("vegas", {{"initial_window", 2}, {"initial_ssthresh", 2}});
  limited.is_cwnd_limited = false;
  EXPECT_NEAR(limited.round(100), 2, exact);
}

TEST(vegas_halves_at_a_loss_and_falls_to_one_at_a_timeout) {
  Clocked flow = avoiding();
  EXPECT_NEAR(flow.lose(), 5.05, exact);
  EXPECT_NEAR(flow.lose(), 2.525, exact);
  EXPECT_NEAR(flow.lose(), 2, exact);
  EXPECT_NEAR(flow.lose(Loss::Kind::timed_out), 1, exact);
  Clocked silent = avoiding();
  EXPECT_NEAR(silent.keepalive(), 1, exact);
  Clocked whole("vegas", {{"initial_window", 11}, {"whole_packets", 1}});
  EXPECT_NEAR(whole.lose(), 5, exact);
}

TEST(vegas_measures_the_min_rtt_again_after_a_timeout) {
  Clocked flow = avoiding();
  flow.lose(Loss::Kind::timed_out);
  for (int i = 0; i < 15; ++i) flow.round(150);
  const double before = flow.window();
  EXPECT_EQUAL(before > 9, true);  // more than beta packets would wait if the min RTT were 100 ms
  EXPECT_NEAR(flow.round(150), before + 1, exact);
}
