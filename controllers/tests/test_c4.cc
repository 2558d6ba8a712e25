// C4 against the numbers of draft-huitema-ccwg-c4-spec.
#include <cmath>
#include <vector>

#include "tests/bottleneck.hh"
#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::Clocked;
using kneepoint::test::phases;

namespace {

constexpr double rate = 500;

// A flow that cruises at its nominal rate, with a packet delivered each `gap_ms`.
Clocked cruising(double gap_ms, Parameters::Values more = {}, double rtt_ms = 100) {
  more["initial_window"] = std::max(std::ceil(rtt_ms / gap_ms), 1.0);
  Clocked flow("c4", more);
  for (const double gain : {2.0, 0.9375, 1.0}) {
    for (int i = 0; i < 1e5 and std::abs(gap_ms * 1e3 / flow.pacing_us() / gain - 1) > 0.01; ++i) {
      flow.ack(rtt_ms, 1, gap_ms);
    }
  }
  return flow;
}

// The time between segments of 1448 bytes at a rate.
double gap_ms(double bytes_per_s) { return 1448e3 / bytes_per_s; }

// The nominal RTT: the time in which the window is paced.
double nominal_ms(Clocked& flow) { return flow.window() * flow.pacing_us() / 1e3; }

// The share of the rate that remains when the flow enters Recovery.
double kept(Clocked& flow, double gap) { return gap * 1e3 / flow.pacing_us() / 0.9375; }

}  // namespace

TEST(c4_doubles_its_measured_rate_until_the_rate_stays) {
  Bottleneck link("c4", {}, rate, 100);
  EXPECT_EQUAL(link.window(), 10);
  link.run_until(1.119);
  EXPECT_EQUAL(link.controller().pacing_us(), 0);
  link.run_until(1.121);  // all ten packets of the initial window are acknowledged
  EXPECT_NEAR(link.window(), 2 * 10 / 0.12 * 0.102, 0.01);
  link.run_until(1.7);
  EXPECT_NEAR(link.sending_rate(), 2 * rate, 2);
  EXPECT_NEAR(link.window(), 2 * rate * 0.102, 0.5);
  // The state lasts for three round trips of 204 ms without an increase; queueing does not raise
  // the nominal RTT.
  link.run_until(2.3);
  EXPECT_NEAR(link.window(), 2 * rate * 0.102, 0.5);
  link.run_until(2.6);
  EXPECT_EQUAL(link.window() < 1.1 * rate * 0.102, true);
}

TEST(c4_recovers_cruises_and_pushes) {
  for (const double cruise : {4.0, 6.0}) {
    Bottleneck link("c4", {{"cruise_rtts", cruise}}, rate, 100);
    link.run_until(5);
    const auto cycle = phases(link, rate, 20);
    int pushes = 0;
    for (size_t i = 2; i + 1 < cycle.size(); ++i) {
      if (std::abs(cycle[i].gain - 1.0625) > 0.001) continue;
      EXPECT_NEAR(cycle[i].length_s, 0.103, 0.005);
      EXPECT_NEAR(cycle[i - 1].gain, 1, 0.001);
      EXPECT_NEAR(cycle[i - 1].length_s, cruise * 0.103, 0.01);
      EXPECT_NEAR(cycle[i + 1].gain, 0.9375, 0.001);
      ++pushes;
    }
    EXPECT_NEAR(pushes, 20 / (0.103 * (cruise + 2)), 5);
  }
}

TEST(c4_pushes_harder_after_a_push_that_raised_its_rate) {
  Bottleneck link("c4", {}, rate, 100);
  link.run_until(20);
  link.set_rate(10 * rate);
  std::string steps;
  double last = link.controller().pacing_us();
  while (link.now_s() < 22) {
    link.run_until(link.now_s() + 0.0005);
    const double step = last / link.controller().pacing_us();
    last = link.controller().pacing_us();
    if (std::abs(step - 1.0625) < 0.003) steps += "weak ";
    if (std::abs(step - 1.25) < 0.003) steps += "hard ";
    if (std::abs(step - 2 / 0.9375) < 0.05) steps += "initial ";
  }
  link.run_until(22.6);
  EXPECT_EQUAL(steps, "weak hard hard initial ");
  EXPECT_NEAR(link.sending_rate(), 2 * 10 * rate, 20);
}

TEST(c4_takes_any_increase_after_a_weak_push_and_a_sixteenth_after_a_hard_one) {
  struct Case {
    double growth;
    double third;
  };
  // The first push after the change measures 1.0625 times the rate; these are the pushes after it.
  for (const auto& [growth, third] : {Case{1.01, 1.0625}, {1.12, 1.0625}, {1.25, 1.25}}) {
    Bottleneck link("c4", {}, rate, 100);
    link.run_until(20);
    link.set_rate(growth * rate);
    std::vector<double> pushes;
    double before = 0;
    for (const auto& [gain, length_s] : phases(link, rate, 2.5)) {
      if (length_s < 0.2 and before > 0) pushes.push_back(gain / before);
      before = length_s < 0.2 ? 0 : gain;
    }
    EXPECT_NEAR(pushes.at(0), 1.25, 0.01);
    EXPECT_NEAR(pushes.at(1), third, 0.02);
  }
}

