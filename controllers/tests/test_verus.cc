// Verus against sections 4 and 5 of Zaki et al., SIGCOMM 2015, and the authors' verus_server.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "algorithms/delay_profile.hh"
#include "tests/bottleneck.hh"
#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-6;
constexpr double never = 1e9;

// The delay of each window in these tests.
double delay_ms(double window) { return 100 + 5 * window; }

// A flow in slow start that has measured the delays of all windows below `next`; each
// acknowledgment lets two packets leave. The next packets to be acknowledged left at the window
// `next`.
Clocked started(int next, Parameters::Values more = {}) {
  more.insert({{"slow_start_ms", never}, {"refit_s", 1e3}});
  Clocked flow("verus", more);
  for (int i = 0; i < 2 * next - 3; ++i) flow.ack(delay_ms(1 + std::ceil(i / 2.0)), 1, 0);
  return flow;
}

// A flow in which the delay of a packet that left at a window of 100 has ended slow start. The loss
// phase is over: the target is the delay of a window of 70, and epochs begin now.
Clocked profiled(Parameters::Values more = {}) {
  more.insert({"slow_start_ms", 600});
  Clocked flow = started(100, more);
  flow.ack(601, 1, 0);
  for (int i = 0; i < 400; ++i) flow.ack(200, 1, 0);
  return flow;
}

double wanted_ms(const Clocked& flow) { return delay_ms(flow.window()); }

// An epoch of 5 ms with one delay; returns the change of the target delay.
double epoch(Clocked& flow, double rtt_ms, double length = 1) {
  const double before_ms = wanted_ms(flow);
  flow.ack(rtt_ms, 1, 4 * length);
  const double within_ms = wanted_ms(flow);
  flow.ack(Clocked::unmeasured, 1, 1.002 * length);
  return within_ms == before_ms ? wanted_ms(flow) - before_ms : NAN;
}
// The first epoch, which has no trend.
void begin(Clocked& flow, double length = 1) {
  flow.ack(200, 1, 4 * length);
  flow.ack(Clocked::unmeasured, 1, 1.002 * length);
}

// The number of epochs without a trend until slow start begins again.
int epochs_to_restart(Clocked& flow) {
  int count = 0;
  for (; flow.window() > 1 and count < 1000; ++count) begin(flow);
  return count;
}

}  // namespace

TEST(verus_profile_averages_the_delays_of_each_window) {
  for (const double share : {0.5, 0.875}) {
    DelayProfile profile;
    for (int window = 1; window <= 5; ++window) profile.add(window, delay_ms(window), share);
    profile.add(5.9, delay_ms(5) + 80, share);
    profile.fit();
    EXPECT_NEAR(profile.delay_ms_of(5, 0), delay_ms(5) + (1 - share) * 80, exact);
    EXPECT_NEAR(profile.delay_ms_of(4, 0), delay_ms(4), exact);
  }
}

TEST(verus_profile_has_no_curve_through_fewer_than_five_windows) {
  DelayProfile profile;
  profile.fit();
  EXPECT_EQUAL(profile.delay_ms_of(3, 7), 7);
  for (int window = 1; window <= 4; ++window) profile.add(window, delay_ms(window), 0.5);
  profile.fit();
  EXPECT_EQUAL(profile.maps(delay_ms(2)), false);
  profile.add(5, delay_ms(5), 0.5);
  profile.fit();
  EXPECT_EQUAL(profile.maps(delay_ms(2)), true);
  DelayProfile flat;
  for (int window = 1; window <= 60; ++window) flat.add(window, 100, 0.5);
  flat.fit();
  EXPECT_EQUAL(flat.maps(100), false);
  EXPECT_EQUAL(flat.delay_ms_of(30, 0), 100);
}

