// BBRv3 over a bottleneck of 500 packets/s and 100 ms, against draft-ietf-ccwg-bbr.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/bottleneck.hh"
#include "tests/check.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::phases;

namespace {

constexpr double rate = 500;
constexpr double min_s = 0.102;
constexpr double bdp = rate * min_s;
constexpr double paced = 0.99;

double gain(const Bottleneck& link) { return link.sending_rate() / rate / paced; }

bool is_near(double value, double wanted) { return std::abs(value - wanted) < 0.01; }

}  // namespace

TEST(bbr3_doubles_and_drains) {
  Bottleneck link("bbr3", {}, rate, 100);
  EXPECT_EQUAL(link.window(), 10);
  link.run_until(2);
  EXPECT_NEAR(gain(link), 2.77, 0.01);
  EXPECT_NEAR(link.window(), 2 * bdp, 9);  // plus the extra packets acknowledged in a round
  const auto all = phases(link, rate * paced, 1);
  EXPECT_NEAR(all.at(1).gain, 0.5, 0.01);
  EXPECT_NEAR(all.at(1).length_s, 0.2, 0.1);
  EXPECT_NEAR(all.at(2).gain, 1, 0.01);
  // The pipe is full after three rounds with two BDPs in flight, 204 ms each.
  Bottleneck again("bbr3", {{"startup_gain", 2}, {"cwnd_gain", 1.5}}, rate, 100);
  again.run_until(1.9);
  EXPECT_NEAR(gain(again), 2, 0.01);
  EXPECT_NEAR(again.window(), 1.5 * bdp, 7);
}

TEST(bbr3_probes_for_more_in_time) {
  struct Case {
    double wait_s;
    double up;
  };
  for (const auto& [wait_s, up] : {Case{1, 1.25}, {1.5, 1.25}, {1.5, 1.4}}) {
    Bottleneck link("bbr3", {{"probe_wait_s", wait_s}, {"up_gain", up}}, rate, 100);
    link.run_until(3);
    double min_gap_s = 1e9;
    double gap_s = -1e9;
    double longest_s = 0;
    int probes = 0;
    double before = 0;
    for (const auto& phase : phases(link, rate * paced, 40)) {
      if (is_near(phase.gain, up)) {
        min_gap_s = gap_s > 0 ? std::min(min_gap_s, gap_s) : min_gap_s;
        gap_s = 0;
        EXPECT_NEAR(before, 1, 0.01);
        longest_s = std::max(longest_s, phase.length_s);
        ++probes;
      }
      gap_s += is_near(phase.gain, up) ? 0 : phase.length_s;
      before = phase.gain;
    }
    // The probe ends after three rounds without growth by a quarter; its queue lengthens the
    // rounds.
    EXPECT_NEAR(longest_s, 3.8 * min_s, 0.06);
    EXPECT_EQUAL(probes > 6, true);
    EXPECT_NEAR(min_gap_s, wait_s + min_s, 0.12);  // plus a round to refill the pipe
  }
}

