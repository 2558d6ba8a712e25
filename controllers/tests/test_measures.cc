// The measures of controllers, against their definitions.
#include "algorithms/measures.hh"

#include <algorithm>
#include <deque>
#include <utility>

#include "tests/check.hh"
#include "tests/running.hh"

using namespace kneepoint;

TEST(windowed_extremes_are_extremes_of_all_values_in_the_window) {
  for (const double span : {0.0, 3.0, 40.0}) {
    WindowedMin min;
    WindowedMax max;
    std::deque<std::pair<double, double>> all;
    uint64_t state = 1;
    double now = 0;
    EXPECT_EQUAL(min.is_empty() and max.is_empty(), true);
    for (int i = 0; i < 3000; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto draw = static_cast<double>(state >> 54);  // up to 1023
      now += state % 3 == 0 ? 0 : 1;
      // A long rise fills the ring of the minimum, a long fall the ring of the maximum.
      const double value = i % 200 < 100 ? draw + 20 * (i % 100) : draw - 20 * (i % 100);
      all.emplace_back(now, value);
      while (all.front().first < now - span) all.pop_front();
      min.add(value, now, span);
      max.add(value, now, span);
      const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
      EXPECT_EQUAL(min.best(), std::min_element(all.begin(), all.end(), by_value)->second);
      EXPECT_EQUAL(max.best(), std::max_element(all.begin(), all.end(), by_value)->second);
    }
  }
}

TEST(windowed_extremes_hold_a_rise_that_is_longer_than_their_first_ring) {
  WindowedMin min;
  for (int i = 0; i < 1000; ++i) {
    min.add(i, i, 500);
    EXPECT_EQUAL(min.best(), std::max(0, i - 500));
  }
}

TEST(a_round_ends_with_the_first_packet_that_left_after_it_began) {
  Rounds rounds;
  const auto ack = [](uint64_t number, uint64_t flight) {
    return Ack{.sequence_number = number,
               .sent_ms = 0,
               .received_ms = 0,
               .ack_received_ms = 0,
               .in_flight = flight};
  };
  EXPECT_EQUAL(rounds.advance(ack(0, 9)), true);
  EXPECT_EQUAL(rounds.advance(ack(9, 5)), false);
  EXPECT_EQUAL(rounds.advance(ack(10, 4)), true);
  EXPECT_EQUAL(rounds.advance(ack(14, 20)), false);
  rounds.begin(ack(14, 20));
  EXPECT_EQUAL(rounds.advance(ack(34, 1)), false);
  EXPECT_EQUAL(rounds.advance(ack(35, 1)), true);
}

TEST(times_of_an_acknowledgment_are_in_the_units_of_their_names) {
  Ack ack{.sequence_number = 0, .sent_ms = 0, .received_ms = 0, .ack_received_ms = 0};
  EXPECT_EQUAL(measures_rtt(ack), false);
  ack.now_us = 1'500'000;
  ack.rtt_us = 0;
  EXPECT_EQUAL(measures_rtt(ack), true);
  EXPECT_EQUAL(rtt_ms(ack), 1);  // at least 1 ms with datagrams
  ack.rtt_us = 2500;
  EXPECT_EQUAL(rtt_ms(ack), 2.5);
  EXPECT_EQUAL(rtt_s(ack), 0.0025);
  EXPECT_EQUAL(now_s(ack), 1.5);
}

// Datagrams have timestamps in whole milliseconds, TCP in microseconds.
TEST(an_rtt_is_at_least_a_tick_of_its_transports_clock) {
  Ack ack{.sequence_number = 0, .sent_ms = 0, .received_ms = -1, .ack_received_ms = 0};
  for (const auto& [rtt_us, expected_ms] :
       std::vector<std::pair<int64_t, double>>{{0, 0.001}, {120, 0.12}, {2500, 2.5}}) {
    ack.rtt_us = rtt_us;
    EXPECT_EQUAL(rtt_ms(ack), expected_ms);
  }
}

// Two arrivals per ms; every tenth was overtaken and is reported 5 ms late.
TEST(an_arrival_rate_takes_reordering_for_no_silence) {
  ArrivalRate rate;
  double told = 0;
  for (int i = 0; i < 10'000; ++i) told = rate.add(1, i % 10 == 9 ? -5 : 0.5 * 10 / 9, 100);
  EXPECT_NEAR(told, 2, 0.02);
  EXPECT_EQUAL(rate.add(1, -1e9, 100) > 0, true);
  EXPECT_NEAR(rate.add(1, 0, 100), told, 0.05);
}

TEST(rules_survive_a_receivers_clock_that_goes_back) {
  // number rate set_w: w = rate(0.01)
  const Parameters::Values rate_of_silences{{"code_0", 1 + 64 * (23 + 64 * 24)},
                                            {"number_0", 0.01}};
  for (const auto& [name, values] : std::vector<std::pair<const char*, Parameters::Values>>{
           {"rate_threshold", {}}, {"rule", rate_of_silences}}) {
    const auto controller = test::make_controller(name, values);
    for (int i = 0; i < 200; ++i) {
      const int64_t now_ms = 10 * i;
      const int64_t arrived_ms = i % 2 == 0 ? 3'600'000 + now_ms : now_ms;
      controller->on_ack({.sequence_number = static_cast<uint64_t>(i),
                          .sent_ms = now_ms,
                          .received_ms = arrived_ms,
                          .ack_received_ms = now_ms + 40,
                          .now_us = 1000 * (now_ms + 40),
                          .rtt_us = 40'000});
      EXPECT_EQUAL(controller->window() >= 1, true);
    }
  }
}

// RFC 6298, section 2: a weight of 1/8 for the new sample.
TEST(measures_smooth_the_rtt_by_an_eighth) {
  SmoothedRtt rtt;
  EXPECT_EQUAL(rtt.is_known(), false);
  for (const auto& [sample, smoothed] :
       std::vector<std::pair<double, double>>{{0.8, 0.8}, {1.6, 0.9}, {0.1, 0.8}}) {
    rtt.add(sample);
    EXPECT_NEAR(rtt.value(), smoothed, 1e-12);
  }
}