TEST(c4_wants_a_sixteenth_more_after_a_hard_push_that_met_no_congestion) {
  // Each push measures a rate `growth` times as high, at a constant RTT.
  const auto pushes = [](const std::vector<double>& growths) {
    Clocked flow = cruising(2);
    double gap = 2;
    const auto gain_after = [&](double delivered_gap) {
      flow.ack(100, 1, delivered_gap);
      return gap * 1e3 / flow.pacing_us();
    };
    std::vector<double> gains;
    for (const double growth : growths) {
      double gain = 0;
      for (int i = 0; i < 2000 and gain < 1.05; ++i) gain = gain_after(gap);
      gains.push_back(gain);
      for (int i = 0; i < 2000 and gain > growth * 0.97; ++i) gain = gain_after(gap / growth);
      gap /= growth;
    }
    return gains;
  };
  for (const auto& [growth, third] : {std::pair{1.05, 1.0625}, {1.08, 1.25}}) {
    const auto gains = pushes({1.0625, growth, 1});
    EXPECT_NEAR(gains.at(0), 1.0625, 0.01);
    EXPECT_NEAR(gains.at(1), 1.25, 0.02);
    EXPECT_NEAR(gains.at(2), third, 0.02);
  }
}

TEST(c4_keeps_two_packets_in_flight_and_sends_one_a_second) {
  Clocked flow("c4", {});
  for (int i = 0; i < 60; ++i) flow.ack(100, 1, 3000);
  EXPECT_EQUAL(flow.window(), 2);
  EXPECT_EQUAL(flow.pacing_us(), 1e6);
}

TEST(c4_returns_to_its_initial_state_at_high_jitter) {
  // Jitter is high where the min RTT, 100 ms, is less than 2/5 of the nominal RTT.
  for (const double rtt_ms : {245.0, 260.0}) {
    Clocked flow = cruising(2);
    flow.ack(rtt_ms, 1, 2);
    for (int i = 0; i < 60; ++i) flow.ack(i == 0 ? rtt_ms : 100, 1, 2);
    const double gain = rtt_ms < 250 ? 1 : 2;
    EXPECT_NEAR(2e3 / flow.pacing_us(), 0.75 * gain, 0.05);
  }
}

TEST(c4_keeps_its_nominal_rtt_in_the_initial_state) {
  // High jitter returns the flow to the Initial state, in which packets that left in Recovery do
  // not lower the nominal RTT.
  Clocked flow = cruising(2);
  flow.ack(260, 1, 2);
  int initial = 0;
  for (int i = 0; i < 400; ++i) {
    flow.ack(i == 0 ? 260 : 100, 1, 2);
    if (nominal_ms(flow) < 200) continue;
    ++initial;
    EXPECT_NEAR(nominal_ms(flow), 260, 0.5);
  }
  EXPECT_EQUAL(initial > 300, true);
}

// Whether a flow at 100 packets/s enters Recovery with the acknowledgment after the first
// `acknowledgments`.
bool recovers(int acknowledgments, double rtt_ms, uint64_t lost) {
  Clocked flow("c4", {});
  for (int i = 0; i < acknowledgments; ++i) flow.ack(100, 1, 10);
  const double before = flow.pacing_us();
  flow.skip(lost);
  flow.ack(rtt_ms, 1, 10);
  return flow.pacing_us() > 1.5 * before;
}

TEST(c4_takes_no_loss_seriously_before_its_first_twenty_packets) {
  EXPECT_EQUAL(recovers(19, 100, 12), false);
  EXPECT_EQUAL(recovers(20, 100, 12), true);
}

TEST(c4_takes_a_delay_seriously_after_two_round_trips_without_an_increase) {
  int third = 10;  // the third round trip ends with Recovery in any case
  while (third < 200 and not recovers(third, 100, 0)) ++third;
  EXPECT_EQUAL(third < 200, true);
  // A round trip at twice the rate has twenty packets.
  EXPECT_EQUAL(recovers(third - 19, 200, 0), true);
  EXPECT_EQUAL(recovers(third - 22, 200, 0), false);
}

