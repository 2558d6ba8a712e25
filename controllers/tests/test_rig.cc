#include <cmath>
#include <limits>

#include "common/random.hh"
#include "emulation/rig.hh"
#include "tests/check.hh"
#include "tests/running.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;
using kneepoint::test::handle_of;
using kneepoint::test::make_controller;
using kneepoint::test::run;

namespace {

// An opportunity every `interval_ms`, from the first interval's end to `end_ms`.
Trace constant_rate(Milliseconds interval_ms, Milliseconds end_ms) {
  std::string text;
  for (Milliseconds t = interval_ms; t <= end_ms; t += interval_ms)
    text += std::to_string(t) + "\n";
  return Trace("constant", text);
}

RunResult run_window(const Trace& trace, const Scenario& settings, double window) {
  const auto controller = make_controller("fixed_window", {{"window", window}});
  return run(trace, settings, {controller});
}

// Has the window that a test sets, valid or not.
class Unruly final : public Controller {
 public:
  explicit Unruly(double window, Parameters parameters = Parameters())
      : Controller(parameters, 1000), window_(window) {}
  double window() const override { return window_; }

 private:
  double window_;
};

// Sends one datagram at a time; records the last RTT.
class Listener final : public Controller {
 public:
  explicit Listener(Parameters parameters = Parameters()) : Controller(parameters, 1000) {}
  double window() const override { return 1; }
  void on_ack(const Ack& ack) override {
    rtt_ms = ack.rtt_ms();
    ++acks;
  }

  int64_t rtt_ms = 0;
  int acks = 0;
};

// The drops of a burst over a link without opportunities: all of them happen in the host's device.
uint64_t dropped_of_burst(const std::string& host_model, double window) {
  Scenario settings;
  settings.host = make_host_model(host_model);
  return run_window(Trace("silent", "60000\n"), settings, window).packets_dropped;
}

}  // namespace

// One datagram at a time over opportunities every 10 ms: 10 ms until the opportunity after its
// arrival, 20 ms to the receiver, 20 ms back, 10 ms for the downlink's opportunity, an RTT of 60
// ms. So datagrams leave the uplink at 10, 70, ..., 550: ten in 600 ms.
TEST(ideal_clock_of_one_datagram_at_a_time) {
  const Trace trace = constant_rate(10, 600);
  const RunResult result = run_window(trace, {}, 1);
  EXPECT_EQUAL(result.packets_sent, 11u);  // the eleventh at 600
  EXPECT_EQUAL(result.packets_delivered, 10u);
  EXPECT_EQUAL(result.metrics.queueing_delay_p95_ms, 10);
  EXPECT_NEAR(result.metrics.throughput_mbps, 10 * 1504 * 8 / 600e3, 1e-12);
  EXPECT_NEAR(result.metrics.capacity_mbps, 60 * 1504 * 8 / 600e3, 1e-12);
}

// A window of 6 just fills this path; a wider window only adds to the queue.
TEST(ideal_clock_fills_the_link_at_the_bandwidth_delay_product) {
  const Trace trace = constant_rate(10, 6000);
  EXPECT_NEAR(run_window(trace, {}, 6).metrics.utilization, 1, 0.002);
  EXPECT_NEAR(run_window(trace, {}, 5).metrics.utilization, 5.0 / 6, 0.002);
  EXPECT_EQUAL(run_window(trace, {}, 6).metrics.queueing_delay_p95_ms, 10);
  EXPECT_EQUAL(run_window(trace, {}, 16).metrics.queueing_delay_p95_ms, 110);
}

TEST(a_run_is_the_same_for_a_seed_and_another_for_another) {
  const Trace trace = constant_rate(7, 20000);
  Scenario settings;
  settings.host = make_host_model("event-loop");
  const auto throughput = [&](uint64_t seed) {
    settings.seed = seed;
    return run_window(trace, settings, 5).metrics.throughput_mbps;
  };
  EXPECT_EQUAL(throughput(1), throughput(1));
  EXPECT_EQUAL(throughput(1) == throughput(2), false);
}

TEST(host_latency_costs_throughput_in_each_direction) {
  const Trace trace = constant_rate(1, 20000);
  Scenario settings;
  const double without = run_window(trace, settings, 4).metrics.throughput_mbps;
  settings.host.host_latency_us = 5000;
  const double with = run_window(trace, settings, 4).metrics.throughput_mbps;
  EXPECT_NEAR(with / without, 42.0 / 52.0, 0.01);  // an RTT of 42 ms, and of 52 ms with the latency
}

