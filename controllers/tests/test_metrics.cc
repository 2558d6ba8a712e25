#include <cmath>
#include <string>
#include <vector>

#include "measure/metrics.hh"
#include "measure/over_time.hh"
#include "measure/step_series.hh"
#include "tests/check.hh"
#include "transport/packet.hh"

using namespace kneepoint;

// Arrivals at 10, 10, 13 and 15 ms depart at 14, 16, 16 and 25: delays 4, 6, 3, 10.
// Signal delay by millisecond: 10: min(4, 6) = 4; 11: value(12) + 1 = 5; 12: value(13) + 1 = 4;
// 13: 3; 14: value(15) + 1 = 11; 15: 10. Sorted 3 4 4 5 10 11; element floor(0.95 * 6) = 5: 11,
// element 3: 5.
// Sorted delays 3 4 6 10; element floor(0.95 * 4) = 3: 10.
TEST(metrics_of_a_log_worked_by_hand) {
  Meter meter;
  meter.start();
  meter.event(10);
  meter.opportunities(5);
  meter.event(30);
  meter.departure(10, 14, 1504);
  meter.departure(10, 16, 1504);
  meter.departure(13, 16, 1504);
  meter.departure(15, 25, 1504);
  const Metrics metrics = meter.metrics();
  EXPECT_NEAR(metrics.throughput_mbps, 4 * 1504 * 8 / 20e3, 1e-12);
  EXPECT_NEAR(metrics.capacity_mbps, 5 * 1504 * 8 / 20e3, 1e-12);
  EXPECT_NEAR(metrics.utilization, 0.8, 1e-12);
  EXPECT_EQUAL(metrics.queueing_delay_p95_ms, 10);
  EXPECT_EQUAL(metrics.signal_delay_p50_ms, 5);
  EXPECT_EQUAL(metrics.signal_delay_p95_ms, 11);
  EXPECT_NEAR(metrics.power, metrics.throughput_mbps / 0.011, 1e-9);
}

// Arrivals at 13, 10, 15 and 10 ms depart at 16, 17, 17 and 18: a queue let 13 overtake 10.
// 10: 7; 11: 5; 12: 4; 13: 3; 14: 3; 15: 2. Sorted 2 3 3 4 5 7; element floor(0.95 * 6) = 5: 7.
TEST(metrics_of_packets_that_overtake_each_other) {
  Meter meter;
  meter.start();
  meter.departure(13, 16, 1504);
  meter.departure(10, 17, 1504);
  meter.departure(15, 17, 1504);
  meter.departure(10, 18, 1504);
  EXPECT_EQUAL(meter.metrics().signal_delay_p95_ms, 7);
}

// Half a million arrivals, of which every other one is overtaken by its successor.
TEST(metrics_in_constant_memory_are_the_same) {
  Meter whole, settled;
  for (Milliseconds pair = 0; pair < 500'000; pair += 2) {
    for (const Milliseconds arrival_ms : {pair + 1, pair}) {
      const Milliseconds departure_ms = pair + 10 + pair * pair % 97;
      whole.departure(arrival_ms, departure_ms, 1504);
      EXPECT_EQUAL(arrival_ms >= settled.settled_ms(), true);
      settled.departure(arrival_ms, departure_ms, 1504);
      settled.settle();
    }
  }
  EXPECT_EQUAL(settled.settled_ms() > 0, true);
  EXPECT_EQUAL(settled.metrics().signal_delay_p50_ms, whole.metrics().signal_delay_p50_ms);
  EXPECT_EQUAL(settled.metrics().signal_delay_p95_ms, whole.metrics().signal_delay_p95_ms);
}

// 10,000 ms are too many for intervals of 1 or 2 ms.
TEST(what_happens_over_time_takes_few_intervals) {
  OverTime over_time;
  for (Milliseconds ms = 0; ms < 10'000; ++ms) over_time.at(ms).capacity_bytes += 125;
  over_time.departure(1, 9'000, 1504, 8'999);
  JsonWriter json;
  over_time.write(json.begin_object(), false);
  const std::string text = json.end_object().text();
  EXPECT_EQUAL(text.starts_with("{\"over_time\":{\"interval_s\":0.004,\"capacity_mbps\":[1,1,"),
               true);
  EXPECT_EQUAL(text.find("8999") != std::string::npos, true);
  EXPECT_EQUAL(text.find("\"queue_packets\":[1,1,") != std::string::npos, true);
  EXPECT_EQUAL(text.ends_with(",0,0]}}"), true);
}

TEST(metrics_without_a_departure_are_undefined_but_for_the_rates) {
  Meter meter;
  meter.start();
  meter.opportunities(1);
  meter.event(0);
  meter.event(100);
  EXPECT_EQUAL(meter.metrics().throughput_mbps, 0);
  EXPECT_EQUAL(std::isnan(meter.metrics().signal_delay_p95_ms), true);
  EXPECT_EQUAL(std::isnan(meter.metrics().power), true);
}

// Three intervals of 10: 2 from 4 on, 5 from 8 on, 1 from 20 on. What ends the run is too late.
TEST(step_series_has_what_holds_at_the_end_of_each_interval) {
  StepSeries series(10, 25);
  series.change(2, 4);
  series.change(5, 8);
  series.change(1, 20);
  series.change(9, 31);
  EXPECT_EQUAL(series.values() == (std::vector<double>{5, 5, 1}), true);
}