TEST(bbr3_probes_for_more_after_63_round_trips_at_the_latest) {
  // The RTT is 20.1 ms and the BDP 201 packets; Reno would need as many round trips to regain them.
  Bottleneck link("bbr3", {{"probe_wait_s", 5}}, 10'000, 20);
  link.run_until(3);
  double last_s = 0;
  double min_gap_s = 1e9;
  double now_s = 0;
  for (const auto& phase : phases(link, 10'000 * paced, 12)) {
    if (is_near(phase.gain, 1.25)) {
      if (last_s > 0) min_gap_s = std::min(min_gap_s, now_s - last_s);
      last_s = now_s;
    }
    now_s += phase.length_s;
  }
  EXPECT_NEAR(min_gap_s, 63 * 0.0205, 0.15);
}

TEST(bbr3_enters_probe_rtt) {
  for (const double length_ms : {200.0, 400.0}) {
    Bottleneck link("bbr3", {{"probe_rtt_ms", length_ms}}, rate, 100);
    link.run_until(3);
    std::vector<double> begins;
    double length_s = 0;
    double min = 1e9;
    for (int i = 0; i < 30'000; ++i) {
      link.run_until(3 + i / 1e3);
      const bool is_short = link.window() < 0.6 * bdp;
      if (is_short and (begins.empty() or link.now_s() - begins.back() > 2)) {
        begins.push_back(link.now_s());
      }
      length_s += is_short ? 0.001 : 0;
      min = std::min(min, link.window());
    }
    EXPECT_NEAR(min, bdp / 2, 1.5);
    EXPECT_EQUAL(begins.size() >= 4, true);
    for (size_t i = 1; i < begins.size(); ++i) {
      EXPECT_NEAR(begins[i] - begins[i - 1], 5 + length_ms / 1e3, 0.8);
    }
    const auto probes = static_cast<double>(begins.size());
    EXPECT_NEAR(length_s / probes, length_ms / 1e3 + 1.2 * min_s, 0.12);
  }
}

TEST(bbr3_finds_more_and_less) {
  for (const double factor : {10.0, 0.5}) {
    Bottleneck link("bbr3", {}, rate, 100);
    link.run_until(5);
    link.set_rate(factor * rate);
    link.run_until(45);
    const auto before = static_cast<double>(link.delivered());
    link.run_until(55);
    EXPECT_NEAR((static_cast<double>(link.delivered()) - before) / (10 * factor * rate), 1, 0.06);
    EXPECT_EQUAL(link.queue() < 1.5 * factor * bdp, true);
  }
}

TEST(bbr3_lets_losses_bound_rate_and_flight) {
  const auto sent = [](uint64_t lost_every, const Parameters::Values& values) {
    Bottleneck link("bbr3", values, rate, 100);
    link.run_until(5);
    link.lose_every(lost_every);
    link.run_until(25);
    const auto before = static_cast<double>(link.delivered());
    link.run_until(45);
    return (static_cast<double>(link.delivered()) - before) / (20 * rate);
  };
  EXPECT_EQUAL(sent(100, {}) > 0.75, true);  // 1 % of losses is tolerated
  EXPECT_EQUAL(sent(20, {}) < 0.3, true);    // 5 % are not
  EXPECT_EQUAL(sent(20, {{"loss_threshold", 0.2}}) > 0.6, true);
  EXPECT_EQUAL(sent(20, {{"beta", 0.95}}) > 0.35, true);
}

TEST(bbr3_leaves_room_for_three_quanta) {
  // A quantum is 1 ms at the rate, and at most 64 kB in segments of 1448 bytes.
  for (const auto& [packets_per_s, window] :
       std::vector<std::pair<double, double>>{{30'000, 3 * 29.7}, {60'000, 132.6}}) {
    Bottleneck link("bbr3", {}, packets_per_s, 0.1);
    link.run_until(3);
    EXPECT_NEAR(link.window(), window, 0.02 * window);
  }
}

TEST(bbr3_keeps_four_packets_in_probe_rtt) {
  Bottleneck link("bbr3", {}, 100, 1);  // a BDP of 1.1 packets
  double min = 1e9;
  for (int i = 0; i < 12'000; ++i) {
    link.run_until(3 + i / 1e3);
    min = std::min(min, link.window());
  }
  EXPECT_EQUAL(min, 4);
}

TEST(bbr3_sends_a_quarter_of_the_bdp_and_two_packets_more_while_it_probes) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(3.5);
  double cruising = 0;
  double probing = 0;
  for (int i = 0; i < 5000; ++i) {
    link.run_until(3.5 + i / 1e3);
    double& max = is_near(gain(link), 1.25) ? probing : cruising;
    max = std::max(max, link.window());
  }
  EXPECT_NEAR(probing - cruising, bdp / 4 + 2, 0.1);
}

TEST(bbr3_makes_room_for_bursts_of_the_last_ten_round_trips) {
  Bottleneck link("bbr3", {{"probe_wait_s", 5}}, rate, 100);
  link.run_until(3.5);
  // The packets of 50 ms arrive in one burst, at 3.652 s.
  link.set_rtt(150);
  link.run_until(3.502);
  link.set_rtt(100);
  link.run_until(3.7);
  const double max = link.window();
  EXPECT_NEAR(max, 2 * bdp + 26, 1);
  while (link.window() == max and link.now_s() < 9) link.run_until(link.now_s() + 0.001);
  EXPECT_NEAR(link.now_s(), 3.652 + 11 * min_s,
              0.06);  // ten complete round trips and the present one
}

TEST(bbr3_leaves_headroom_of_a_packet_and_probes_by_at_most_one_per_packet_delivered) {
  Bottleneck link("bbr3", {{"probe_wait_s", 1}}, 100, 10);
  link.run_until(3);
  while (link.now_s() < 9 and gain(link) * rate < 120) link.run_until(link.now_s() + 0.001);
  link.lose_every(1);
  link.run_until(link.now_s() + 0.01);
  EXPECT_EQUAL(link.flight(), 6);
  link.lose_every(0);
  link.run_until(link.now_s() + 0.05);
  // Section 5.5.10.2: the lost packet left as the sixth in flight, and losses reach 2 % at 0.1 /
  // 0.98 of this packet; the headroom is one packet.
  EXPECT_NEAR(link.window(), 5 + 0.1 / 0.98 - 1, 1e-9);
  // On a link of a hundred times the rate, each packet delivered raises the bound by 1/6 packet, in
  // the next round trip by 2/6, and so on, up to one packet.
  link.set_rate(10'000);
  double max = 0;
  double before = link.window();
  while (link.now_s() < 9 and before < 60) {
    link.run_until(link.now_s() + 0.0001);
    if (before > 8) max = std::max(max, link.window() - before);
    before = link.window();
  }
  EXPECT_NEAR(max, 1, 0.05);
}

TEST(bbr3_ends_startup_at_six_losses_in_a_round_trip_and_then_leaves_headroom) {
  // Round trips of 10, 20, 40, 80 and 160 packets: six or seven packets of the fifth are lost (4
  // %), and the sender learns of these losses in the sixth.
  Bottleneck link("bbr3", {}, 1e5, 100);
  link.lose_every(24);
  link.run_until(1.3);
  double before = 0;
  while (link.now_s() < 3 and link.sending_rate() >= before) {
    before = link.sending_rate();
    link.run_until(link.now_s() + 0.001);
  }
  EXPECT_NEAR(link.now_s(), 1.65, 0.05);
  link.lose_every(0);
  link.run_until(3.5);
  // The window while cruising is 15 % below the window at the start of the next probe.
  const double cruising = link.window();
  before = link.sending_rate();
  while (link.now_s() < 6 and link.sending_rate() < 1.2 * before)
    link.run_until(link.now_s() + 0.001);
  EXPECT_NEAR(cruising / link.window(), 0.85, 0.005);
}

TEST(bbr3_keeps_the_min_rtt_of_ten_seconds) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(5);
  link.set_rtt(200);
  link.run_until(10.5);
  EXPECT_EQUAL(link.window() < 3 * bdp, true);
  link.run_until(18);
  EXPECT_NEAR(link.window(), 2 * rate * 0.202, 20);
}

TEST(bbr3_begins_anew_after_a_timeout) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(4);
  const double before = link.window();
  link.controller().on_loss(
      {.now_ms = 4000, .now_us = 4'000'000, .kind = Loss::Kind::timed_out, .in_flight = 50});
  EXPECT_EQUAL(link.window(), 1);
  link.run_until(4.5);
  EXPECT_NEAR(link.window(), before, 20);
}