TEST(a_keepalive_ends_a_silence) {
  const Trace trace("gap", "1\n9000\n9001\n");
  const auto controller = make_controller("fixed_window", {{"window", 1}, {"keepalive_ms", 1000}});
  // Datagrams leave at 0 and at 1000 ... 8000; at 9000 the first acknowledgment arrives and
  // restarts the timer.
  EXPECT_EQUAL(run(trace, {}, {controller}).packets_sent, 9u);
}

TEST(a_controller_without_a_sane_window_ends_its_run) {
  const Trace trace = constant_rate(10, 1000);
  for (const double window : {std::numeric_limits<double>::quiet_NaN(), 1e9, -1.0}) {
    Unruly controller(window);
    expect_refused([&] { run(trace, {}, {handle_of(controller)}); }, "the window became");
  }
  Unruly too_wide(widest_window_packets + 1.0);
  expect_refused([&] { run(trace, {}, {handle_of(too_wide)}); },
                 "the window became 1048577 packets; it must stay in [0, 1048576]");
}

TEST(the_widest_window_runs) {
  for (const char* host : {"ideal", "event-loop"}) {
    Scenario settings;
    settings.host = make_host_model(host);
    Unruly controller(widest_window_packets);
    const RunResult result = run(constant_rate(10, 10000), settings, {handle_of(controller)});
    EXPECT_EQUAL(result.packets_sent >= widest_window_packets, true);
    EXPECT_NEAR(result.metrics.utilization, 1, 0.002);
  }
}

// The device holds 500 packets. A datagram of the burst leaves every 5 us, and the shell reads one
// every 10 us.
TEST(a_burst_loses_what_the_first_device_cannot_hold) {
  EXPECT_EQUAL(dropped_of_burst("event-loop", 400), 0u);
  EXPECT_EQUAL(dropped_of_burst("event-loop", 1000), 0u);
  EXPECT_NEAR(static_cast<double>(dropped_of_burst("event-loop", 1100)), 50, 1);
  EXPECT_NEAR(static_cast<double>(dropped_of_burst("event-loop", 8000)), 3500, 1);
  EXPECT_NEAR(static_cast<double>(dropped_of_burst("event-loop:device_packets=100", 8000)), 3900,
              1);
  EXPECT_NEAR(static_cast<double>(dropped_of_burst("event-loop:read_us=20", 8000)), 5500, 1);
}

// A probe that never starts changes no result, but with it the sender is not alone.
TEST(a_lone_sender_acts_ahead_as_by_the_agenda) {
  std::string text;
  Random random(7);
  for (double time_ms = 1; time_ms < 12'000; time_ms += draw_exponential(random, 1.7)) {
    text += std::to_string(static_cast<int>(time_ms)) + "\n";
  }
  const Trace trace("random", text + "12000\n");
  for (const char* host :
       {"ideal", "event-loop", "event-loop:wake_us=0,wake_mean_us=0",
        "event-loop:packet_us=300,read_us=900", "event-loop:packet_us=1,receiver_us=0",
        "event-loop:delays_us=8+53+97+205+900", "event-loop:device_packets=9,read_us=400"}) {
    for (const char* queue : {"infinite", "droptail:packets=30", "codel:target=5,interval=100"}) {
      for (const double window : {1., 4., 30., 200.}) {
        for (const double delay_ms : {0., 1., 20.}) {
          Scenario settings;
          settings.host = make_host_model(host);
          settings.uplink.queue = queue;
          settings.uplink.delay_ms = settings.downlink.delay_ms = delay_ms;
          const RunResult alone = run_window(trace, settings, window);
          settings.probes.push_back({.start_s = 2 * longest_run_s});
          const RunResult agenda = run_window(trace, settings, window);
          EXPECT_EQUAL(alone.packets_sent, agenda.packets_sent);
          EXPECT_EQUAL(alone.packets_delivered, agenda.packets_delivered);
          EXPECT_EQUAL(alone.packets_dropped, agenda.packets_dropped);
          EXPECT_EQUAL(alone.metrics.throughput_mbps, agenda.metrics.throughput_mbps);
          EXPECT_EQUAL(alone.metrics.queueing_delay_p95_ms, agenda.metrics.queueing_delay_p95_ms);
          EXPECT_EQUAL(alone.metrics.signal_delay_p95_ms, agenda.metrics.signal_delay_p95_ms);
        }
      }
    }
  }
}

