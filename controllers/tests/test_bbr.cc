// BBR over a bottleneck of 500 packets/s and 100 ms, against the numbers of section 4 of
// draft-cardwell-iccrg-bbr-congestion-control-00.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/bottleneck.hh"
#include "tests/check.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::Phase;
using kneepoint::test::phases;

namespace {

constexpr double rate = 500;
// The min RTT: a propagation delay of 100 ms, and 2 ms to serve the packet itself.
constexpr double min_s = 0.102;
constexpr double bdp = rate * min_s;
constexpr double quanta = 6;  // three quanta of two segments, between 1.2 and 24 Mbit/s

// Runs until the rate is in the range, for ten seconds at most.
void run_until_rate(Bottleneck& link, double min, double max) {
  const double end_s = link.now_s() + 10;
  while (link.now_s() < end_s and (link.sending_rate() < min or link.sending_rate() > max)) {
    link.run_until(link.now_s() + 0.001);
  }
}

}  // namespace

TEST(bbr_doubles_in_startup_until_the_rate_grows_by_less_than_a_quarter) {
  Bottleneck link("bbr", {}, rate, 100);
  // Section 4.2.1: the initial window in an RTT, which counts as 1 ms before the first sample.
  EXPECT_NEAR(link.sending_rate(), 2.885 * 10 / 1e-3, 1e-6);
  link.run_until(1.1021);
  EXPECT_NEAR(link.sending_rate(), 2.885 * 10 / min_s, 1e-6);
  link.run_until(1.25);
  EXPECT_EQUAL(link.window() > 19, true);
  link.run_until(2);
  EXPECT_NEAR(link.sending_rate(), 2.885 * rate, 1);
  EXPECT_NEAR(link.window(), 2.885 * bdp + quanta, 1.01);
}

TEST(bbr_drains_the_queue_of_startup) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(1.5);
  run_until_rate(link, 0, rate);
  EXPECT_NEAR(link.sending_rate(), rate / 2.885, 1);
  EXPECT_EQUAL(link.queue() > bdp / 2, true);
  run_until_rate(link, 0.9 * rate, 1e9);
  EXPECT_NEAR(link.flight(), bdp + quanta, 1.01);
  EXPECT_EQUAL(link.now_s() < 3, true);
  // The six phases at the link's rate come first.
  EXPECT_NEAR(phases(link, rate, 1).at(0).length_s, 6 * min_s, 0.02);
}

TEST(bbr_cycles_through_eight_phases_of_a_round_trip) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(4);
  run_until_rate(link, 1.2 * rate, 1e9);
  run_until_rate(link, 0, 1.1 * rate);
  // Starts with the phase that drains the queue.
  const auto all = phases(link, rate, 3);
  EXPECT_NEAR(all[0].gain, 0.75, 0.01);
  EXPECT_EQUAL(all[0].length_s <= min_s + 0.003 and all[0].length_s > min_s / 2, true);
  EXPECT_NEAR(all[1].gain, 1, 0.01);
  EXPECT_NEAR(all[1].length_s, 6 * min_s, 0.02);
  EXPECT_NEAR(all[2].gain, 1.25, 0.01);
  EXPECT_EQUAL(all[2].length_s >= min_s - 0.003 and all[2].length_s < 2 * min_s, true);
  EXPECT_NEAR(all[3].gain, 0.75, 0.01);
  EXPECT_NEAR(link.window(), 2 * bdp + quanta, 0.5);
}

TEST(bbr_grows_until_its_first_ten_packets_are_delivered) {
  // A BDP of 1.1 packets and three quanta give a target of 6.2; the window still grows with nine of
  // the first ten packets.
  Bottleneck link("bbr", {}, 100, 1);
  double max = 0;
  for (int i = 0; i < 200; ++i) {
    link.run_until(1 + i / 1e3);
    max = std::max(max, link.window());
  }
  EXPECT_EQUAL(max, 19);
}

TEST(bbr_fills_the_link_and_keeps_the_queue_short) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(3);
  const uint64_t before = link.delivered();
  double queue = 0;
  for (int i = 0; i < 600; ++i) {
    link.run_until(3 + 0.01 * i);
    queue += link.queue() / 600;
  }
  EXPECT_NEAR(static_cast<double>(link.delivered() - before) / (rate * 5.99), 1, 0.01);
  EXPECT_EQUAL(queue < bdp / 5, true);
}

TEST(bbr_enters_probe_rtt_after_ten_seconds) {
  Bottleneck link("bbr", {}, rate, 100);
  // Packets of Startup still measure the min RTT, and later packets do not.
  std::vector<double> begins;
  std::vector<double> ends;
  bool was_probing = false;
  for (double s = 1; s < 40; s += 0.001) {
    link.run_until(s);
    const bool is_probing = s > 3 and link.window() == 4;
    if (is_probing != was_probing) (is_probing ? begins : ends).push_back(s);
    was_probing = is_probing;
  }
  EXPECT_EQUAL(begins[0] > 11.102 and begins[0] < 11.5, true);
  // ProbeRTT lasts 200 ms after the flight has fallen to four packets, which includes a round trip.
  EXPECT_NEAR(ends[0] - begins[0], 0.2 + min_s, 0.015);
  EXPECT_EQUAL(begins[1] - ends[0] > 10 and begins[1] - ends[0] < 11, true);
  EXPECT_EQUAL(begins.size() == ends.size() and begins.size() >= 3, true);
  // The rate and the window are as before, though little was delivered during ProbeRTT.
  EXPECT_NEAR(link.sending_rate() / rate, 1, 0.26);
  EXPECT_NEAR(link.window(), 2 * bdp + quanta, 0.5);
}