// Each case: a rate in bytes/s, and the excess over the nominal RTT, as a share of it, above which
// delay is congestion.
TEST(c4_reacts_to_delay_earlier_at_higher_rates) {
  struct Case {
    double bytes_per_s;
    double share;
  };
  for (const auto& [bytes_per_s, share] : {Case{4e4, 0.25},
                                           {5.25e5, (4 - 3 * 0.46) / 16},
                                           {1e6, 1.24 / 16},
                                           {5.5e6, 1.12 / 16},
                                           {1e7, 1 / 16.0},
                                           {2e7, 1 / 16.0}}) {
    const double gap = gap_ms(bytes_per_s);
    const double margin_ms = share * 100;
    Clocked flow = cruising(gap);
    flow.ack(99.99 + margin_ms, 1, gap);
    EXPECT_NEAR(flow.pacing_us(), gap * 1e3, 10 * gap);
    Clocked late = cruising(gap);
    late.ack(100 + 1.1 * margin_ms, 1, gap);
    EXPECT_NEAR(kept(late, gap), 0.9, 0.01);
    Clocked slow = cruising(gap);
    slow.ack(300, 1, gap);
    EXPECT_NEAR(kept(slow, gap), 0.75, 0.01);
    // Acknowledgments until the end of the round trip belong to the same congestion event.
    slow.ack(300, 1, gap);
    EXPECT_NEAR(kept(slow, gap), 0.75, 0.01);
  }
  // The margin is at most delay_ms.
  for (const double more : {0.01, 2.5}) {
    Clocked flow = cruising(36, {{"delay_ms", 20}});
    flow.ack(119.99 + more, 1, 36);
    EXPECT_NEAR(flow.pacing_us() / 36e3, more < 0.02 ? 1 : 1 / 0.9375 / (1 - 2.49 / 20), 0.001);
  }
}

TEST(c4_reacts_to_its_smoothed_share_of_losses) {
  struct Case {
    double bytes_per_s;
    double threshold;
  };
  for (const auto& [bytes_per_s, threshold] :
       {Case{4e4, 0.52}, {5.25e5, 0.02 + 0.5 * 0.54}, {8.947e5, 0.02 + 0.5 * 0.182}, {2e7, 0.02}}) {
    const double gap = gap_ms(bytes_per_s);
    uint64_t lost = 0;  // consecutive losses: the share is then 15/16 (1 - (15/16)^lost)
    while (15 / 16.0 * (1 - std::pow(15 / 16.0, lost + 1)) < threshold) ++lost;
    for (const uint64_t more : {0u, 1u}) {
      Clocked flow = cruising(gap, {}, 50 * gap);
      flow.skip(lost + more);
      flow.ack(50 * gap, 1, gap);
      EXPECT_NEAR(kept(flow, gap), more == 0 ? 1 / 0.9375 : 0.75, 0.01);
    }
  }
  Clocked flow = cruising(2);
  flow.skip(40);
  flow.lose(Loss::Kind::timed_out);  // timers say nothing about congestion
  flow.ack(100, 1, 2);
  EXPECT_NEAR(flow.pacing_us(), 2e3, 5);
}

TEST(c4_smooths_its_share_of_losses_over_packets) {
  // Five packets are lost, three arrive, and then further losses cross the threshold of 0.52.
  const double gap = gap_ms(4e4);
  double share = 0;
  const auto add = [&](int packets, double lost) {
    for (int i = 0; i < packets; ++i) share += (lost - share) / 16;
  };
  add(5, 1);
  add(3, 0);
  uint64_t more = 0;
  for (; share * 15 / 16 < 0.52; ++more) add(1, 1);
  for (const uint64_t lost : {more - 1, more}) {
    Clocked flow = cruising(gap, {}, 50 * gap);
    flow.skip(5);
    for (int i = 0; i < 3; ++i) flow.ack(50 * gap, 1, gap);
    flow.skip(lost);
    flow.ack(50 * gap, 1, gap);
    EXPECT_NEAR(kept(flow, gap), lost == more ? 0.75 : 1 / 0.9375, 0.01);
  }
}

TEST(c4_takes_the_longest_rtt_of_its_quiet_eras_for_the_path) {
  // Each quiet era keeps 7/8 of the jitter; jitter counts up to 250 ms.
  Clocked flow = cruising(2, {{"delay_ms", 1e6}});
  EXPECT_NEAR(nominal_ms(flow), 100, 0.5);
  flow.ack(110, 1, 2);
  const auto era = [&] {
    const double before = nominal_ms(flow);
    for (int i = 0; i < 400 and nominal_ms(flow) == before; ++i) flow.ack(100, 1, 2);
    return nominal_ms(flow);
  };
  const double max = era();
  EXPECT_NEAR(max, 110, 0.5);
  EXPECT_NEAR(era(), (7 * max + 100) / 8, 0.1);
  Clocked bounded = cruising(2, {{"delay_ms", 1e6}, {"max_jitter_ms", 5}});
  bounded.ack(110, 1, 2);
  for (int i = 0; i < 60; ++i) bounded.ack(100, 1, 2);
  EXPECT_NEAR(nominal_ms(bounded), 105, 0.5);
}