TEST(a_device_without_a_limit_loses_nothing) {
  EXPECT_EQUAL(dropped_of_burst("ideal", 8000), 0u);
  EXPECT_EQUAL(dropped_of_burst("event-loop:device_packets=0", 8000), 0u);
  EXPECT_EQUAL(dropped_of_burst("event-loop:read_us=5", 8000), 0u);
}

TEST(a_device_fills_while_its_shell_waits_for_the_processor) {
  EXPECT_EQUAL(dropped_of_burst("event-loop:read_us=0,delays_us=50000+50000", 800), 300u);
}

// Datagrams are replaced as soon as an acknowledgment shows their loss, and then the device has
// room: a link that is fast enough soon has the whole window in flight.
TEST(a_window_fills_again_after_a_burst) {
  Scenario settings;
  settings.host = make_host_model("event-loop");
  const RunResult result = run_window(constant_rate(1, 30000), settings, 4000);
  EXPECT_NEAR(static_cast<double>(result.packets_dropped), 1500, 1);
  const uint64_t underway = result.packets_sent - result.packets_delivered - result.packets_dropped;
  EXPECT_NEAR(static_cast<double>(underway), 4000 - 21,
              2);  // the others are acknowledgments in flight
  EXPECT_NEAR(static_cast<double>(result.metrics.queueing_delay_p95_ms), 4000 - 41, 2);
}

// Both bursts begin at 0. When the burst of 8000 packets has filled the device, the single packet
// has passed.
TEST(flows_fill_a_device_in_the_order_of_time) {
  Scenario settings;
  settings.host = make_host_model("event-loop");
  const auto wide = make_controller("fixed_window", {{"window", 8000}});
  Listener narrow;
  const RunResult result = run(constant_rate(1, 5000), settings, {wide, handle_of(narrow)});
  EXPECT_NEAR(static_cast<double>(result.packets_dropped), 3500, 2);
  EXPECT_EQUAL(narrow.acks > 0, true);
}

TEST(a_window_of_zero_still_sends_keepalives) {
  const Trace trace = constant_rate(10, 5000);
  Unruly controller(0);
  // The first keepalive is at 1000; its acknowledgment at 1060 restarts the timer: 2060, 3120,
  // 4180.
  EXPECT_EQUAL(run(trace, {}, {handle_of(controller)}).packets_sent, 4u);
}

// In each second between two keepalives the link is idle, except for the packet's transmission.
TEST(a_sender_that_only_keeps_alive_stands_still) {
  const Trace trace = constant_rate(10, 5000);
  Unruly closed(0);
  const RunResult still = run(trace, {}, {handle_of(closed)});
  EXPECT_NEAR(still.idle_share, 0.98, 0.02);
  EXPECT_EQUAL(still.at_bound_share, 0.0);
  EXPECT_EQUAL(run_window(trace, {}, 1).idle_share, 0.0);  // a packet in each round trip
}

// A window of 1 is no silence, however long the RTT is; and during an outage no capacity is lost.
TEST(neither_a_long_way_nor_an_outage_is_a_silence_of_the_sender) {
  Scenario settings;
  settings.uplink.delay_ms = settings.downlink.delay_ms = 400;
  EXPECT_EQUAL(run_window(constant_rate(10, 5000), settings, 1).idle_share, 0.0);
  std::string lines;
  for (int time_ms = 1; time_ms <= 20'000; ++time_ms) {
    if (time_ms < 5'000 or time_ms > 18'000) lines += std::to_string(time_ms) + "\n";
  }
  EXPECT_NEAR(run_window(Trace("outage", lines), {}, 5).idle_share, 0, 0.03);
}

TEST(the_widest_window_of_a_sender_is_at_its_bound) {
  const Trace trace = constant_rate(10, 5000);
  EXPECT_EQUAL(run_window(trace, {}, widest_window).at_bound_share, 1.0);
  EXPECT_EQUAL(run_window(trace, {}, 1000).at_bound_share, 0.0);
}