TEST(bbr_follows_a_rate_that_falls_after_ten_rounds) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(5);
  link.set_rate(rate / 2);
  // Two BDPs of the old rate are four of the new rate: a round lasts 400 ms.
  link.run_until(6);
  EXPECT_NEAR(link.window(), 2 * bdp + quanta, 0.5);
  link.run_until(10.5);
  EXPECT_NEAR(link.window(), bdp + quanta, 1.5);
}

TEST(bbr_counts_segments_of_a_quantum_by_its_rate) {
  const auto extra = [](double packets_per_s) {
    Bottleneck link("bbr", {}, packets_per_s, 100);
    link.run_until(4);
    return link.window() - 2 * packets_per_s * (0.1 + 1 / packets_per_s);
  };
  EXPECT_NEAR(extra(102), 3, 0.1);        // 1.18 Mbit/s: three quanta of one segment
  EXPECT_NEAR(extra(105), 6, 0.1);        // 1.22 Mbit/s
  EXPECT_NEAR(extra(2050), 6, 0.1);       // 23.7 Mbit/s
  EXPECT_NEAR(extra(2150), 6.45, 0.1);    // 24.9 Mbit/s: three quanta of 1 ms at the rate
  EXPECT_NEAR(extra(3000), 9, 0.3);       // 35 Mbit/s
  EXPECT_NEAR(extra(100'000), 132.6, 2);  // three quanta of 64 kB, in segments of 1448 bytes
}

TEST(bbr_begins_anew_after_a_timeout_and_ignores_losses) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(4);
  const double before = link.window();
  link.controller().on_loss(
      {.now_ms = 4000, .now_us = 4'000'000, .kind = Loss::Kind::lost, .in_flight = 50});
  EXPECT_EQUAL(link.window(), before);
  link.controller().on_loss(
      {.now_ms = 4000, .now_us = 4'000'000, .kind = Loss::Kind::timed_out, .in_flight = 50});
  EXPECT_EQUAL(link.window(), 1);
  link.run_until(5);
  EXPECT_NEAR(link.window(), before, 0.5);
}

// Section 4.3.4.3: with a window of one BDP and three quanta, the flight never reaches 1.25 BDPs
// and three quanta.
TEST(bbr_ends_its_probe_when_something_is_lost) {
  const auto longest_s = [](uint64_t every) {
    Bottleneck link("bbr", {{"cwnd_gain", 1}}, rate, 100);
    link.run_until(4);
    if (every > 0) link.lose_every(every);
    double longest = 0;
    for (const Phase& phase : phases(link, rate, 6)) {
      if (std::abs(phase.gain - 1.25) < 0.01) longest = std::max(longest, phase.length_s);
    }
    return longest;
  };
  EXPECT_EQUAL(longest_s(0) > 2, true);
  EXPECT_EQUAL(longest_s(20) < 3 * min_s, true);
}

// Section 4.2.3.4.
TEST(bbr_conserves_packets_until_a_round_of_recovery_is_over) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(4);
  const double before = link.window();
  uint64_t delivered = link.delivered();
  const auto hear = [&](uint64_t acknowledged, uint64_t lost, bool is_recovering) {
    delivered += acknowledged;
    link.controller().on_ack({.sequence_number = 0,
                              .sent_ms = 3900,
                              .received_ms = 4000,
                              .ack_received_ms = 4000,
                              .now_us = 4'000'000,
                              .acknowledged = acknowledged,
                              .in_flight = 40,
                              .delivered = delivered,
                              .lost = lost,
                              .is_recovering = is_recovering});
    return link.window();
  };
  link.controller().on_loss(
      {.now_ms = 4000, .now_us = 4'000'000, .kind = Loss::Kind::lost, .in_flight = 43});
  EXPECT_EQUAL(hear(3, 1, true), 43);
  EXPECT_EQUAL(hear(5, 1, true), 45);
  // Less the further losses, plus the packet delivered.
  EXPECT_EQUAL(hear(1, 4, true), 42);
  EXPECT_EQUAL(hear(1, 4, false) >= before, true);
  EXPECT_EQUAL(hear(1, 9, false), before - 4);
}

// Two rounds without growth before the undo and two after it do not end Startup.
TEST(bbr_restarts_its_check_for_a_full_pipe_after_spurious_losses) {
  const auto full_s = [](bool was_none) {
    Bottleneck link("bbr", {}, rate, 100);
    while (link.window() < 5 * bdp / 2) link.run_until(link.now_s() + 0.001);
    link.run_until(link.now_s() + 0.3);
    if (was_none) link.undo();
    while (link.sending_rate() > rate) link.run_until(link.now_s() + 0.001);
    return link.now_s();
  };
  EXPECT_EQUAL(full_s(true) > full_s(false) + 0.2, true);
}