// Section 5.6.4.4: losses during a recovery bound the window as other losses do, and its end
// restores the earlier window within these bounds.
TEST(bbr3_keeps_its_window_in_a_recovery_and_restores_it) {
  for (const bool was_none : {false, true}) {
    Bottleneck link("bbr3", {}, rate, 100);
    link.run_until(3.5);
    const double before = link.window();
    link.recover();
    link.run_until(3.7);
    EXPECT_EQUAL(link.window() > before - 1, true);
    link.lose_every(15);
    link.run_until(4.1);
    EXPECT_EQUAL(link.window() < 0.75 * before, true);
    link.lose_every(0);
    if (was_none) {
      link.undo();
      EXPECT_EQUAL(link.window() >= before, true);
    }
    link.is_recovering = false;
    link.run_until(4.15);
    EXPECT_EQUAL(link.window() > 0.95 * before, was_none);
  }
}

// Section 5.5.11.2.
TEST(bbr3_returns_to_startup_after_spurious_losses) {
  Bottleneck link("bbr3", {}, 1e5, 100);
  link.lose_every(24);
  link.run_until(1.3);
  link.recover();
  double max = 0;
  while (link.now_s() < 3 and link.sending_rate() >= max) {
    max = link.sending_rate();
    link.run_until(link.now_s() + 0.001);
  }
  link.lose_every(0);
  link.undo();
  link.is_recovering = false;
  link.run_until(link.now_s() + 0.2);
  EXPECT_EQUAL(link.sending_rate() > 1.5 * max, true);
}

