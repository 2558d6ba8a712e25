#include <algorithm>
#include <cmath>
#include <deque>
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

// The age in the same log from 0 to 30 ms: before the first arrival it falls from 14 to 5, as the
// packet of 10 departs at 14; then it is 4 5 4 3 11 10; from 16 on, without a further departure, it
// falls from 14 to 0. Of the 31 sorted values element floor(0.95 * 31) = 29 is 14, element 15 is 8.
TEST(age_counts_the_silence_before_the_first_packet_and_after_the_last) {
  Meter meter;
  meter.start();
  meter.event(30);
  meter.departure(10, 14, 1504);
  meter.departure(10, 16, 1504);
  meter.departure(13, 16, 1504);
  meter.departure(15, 25, 1504);
  EXPECT_EQUAL(meter.metrics().age_p50_ms, 8);
  EXPECT_EQUAL(meter.metrics().age_p95_ms, 14);
  EXPECT_EQUAL(meter.metrics({}, 1030).age_p50_ms, 499);
  EXPECT_EQUAL(meter.metrics({}, 1030).age_p95_ms, 963);
}

TEST(age_of_no_packet_is_undefined) {
  Meter meter;
  meter.start();
  meter.event(30);
  EXPECT_EQUAL(std::isnan(meter.metrics().age_p95_ms), true);
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

namespace {

// The signal delay by its definition.
class Definition {
 public:
  void departure(Milliseconds arrival_ms, Milliseconds departure_ms) {
    const auto place = static_cast<size_t>(arrival_ms);
    if (place >= min_ms_.size()) min_ms_.resize(place + 1, never);
    min_ms_[place] = std::min(min_ms_[place], departure_ms - arrival_ms);
  }

  double quantile_ms(double q) const {
    std::vector<Milliseconds> values;
    for (size_t i = min_ms_.size(); i-- > 0;) {
      values.push_back(min_ms_[i] == never ? values.back() + 1 : min_ms_[i]);
    }
    while (min_ms_[min_ms_.size() - values.size()] == never) values.pop_back();
    std::ranges::sort(values);
    return static_cast<double>(values[static_cast<size_t>(q * static_cast<double>(values.size()))]);
  }

 private:
  std::vector<Milliseconds> min_ms_{};
};

void expect_same(const Meter& meter, const Definition& definition) {
  EXPECT_EQUAL(meter.metrics().signal_delay_p50_ms, definition.quantile_ms(0.5));
  EXPECT_EQUAL(meter.metrics().signal_delay_p95_ms, definition.quantile_ms(0.95));
}

}  // namespace

// Half a million arrivals; every second packet is overtaken by its successor.
TEST(metrics_in_constant_memory_are_the_same) {
  Meter meter;
  Definition definition;
  for (Milliseconds pair = 0; pair < 500'000; pair += 2) {
    for (const Milliseconds arrival_ms : {pair + 1, pair}) {
      const Milliseconds departure_ms = pair + 10 + pair * pair % 97;
      EXPECT_EQUAL(arrival_ms >= meter.settled_ms(), true);
      meter.departure(arrival_ms, departure_ms, 1504);
      definition.departure(arrival_ms, departure_ms);
    }
  }
  EXPECT_EQUAL(meter.settled_ms() > 0, true);
  expect_same(meter, definition);
}

// One packet in a thousand waits until half a million later packets have left; the queue reports it
// as waiting.
TEST(metrics_wait_for_a_packet_that_the_queue_still_holds) {
  Meter meter;
  Definition definition;
  std::deque<Milliseconds> held;
  meter.know_waiting([&] { return held.empty() ? never : held.front() * 1000; });
  const auto depart = [&](Milliseconds arrival_ms, Milliseconds departure_ms) {
    EXPECT_EQUAL(arrival_ms >= meter.settled_ms(), true);
    meter.departure(arrival_ms, departure_ms, 1504);
    definition.departure(arrival_ms, departure_ms);
  };
  for (Milliseconds now_ms = 0; now_ms < 1'200'000; ++now_ms) {
    if (now_ms % 1000 == 7) {
      held.push_back(now_ms);
    } else {
      depart(now_ms, now_ms + 5);
    }
    if (now_ms % 1000 == 9 and now_ms > 500'000) {
      depart(held.front(), now_ms);
      held.pop_front();
    }
  }
  EXPECT_EQUAL(meter.settled_ms() > 0, true);
  expect_same(meter, definition);
}

// Delays of minutes to hours, and gaps between arrivals as long: too many values for a counter
// each.
TEST(metrics_of_hours_of_delay_are_exact) {
  Meter meter;
  Definition definition;
  std::vector<Milliseconds> delays_ms;
  for (Milliseconds i = 0; i < 200; ++i) {
    const Milliseconds arrival_ms = i * i * 500;
    const Milliseconds departure_ms = 200'000 + i * 120'000;
    meter.departure(arrival_ms, departure_ms, 1504);
    definition.departure(arrival_ms, departure_ms);
    delays_ms.push_back(departure_ms - arrival_ms);
  }
  std::ranges::sort(delays_ms);
  EXPECT_EQUAL(meter.metrics().queueing_delay_p95_ms, static_cast<double>(delays_ms[190]));
  expect_same(meter, definition);
}

// A packet each millisecond, except in the first 700 ms of each ten seconds; the last packet of the
// ten seconds waits for 250 ms.
TEST(idle_times_are_from_a_departure_to_the_next_arrival_settled_or_not) {
  Meter meter;
  for (Milliseconds ms = 0; ms < 700'000; ++ms) {
    const Milliseconds of_ten_s = ms % 10'000;
    if (of_ten_s < 700) continue;
    meter.departure(ms, ms + (of_ten_s == 9'999 ? 250 : 5), 1504);
  }
  EXPECT_EQUAL(meter.settled_ms() > 0, true);
  const IdleTimes idle = meter.idle_times();
  EXPECT_EQUAL(idle.first_arrival_ms(), 700);
  EXPECT_EQUAL(idle.last_departure_ms(), 700'249);
  EXPECT_EQUAL(idle.spans().size(), 69u);
  for (const auto [from_ms, to_ms] : idle.spans()) {
    EXPECT_EQUAL(from_ms % 10'000, 249);
    EXPECT_EQUAL(to_ms - from_ms, 451);
  }
}

TEST(a_link_that_serves_a_burst_is_not_idle) {
  Meter meter;
  for (Milliseconds ms = 100; ms <= 2'000; ms += 100) meter.departure(0, ms, 1504);
  meter.departure(2'150, 2'151, 1504);
  EXPECT_EQUAL(meter.idle_times().spans().size(), 0u);
  meter.departure(2'351, 2'352, 1504);
  EXPECT_EQUAL(meter.idle_times().spans().size(), 1u);
}

// 10,000 ms are too many for intervals of 1 or 2 ms.
TEST(figures_over_time_have_few_intervals) {
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

// Three intervals of 10: the value is 2 from 4 on, 5 from 8 on, 1 from 20 on. The change at 31 is
// after the end.
TEST(step_series_has_the_value_at_the_end_of_each_interval) {
  StepSeries series(10, 25);
  series.change(2, 4);
  series.change(5, 8);
  series.change(1, 20);
  series.change(9, 31);
  EXPECT_EQUAL(series.values() == (std::vector<double>{5, 5, 1}), true);
}