TEST(verus_profile_ends_at_twice_its_last_knot) {
  struct Case {
    int windows;
    double first;  // mean window of the first knot
    double last;
  };
  for (const auto& [windows, first, last] :
       {Case{5, 1, 5}, {14, 1.5, 13.5}, {60, 6.5, 54.5}, {75, 8, 68}, {80, 3, 73}, {90, 8, 83}}) {
    DelayProfile profile;
    for (int window = 1; window <= windows; ++window) profile.add(window, delay_ms(window), 0.5);
    profile.fit();
    for (const double window : {0.5, 4.5, 1.9 * last}) {
      EXPECT_NEAR(profile.window_of(delay_ms(window)), window, exact);
    }
    EXPECT_NEAR(profile.delay_ms_of(0, 0), delay_ms(first), exact);
    EXPECT_NEAR(profile.delay_ms_of(4.7, 0), delay_ms(std::clamp(4.7, first, last)), exact);
    EXPECT_NEAR(profile.delay_ms_of(1000, 0), delay_ms(last), exact);
    EXPECT_EQUAL(profile.maps(delay_ms(2 * last) - 0.001), true);
    EXPECT_EQUAL(profile.maps(delay_ms(2 * last) + 0.001), false);
  }
}

TEST(verus_profile_never_falls) {
  DelayProfile profile;
  for (int window = 1; window <= 5; ++window) profile.add(window, delay_ms(window), 0.5);
  profile.add(6, 50, 0.5);
  profile.add(7, 200, 0.5);
  profile.fit();
  const double mean_ms = (5 * delay_ms(3) + 50) / 6;
  EXPECT_NEAR(profile.delay_ms_of(7, 0), 200, exact);
  EXPECT_NEAR(profile.delay_ms_of(3.5, 0), mean_ms, exact);
  EXPECT_NEAR(profile.window_of(mean_ms), 3.5, exact);
  profile.forget_from(6);
  profile.fit();
  EXPECT_NEAR(profile.delay_ms_of(3.5, 0), delay_ms(3.5), exact);
}