TEST(bbr3_probes_again_after_spurious_losses) {
  const auto next_s = [](bool was_none) {
    Bottleneck link("bbr3", {}, rate, 100);
    link.run_until(3);
    while (not is_near(gain(link), 1.25)) link.run_until(link.now_s() + 0.001);
    link.recover();
    link.lose_every(10);
    while (not is_near(gain(link), 0.9)) link.run_until(link.now_s() + 0.001);
    link.lose_every(0);
    if (was_none) link.undo();
    link.is_recovering = false;
    const double ended_s = link.now_s();
    while (not is_near(gain(link), 1.25)) link.run_until(link.now_s() + 0.001);
    return link.now_s() - ended_s;
  };
  EXPECT_EQUAL(next_s(true) < 3 * min_s, true);
  EXPECT_EQUAL(next_s(false) > 1, true);
}

// The bandwidth is the maximum over two cycles: the present cycle and the previous one.
TEST(bbr3_forgets_a_rate_after_two_cycles) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(5);
  link.set_rate(rate / 2);
  int probes = 0;
  bool was_probing = false;
  while (link.now_s() < 30 and gain(link) > 0.65) {
    const bool is_probing = gain(link) > 1.1;
    probes += is_probing and not was_probing;
    was_probing = is_probing;
    link.run_until(link.now_s() + 0.001);
  }
  EXPECT_EQUAL(probes, 3);  // the second cycle without the old rate begins with the third probe
}

// Section 5.3.1.3: losses end Startup only after a round trip in recovery.
TEST(bbr3_ends_startup_at_losses_in_a_recovery_alone) {
  const auto ends_s = [](bool tells) {
    Bottleneck link("bbr3", {}, 1e5, 100);
    link.tells_of_losses = tells;
    link.lose_every(24);
    link.run_until(1.3);
    double before = 0;
    while (link.now_s() < 3 and link.sending_rate() >= before) {
      before = link.sending_rate();
      link.run_until(link.now_s() + 0.001);
    }
    return link.now_s();
  };
  EXPECT_EQUAL(ends_s(true) < 1.7, true);
  EXPECT_EQUAL(ends_s(false) > 2.5, true);
}

// Section 5.3.1.3 counts discontiguous ranges: ten consecutive losses are one range.
TEST(bbr3_counts_ranges_of_losses_in_startup) {
  Bottleneck link("bbr3", {}, 1e5, 100);
  link.run_until(1.45);
  link.lose_every(1);
  while (link.lost() < 10) link.run_until(link.now_s() + 0.0001);
  link.lose_every(0);
  double before = 0;
  while (link.now_s() < 1.9 and link.sending_rate() >= before) {
    before = link.sending_rate();
    link.run_until(link.now_s() + 0.001);
  }
  EXPECT_EQUAL(link.now_s() >= 1.9, true);
}

// Sections 5.3.4.3 and 5.6.4.4.
TEST(bbr3_restores_its_window_after_probe_rtt) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(3.5);
  const double before = link.window();
  while (link.window() > 0.6 * bdp) link.run_until(link.now_s() + 0.0001);
  double last = link.window();
  while (link.window() < 0.9 * before) {
    last = link.window();
    link.run_until(link.now_s() + 0.0001);
  }
  EXPECT_NEAR(last, bdp / 2, 1);
}