// Four packets return once in a round trip: 240 ms end with the third round trip.
TEST(bbr_has_a_duration_of_probe_rtt) {
  Bottleneck link("bbr", {{"probe_rtt_ms", 240}}, rate, 100);
  link.run_until(5);
  while (link.window() > 4) link.run_until(link.now_s() + 0.001);
  const double began_s = link.now_s();
  while (link.window() == 4) link.run_until(link.now_s() + 0.001);
  EXPECT_NEAR(link.now_s() - began_s, 0.3 + min_s, 0.03);
}

// Section 4.2.3.4: the window is restored at the end of the recovery, here at the acknowledgment of
// the first packet that left after the timeout. Growth by the packets delivered would have given
// about 60 by then.
TEST(bbr_restores_its_window_when_the_recovery_from_a_timeout_is_over) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(4);
  const double before = link.window();
  link.lose(Loss::Kind::timed_out);
  double grown = 1;
  while (link.window() < before - 1) {
    grown = link.window();
    link.run_until(link.now_s() + 0.001);
  }
  EXPECT_EQUAL(grown < 0.65 * before, true);
  EXPECT_EQUAL(link.now_s() < 4.4, true);
}

// The second timeout, at a window of one, does not change the window that is restored.
TEST(bbr_restores_its_window_before_the_first_of_two_timeouts) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(4);
  const double before = link.window();
  link.lose(Loss::Kind::timed_out);
  link.lose(Loss::Kind::timed_out);
  link.run_until(4.4);
  EXPECT_EQUAL(link.window() > before - 1, true);
}

// A timeout resets Linux's bandwidth for the full-pipe check: two rounds without growth before the
// timeout and two after it do not end Startup.
TEST(bbr_restarts_its_check_for_a_full_pipe_after_a_timeout) {
  Bottleneck link("bbr", {}, rate, 100);
  while (link.window() < 5 * bdp / 2) link.run_until(link.now_s() + 0.001);
  link.run_until(link.now_s() + 0.3);
  const double began_s = link.now_s();
  link.lose(Loss::Kind::timed_out);
  while (link.sending_rate() > rate) link.run_until(link.now_s() + 0.001);
  EXPECT_EQUAL(link.now_s() > began_s + 0.6, true);
}

// Linux's unit of rates is one packet in 2^24 us.
TEST(bbr_has_a_least_rate) {
  Bottleneck link("bbr", {{"min_rtt_s", 1e6}}, 0.01, 100);
  double min = 1e9;
  for (int i = 0; i < 300; ++i) {
    link.run_until(100 * i);
    min = std::min(min, link.sending_rate());
  }
  EXPECT_NEAR(min, 1e6 / 16'777'216, 1e-6);
}

// Section 4.3.4.3: 1.25 BDPs and three quanta are 69.75 packets; the flight counts before the
// acknowledgment.
TEST(bbr_ends_its_probe_with_enough_in_flight_before_an_acknowledgment) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(4);
  run_until_rate(link, 1.2 * rate, 1e9);
  double before = 0;
  while (link.sending_rate() > 1.2 * rate) {
    before = link.flight();
    link.run_until(link.now_s() + 0.0001);
  }
  EXPECT_EQUAL(before, 70);
}

// Section 4.3.1.3: after a silence packets leave at the estimated rate, whatever the phase is, and
// the silence replaces a ProbeRTT.
TEST(bbr_paces_at_its_rate_after_a_silence) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(4);
  run_until_rate(link, 1.2 * rate, 1e9);
  link.is_idle = true;
  link.run_until(link.now_s() + 12);
  link.is_idle = false;
  link.run_until(link.now_s() + 0.001);
  EXPECT_NEAR(link.sending_rate(), rate, 1);
  double min = 1e9;
  for (int i = 0; i < 1000; ++i) {
    link.run_until(link.now_s() + 0.001);
    min = std::min(min, link.window());
  }
  EXPECT_EQUAL(min > bdp, true);
}

// Rate samples of a flight that began after a silence are app-limited.
TEST(bbr_keeps_its_rate_when_the_application_sends_little) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(4);
  for (int i = 0; i < 40; ++i) {
    link.is_idle = false;
    link.run_until(link.now_s() + 0.01);
    link.is_idle = true;
    link.run_until(link.now_s() + 0.2);
  }
  link.is_idle = false;
  link.run_until(link.now_s() + 0.01);
  EXPECT_EQUAL(link.sending_rate() > 0.74 * rate, true);
}

// Sections 4.2.3.4 and 4.3.5: the window before ProbeRTT is restored at its end.
TEST(bbr_restores_its_window_after_probe_rtt) {
  Bottleneck link("bbr", {}, rate, 100);
  link.run_until(5);
  const double before = link.window();
  while (link.window() > 4) link.run_until(link.now_s() + 0.001);
  while (link.window() == 4) link.run_until(link.now_s() + 0.001);
  EXPECT_NEAR(link.window(), before, 1);
}