TEST(verus_doubles_until_a_delay_ends_slow_start) {
  EXPECT_EQUAL(Clocked("verus", {}).window(), 1);
  for (const double limit : {500.0, 200.0}) {
    for (const double kept : {0.7, 0.5}) {
      Clocked flow("verus", {{"initial_window", 4}, {"slow_start_ms", limit}, {"kept", kept}});
      EXPECT_EQUAL(flow.ack(limit - 1, 3), 7);
      EXPECT_EQUAL(flow.ack(limit), 8);
      // The next packet left at a window of 7. In a loss phase the window grows by one packet per
      // window.
      double window = 7 * kept;
      for (const uint64_t packets : {1, 2}) {
        window += static_cast<double>(packets) / window;
        EXPECT_NEAR(flow.ack(limit + 1, packets, 0), window, exact);
      }
    }
  }
  Clocked flow("verus", {{"initial_window", 39'990}});
  EXPECT_EQUAL(flow.ack(100, 1000), 40'000);
}

TEST(verus_moves_its_delay_by_the_trend_of_the_greatest) {
  for (const double factor : {1.0, 1.5}) {
    Clocked flow =
        profiled({{"step_ms", 2 * factor}, {"small_step_ms", factor}, {"epoch_ms", 5 * factor}});
    begin(flow, factor);
    EXPECT_NEAR(wanted_ms(flow), delay_ms(70) + 2 * factor, exact);
    EXPECT_NEAR(epoch(flow, 200, factor), 2 * factor, exact);
    EXPECT_NEAR(epoch(flow, 300, factor), -factor, exact);
    EXPECT_NEAR(epoch(flow, 279.9, factor), 2 * factor, exact);   // 0.2 x 200 + 0.8 x 300
    EXPECT_NEAR(epoch(flow, 279.95, factor), -factor, exact);     // 279.92
    EXPECT_NEAR(epoch(flow, 279.94, factor), 2 * factor, exact);  // 279.944
    flow.ack(300, 1, factor);
    flow.ack(150, 1, factor);
    EXPECT_NEAR(epoch(flow, 100, 0.6 * factor), -factor, exact);
  }
}

TEST(verus_takes_a_silence_for_a_delay) {
  Clocked flow = profiled();
  begin(flow);
  const double before_ms = wanted_ms(flow);
  // In 39 epochs the silence is not longer than 200 ms, and in 41 it grows beyond 200 ms.
  flow.ack(Clocked::unmeasured, 1, 400);
  EXPECT_NEAR(wanted_ms(flow) - before_ms, 39 * 2 - 41, exact);
}

TEST(verus_measures_delays_below_a_millisecond) {
  Clocked flow = profiled();
  flow.is_tcp = true;
  for (int i = 0; i < 20; ++i) epoch(flow, 0.5);  // until the average has fallen as far
  EXPECT_NEAR(epoch(flow, 0.5), 2, exact);
}

TEST(verus_only_falls_beyond_a_ratio_of_its_least_delay) {
  for (const double ratio : {3.0, 6.0}) {
    Clocked flow = profiled({{"ratio", ratio}});
    begin(flow);
    const double max_ms = ratio * delay_ms(1);
    for (int i = 0; i < 20; ++i) epoch(flow, max_ms + 0.1);
    EXPECT_NEAR(epoch(flow, max_ms + 0.1), -2, exact);
    for (int i = 0; i < 20; ++i) epoch(flow, max_ms - 0.1);
    EXPECT_NEAR(epoch(flow, max_ms - 0.1), 2, exact);
  }
  Clocked flow = profiled({{"ratio", 2}});
  flow.ack(210, 1, 4);
  flow.ack(210, 1, 1.002);
  EXPECT_NEAR(epoch(flow, 210), 2, exact);
}

TEST(verus_does_not_fall_in_the_loss_phase_after_slow_start) {
  Clocked flow = started(100, {{"slow_start_ms", 600}, {"ratio", 2}});
  flow.ack(601, 1, 0);
  flow.ack(601, 1, 5.1);
  flow.ack(Clocked::unmeasured, 1, 5);
  EXPECT_NEAR(flow.window(), 70 + 1 / 70.0, exact);
  flow.ack(601, flow.flight(), 0);
  flow.ack(601, 1, 0);  // left after the loss phase began
  flow.ack(Clocked::unmeasured, 1, 5);
  EXPECT_NEAR(wanted_ms(flow), delay_ms(70) - 2, exact);
}

TEST(verus_finds_that_its_path_is_longer) {
  Clocked flow = profiled({{"ratio", 2}});
  for (int i = 0; i < 172; ++i) epoch(flow, 400);
  EXPECT_NEAR(flow.window(), 1.2, exact);
  // The minimum delay becomes 105, 115 and 125 ms; then more than a packet is in flight.
  for (int i = 0; i < 4; ++i) epoch(flow, 400);
  EXPECT_NEAR(flow.window(), 5, exact);
  EXPECT_NEAR(epoch(flow, 400), 0, exact);
  // With two packets in flight the minimum does not change.
  Clocked low = profiled({{"ratio", 2}, {"step_ms", 400}});
  epoch(low, 400);
  if (low.flight() % 2 == 0) low.ack(400, 1, 0);
  while (low.flight() > 3) epoch(low, 400);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(epoch(low, 400), 0, exact);
  EXPECT_NEAR(epoch(low, 400), 10, exact);
}

TEST(verus_returns_to_slow_start_at_the_end_of_its_profile) {
  Clocked flow = profiled({{"step_ms", 2.1}});
  // The last knot covers windows of 85 to 99 packets.
  EXPECT_EQUAL(epochs_to_restart(flow), std::ceil((delay_ms(2 * 92) - delay_ms(70)) / 2.1));
  EXPECT_EQUAL(flow.window(), 1);
  EXPECT_EQUAL(flow.keepalive_ms(), 1000);
  flow.lose();  // of packets that left before
  while (flow.flight() > 1) EXPECT_EQUAL(flow.ack(200, 1, 2), 1);
  EXPECT_EQUAL(flow.ack(200, 1, 0), 1);
  EXPECT_EQUAL(flow.ack(200, 1, 0), 2);
  EXPECT_EQUAL(flow.ack(300, 2, 1), 4);
  EXPECT_EQUAL(flow.keepalive(), 1);  // again without a curve
}

TEST(verus_fits_its_profile_again) {
  for (const int epochs : {50, 100}) {
    Clocked flow = profiled({{"refit_s", 0.005 * epochs}});
    begin(flow);
    for (int i = 2; i < epochs; ++i) EXPECT_NEAR(epoch(flow, 200), 2, exact);
    EXPECT_EQUAL(std::abs(epoch(flow, 200) - 2) > 1, true);
  }
}

TEST(verus_reacts_to_a_loss_after_150_ms) {
  Clocked flow = profiled({{"epoch_ms", 400}});
  const double before = flow.window();
  const double lost = std::floor(before);
  flow.lose();
  flow.skip(1);
  EXPECT_EQUAL(flow.ack(200, 1, 149.9), before);
  double window = 0.7 * lost;
  window += 1 / window;
  EXPECT_NEAR(flow.ack(200, 1, 0.2), window, exact);
  // Another loss does not count in the loss phase, which ends with the first packet that left after
  // the loss.
  flow.lose();
  flow.skip(1);
  window += 1 / window;
  EXPECT_NEAR(flow.ack(200, 1, 150.2), window, exact);
  flow.ack(200, flow.flight(), 0);
  const double grown = flow.ack(200, 1, 0);
  EXPECT_EQUAL(flow.ack(200, 1, 0), grown);
  // The target was the delay of the reduced window.
  flow.ack(Clocked::unmeasured, 1, 100);
  EXPECT_NEAR(wanted_ms(flow), delay_ms(0.7 * lost) + 2, exact);
  // A loss after this phase counts.
  const double again = std::floor(flow.window());
  for (int i = 0; i < 100; ++i) flow.ack(200, 1, 0);
  flow.lose();
  flow.skip(1);
  EXPECT_NEAR(flow.ack(200, 1, 150.1), 0.7 * again + 1 / (0.7 * again), exact);
}

TEST(verus_keeps_a_window_that_has_fallen_further) {
  Clocked flow = profiled({{"ratio", 1}, {"step_ms", 100}});
  flow.lose();
  flow.skip(1);
  flow.ack(200, 1, 149.9);
  EXPECT_EQUAL(flow.window(), 1);
  // The first knot of the profile covers windows of 1 to 9 packets: the target is its delay less
  // 100 ms.
  EXPECT_NEAR(flow.ack(200, 1, 0.2), 2, exact);
}

TEST(verus_forgives_a_late_packet) {
  for (const bool is_late : {false, true}) {
    Clocked flow = profiled({{"epoch_ms", 1000}});
    const double before = flow.window();
    const uint64_t missing = flow.next_acknowledged();
    flow.lose();
    flow.skip(1);
    flow.ack(200, 1, 100);
    EXPECT_EQUAL(is_late ? flow.late(missing) : flow.undo(), before);
    EXPECT_EQUAL(flow.ack(200, 1, 60), before);
    flow.lose();
    flow.skip(1);
    const double left = 0.7 * std::floor(before);
    EXPECT_NEAR(flow.ack(200, 1, 151), left + 1 / left, exact);
  }
}

TEST(verus_leaves_slow_start_by_a_loss_above_20_packets) {
  // 0.7 of 29 and of 30 packets.
  for (const int next : {29, 30}) {
    Clocked flow = started(next);
    flow.lose();
    flow.skip(1);
    double window = 0.7 * next;
    window += 1 / window + (next == 29 ? 1 : 0);
    EXPECT_NEAR(flow.ack(delay_ms(next), 1, 151), window, exact);
    if (next == 29) continue;
    EXPECT_NEAR(flow.ack(Clocked::unmeasured, 1, 5.1), 21.4 + 1 / 21.4, exact);
  }
  // A loss at a window that slow start has outgrown ends slow start in the same phase.
  Clocked flow = started(20);
  flow.lose();
  flow.skip(1);
  for (int i = 0; i < 12; ++i) flow.ack(delay_ms(20), 1, 0);
  flow.ack(delay_ms(20), 1, 100);
  flow.lose();
  flow.skip(1);
  flow.ack(delay_ms(20), 1, 51);
  for (int i = 0; i < 8; ++i) flow.ack(delay_ms(20), 1, 0);
  const double before = flow.window();
  EXPECT_EQUAL(before > 21, true);
  EXPECT_NEAR(flow.ack(delay_ms(20), 1, 100), before + 1 / before, exact);
}

TEST(verus_forgets_delays_that_slow_start_measured_beyond_a_loss) {
  struct Case {
    int lost;
    int last;  // last window remembered, at least 99
  };
  for (const auto& [lost, last] : {Case{50, 99}, {120, 119}}) {
    Clocked flow = started(lost, {{"step_ms", 2.1}});
    flow.lose();
    flow.skip(1);
    flow.ack(delay_ms(lost), 1, 0);
    for (int window = lost + 1; window < last + 20; ++window) {
      const double rtt_ms = window > last + 5 ? 3000 : delay_ms(window);
      flow.ack(rtt_ms, 1, 0);
      flow.ack(rtt_ms, 1, 0);
    }
    flow.ack(200, 1, 151);
    for (int i = 0; i < 400; ++i) flow.ack(200, 1, 0);
    EXPECT_NEAR(epochs_to_restart(flow), (delay_ms(2 * (last - 7)) - delay_ms(0.7 * lost)) / 2.1,
                4);
  }
}

TEST(verus_learns_nothing_in_a_loss_phase) {
  Clocked flow = started(100, {{"slow_start_ms", 600}, {"refit_s", 0.01}});
  flow.ack(601, 1, 0);
  flow.ack(150, flow.flight(), 0);
  for (int i = 0; i < 3; ++i) flow.ack(Clocked::unmeasured, 1, 5.1);
  EXPECT_NEAR(wanted_ms(flow), delay_ms(70) + 6, 0.1);
}

TEST(verus_wants_the_least_delay_after_a_timeout) {
  Clocked flow = profiled();
  EXPECT_EQUAL(flow.keepalive(), 1);
  EXPECT_EQUAL(flow.ack(200, 1, 0), 2);  // a loss phase
  Clocked young = started(40);
  EXPECT_EQUAL(young.keepalive(), 1);
  EXPECT_EQUAL(young.ack(200, 1, 0), 1);  // slow start is over
  Clocked silent("verus", {{"initial_window", 7}});
  EXPECT_EQUAL(silent.keepalive(), 7);
  EXPECT_EQUAL(silent.ack(100), 8);
}

TEST(verus_times_out_after_five_round_trips_within_limits) {
  Clocked flow("verus", {});
  EXPECT_EQUAL(flow.keepalive_ms(), 1000);
  flow.ack(400);
  flow.ack(100);
  EXPECT_NEAR(flow.keepalive_ms(), 500, exact);
  flow.ack(29);
  EXPECT_EQUAL(flow.keepalive_ms(), 150);
  flow.ack(201);
  EXPECT_EQUAL(flow.keepalive_ms(), 1000);
  Clocked hasty("verus", {{"keepalive_ms", 50}});
  hasty.ack(100);
  EXPECT_EQUAL(hasty.keepalive_ms(), 50);
}

TEST(verus_fills_a_link_and_then_a_faster_link) {
  Bottleneck link("verus", {{"ratio", 2}}, 500, 100);
  link.run_until(20);
  for (const double rate : {500.0, 2000.0}) {
    link.set_rate(rate);
    link.run_until(link.now_s() + 10);
    const auto before = static_cast<double>(link.delivered());
    double queued_s = 0;
    for (int i = 0; i < 1000; ++i) {
      link.run_until(link.now_s() + 0.01);
      queued_s += link.queue() / rate / 1000;
    }
    EXPECT_NEAR((static_cast<double>(link.delivered()) - before) / rate / 10, 1, 0.03);
    EXPECT_NEAR(queued_s, 0.08, 0.07);
  }
}