// The recovery from a timeout restores the window at its end, too.
TEST(bbr3_restores_its_window_when_the_recovery_from_a_timeout_is_over) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(3.5);
  const double before = link.window();
  link.lose(Loss::Kind::timed_out);
  EXPECT_EQUAL(link.window(), 1);
  double grown = 1;
  while (link.window() < 0.95 * before) {
    grown = link.window();
    link.run_until(link.now_s() + 0.0001);
  }
  EXPECT_EQUAL(grown < 0.7 * before, true);
}

// Section 5.6.2: the initial window in an RTT, which counts as 1 ms before the first sample.
TEST(bbr3_begins_at_the_rate_of_its_initial_window) {
  Bottleneck link("bbr3", {}, rate, 100);
  EXPECT_NEAR(link.sending_rate(), 2.77 * 10 / 1e-3, 1e-6);
  link.run_until(1.1021);
  EXPECT_NEAR(link.sending_rate(), 2.77 * 10 / min_s, 1e-6);
}

// Section 5.4.1: after a silence packets leave at exactly the estimated rate, whatever the phase
// is, and without ProbeRTT, which the silence replaces.
TEST(bbr3_paces_at_its_rate_after_a_silence) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(3);
  while (not is_near(gain(link), 1.25)) link.run_until(link.now_s() + 0.001);
  link.is_idle = true;
  link.run_until(link.now_s() + 6);
  link.is_idle = false;
  link.run_until(link.now_s() + 0.001);
  EXPECT_NEAR(gain(link), 1, 0.001);
  double min = 1e9;
  for (int i = 0; i < 1000; ++i) {
    link.run_until(link.now_s() + 0.001);
    min = std::min(min, link.window());
  }
  EXPECT_EQUAL(min > bdp, true);
  // Five seconds later ProbeRTT follows.
  for (int i = 0; i < 6000 and link.window() > bdp; ++i) link.run_until(link.now_s() + 0.001);
  EXPECT_EQUAL(link.window() < 0.6 * bdp, true);
}

// Section 5.5.4: rate samples of the first flight after a silence are app-limited.
TEST(bbr3_keeps_its_rate_when_the_application_sends_little) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(3.5);
  for (int i = 0; i < 60; ++i) {
    link.is_idle = false;
    link.run_until(link.now_s() + 0.01);
    link.is_idle = true;
    link.run_until(link.now_s() + 0.2);
  }
  link.is_idle = false;
  link.run_until(link.now_s() + 0.01);
  EXPECT_EQUAL(gain(link) > 0.89, true);
}

// Section 5.3.1.2: Startup continues as long as every round is app-limited.
TEST(bbr3_stays_in_startup_while_the_application_limits_it) {
  for (const char* name : {"bbr", "bbr3"}) {
    Bottleneck link(name, {}, rate, 100);
    for (int i = 0; i < 30; ++i) {
      link.is_idle = false;
      link.run_until(link.now_s() + 0.01);
      link.is_idle = true;
      link.run_until(link.now_s() + 0.2);
    }
    const double before = link.sending_rate();
    link.is_idle = false;
    link.run_until(link.now_s() + 0.4);
    EXPECT_EQUAL(link.sending_rate() > 2 * before, true);
  }
}

// Section 5.3.2: the link's rate falls to little more than Drain's sending rate, so that the queue
// hardly shrinks; Drain ends with the fourth round trip.
TEST(bbr3_leaves_drain_after_three_round_trips) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(1.55);
  link.set_rate(0.53 * rate);
  while (gain(link) > 0.6) link.run_until(link.now_s() + 0.0001);
  int rounds = 0;
  double end = static_cast<double>(link.delivered()) + link.flight() + 1;
  while (link.now_s() < 9 and gain(link) < 0.6) {
    link.run_until(link.now_s() + 0.0001);
    if (static_cast<double>(link.delivered()) < end) continue;
    ++rounds;
    end = static_cast<double>(link.delivered()) + link.flight() + 1;
  }
  EXPECT_EQUAL(rounds, 4);
  EXPECT_EQUAL(link.flight() > 1.2 * bdp, true);
}