// CUBIC fills a queue without a limit until the receiver's buffer bounds it.
TEST(a_window_wider_than_tcps_buffers_is_at_its_bound) {
  const auto share = [](uint64_t buffer_bytes) {
    Scenario settings;
    settings.flows.resize(1);
    settings.flows[0].transport = Transport::tcp;
    settings.flows[0].tcp.receive_buffer_bytes = buffer_bytes;
    return run(constant_rate(10, 20'000), settings, {make_controller("cubic")}).at_bound_share;
  };
  EXPECT_EQUAL(share(1ULL << 40), 0.0);
  EXPECT_NEAR(share(100'000), 1, 0.1);
}

// The idle capacity of a download that has ended does not count against its sender.
TEST(shares_of_idle_time_need_senders_that_always_have_data) {
  Scenario settings;
  settings.flows.resize(1);
  settings.flows[0].bytes = 100'000;
  const RunResult result = run_window(constant_rate(10, 5000), settings, 5);
  EXPECT_EQUAL(std::isnan(result.idle_share) and std::isnan(result.at_bound_share), true);
}

TEST(a_spread_of_lateness_keeps_its_mean) {
  HostModel host = make_host_model("event-loop:wake_spread=0.5");
  constexpr int runs = 20000;
  double sum = 0, logarithms = 0, squares = 0;
  for (uint64_t seed = 0; seed < runs; ++seed) {
    const double factor = RunLateness(host, Random(seed)).factor;
    const double logarithm = std::log(factor);
    sum += factor;
    logarithms += logarithm;
    squares += logarithm * logarithm;
  }
  EXPECT_NEAR(sum / runs, 1, 0.015);
  const double mean = logarithms / runs;
  EXPECT_NEAR(std::sqrt(squares / runs - mean * mean), 0.5, 0.01);
  host.wake_spread = 0;
  EXPECT_EQUAL(RunLateness(host, Random(1)).factor, 1);
}

TEST(whatever_wakes_a_process_it_waits_for_the_processor) {
  const Trace trace = constant_rate(1, 20000);
  Scenario settings;
  const double without = run_window(trace, settings, 4).metrics.throughput_mbps;
  settings.host.delays_us = {5000, 5000};
  const double with = run_window(trace, settings, 4).metrics.throughput_mbps;
  // Each of the four shells wakes twice, for a packet and for a timer; the receiver and the sender
  // wake once.
  EXPECT_NEAR(with / without, 42.0 / (42 + 10 * 5), 0.01);
}

TEST(a_process_reads_all_packets_that_arrived_before_it_woke) {
  const RunLateness run(make_host_model("event-loop:delays_us=300+300"), Random(1));
  Lateness lateness(run, Random(2), Random(3));
  for (const Microseconds time_us : {1000, 1200, 1300}) {
    EXPECT_EQUAL(lateness.read_time(time_us), 1300);
  }
  EXPECT_EQUAL(lateness.read_time(1301), 1601);
}

TEST(a_late_sender_still_knows_when_the_kernel_had_an_acknowledgment) {
  const Trace trace = constant_rate(1, 1000);
  Scenario settings;
  settings.host.delays_us = {5000, 5000};
  Listener listener;
  run(trace, settings, {handle_of(listener)});
  // 42 ms and nine of the ten waits: the sender's own wait does not count.
  EXPECT_EQUAL(listener.rtt_ms, 42 + 9 * 5);
}

TEST(host_models_are_checked) {
  expect_refused([] { make_host_model("real"); }, "host model real: it is unknown");
  expect_refused([] { make_host_model("event-loop:wake=1"); },
                 "has no parameter wake; it has: wake_us");
  expect_refused([] { make_host_model("event-loop:wake_us=-1"); }, "wake_us -1 is outside");
  expect_refused([] { make_host_model("event-loop:wake_spread=4"); },
                 "wake_spread 4 is outside [0, 3]");
  expect_refused([] { make_host_model("event-loop:delay_scale=101"); }, "is outside [0, 100]");
  expect_refused([] { make_host_model("event-loop:device_packets=1.5"); },
                 "device_packets: '1.5' is not a whole number");
  EXPECT_EQUAL(make_host_model("event-loop:wake_us=7").wake_us, 7);
  EXPECT_EQUAL(make_host_model("event-loop:device_packets=1000").device_packets, 1000);
  expect_refused([] { make_host_model("event-loop:delays_us=5"); },
                 "delays_us: measured times must be none or 2 to 32, not 1");
  expect_refused([] { make_host_model("event-loop:delays_us=5+4"); }, "must not descend");
  expect_refused([] { make_host_model("event-loop:delays_us=5+x"); }, "'x'");
  expect_refused([] { make_host_model("event-loop:delays_us=5+2e6"); }, "is outside [0, 1e+06]");
  const HostModel late = make_host_model("event-loop:delays_us=5+8+60,wake_us=7");
  EXPECT_EQUAL(late.delays_us == (std::vector<double>{5, 8, 60}), true);
  EXPECT_EQUAL(late.wake_us, 7);
}