// Section 5.3.3.5: while the flight stays above the BDP, a probe follows the wait without cruising.
// The short-term bound on the bandwidth is then smaller than the bandwidth.
TEST(bbr3_probes_from_down_when_its_wait_is_over) {
  Bottleneck link("bbr3", {{"probe_wait_s", 1}}, rate, 100);
  link.run_until(2);
  while (not is_near(gain(link), 1.25)) link.run_until(link.now_s() + 0.001);
  while (not is_near(gain(link), 0.9)) link.run_until(link.now_s() + 0.001);
  link.set_rate(0.88 * rate);
  const double began_s = link.now_s();
  while (link.now_s() < 9 and is_near(gain(link), 0.9)) link.run_until(link.now_s() + 0.001);
  EXPECT_NEAR(link.now_s() - began_s, 1, 0.01);
  EXPECT_NEAR(gain(link), 1, 0.01);
}

// Section 5.6.4.4: saving the window twice, in a recovery and at a later event, keeps the greater
// window.
TEST(bbr3_restores_the_greater_of_two_saved_windows) {
  Bottleneck link("bbr3", {}, rate, 100);
  link.run_until(3.5);
  const double before = link.window();
  link.recover();
  link.lose(Loss::Kind::timed_out);
  while (link.window() < 10) link.run_until(link.now_s() + 0.001);
  link.undo();
  EXPECT_NEAR(link.window(), before, 1);
}

// Section 5.4.1, and Linux for the first version: a ProbeRTT whose time passed during a silence
// ends with the first packet after the silence.
TEST(bbr_and_bbr3_end_a_probe_rtt_that_a_silence_outlasts) {
  for (const char* name : {"bbr", "bbr3"}) {
    for (const bool is_over : {false, true}) {
      Bottleneck link(name, {{"probe_rtt_ms", 400}}, rate, 100);
      link.run_until(4.5);
      const double before = link.window();
      while (link.window() > 0.6 * bdp) link.run_until(link.now_s() + 0.001);
      link.run_until(link.now_s() + 0.2);
      link.is_idle = true;
      link.run_until(link.now_s() + (is_over ? 0.4 : 0.15));
      EXPECT_EQUAL(link.flight(), 0);
      EXPECT_EQUAL(link.window() < 0.6 * bdp, true);
      link.is_idle = false;
      link.run_until(link.now_s() + 0.0001);
      EXPECT_EQUAL(link.window() > 0.9 * before, is_over);
    }
  }
}

// Section 5.3.3.6: a probe raises the long-term bound on the flight by one packet for the first
// window delivered, then by two, four and so on.
TEST(bbr3_doubles_the_growth_of_its_long_term_bound_in_each_round_trip) {
  Bottleneck link("bbr3", {{"probe_wait_s", 1}}, rate, 100);
  link.run_until(3);
  while (not is_near(gain(link), 1.25)) link.run_until(link.now_s() + 0.001);
  link.lose_every(10);
  while (not is_near(gain(link), 0.9)) link.run_until(link.now_s() + 0.001);
  link.lose_every(0);
  link.set_rate(100 * rate);
  while (gain(link) < 1.2) link.run_until(link.now_s() + 0.0001);
  const double began = link.window();
  EXPECT_EQUAL(began > bdp and began < 1.26 * bdp, true);  // the flight of the probe
  for (int raised = 1; raised <= 15; raised = 2 * raised + 1) {
    const uint64_t before = link.delivered();
    const double window = link.window();
    while (link.window() < began + raised) link.run_until(link.now_s() + 0.0001);
    EXPECT_NEAR(static_cast<double>(link.delivered() - before) / window, 1, 0.2);
  }
}

// Section 5.5.10.3: a round trip with a loss sets the bound to beta times the window, which had no
// bound.
TEST(bbr3_leaves_seven_tenths_of_its_window_after_a_loss) {
  for (const double beta : {0.6, 0.7}) {
    Bottleneck link("bbr3", {{"beta", beta}}, rate, 100);
    link.run_until(3.5);
    const double before = link.window();
    link.lose_every(1);
    while (link.lost() == 0) link.run_until(link.now_s() + 0.0001);
    link.lose_every(0);
    link.run_until(3.8);
    EXPECT_NEAR(link.window(), beta * before, 0.01);
    EXPECT_NEAR(gain(link), 1, 0.01);  // the delivery rate
  }
}
