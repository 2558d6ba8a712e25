// Impairments of packets before a link, with netem's and mm-onoff's parameters.
#include <cmath>
#include <vector>

#include "host/header_store.hh"
#include "links/impairment.hh"
#include "tests/check.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;

namespace {

constexpr int packets = 200'000;
constexpr Microseconds gap_us = 1000;

// The delays of packets that arrive every millisecond.
std::vector<double> delays_ms(const std::string& description, uint64_t seed = 1) {
  const auto impairment = make_impairment(description, seed);
  std::vector<double> delays;
  for (int i = 0; i < packets; ++i) {
    const Microseconds now_us = i * gap_us;
    delays.push_back(static_cast<double>(impairment->passes_us(now_us) - now_us) / 1000);
  }
  return delays;
}

struct Moments {
  double mean;
  double deviation;
  double correlation;  // of successive values
};

Moments moments_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double variance = 0;
  double covariance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    variance += (values[i] - mean) * (values[i] - mean) / n;
    if (i > 0) covariance += (values[i] - mean) * (values[i - 1] - mean) / n;
  }
  return {mean, std::sqrt(variance), covariance / variance};
}

}  // namespace

// The deviation of a uniform distribution is half its width: its standard deviation is smaller by a
// factor of sqrt(3). A Pareto delay of shape 3 begins sqrt(1/3) standard deviations below its mean,
// and its fourth moment is infinite.
TEST(jitter_has_the_stated_mean_deviation_and_correlation) {
  for (const double rho : {0.0, 0.5, 0.9}) {
    for (const auto& [distribution, deviation, min, tolerance] :
         std::vector<std::tuple<std::string, double, double, double>>{
             {"uniform", 5 / std::sqrt(3.0), 35, 0.03},
             {"normal", 5, 0, 0.05},
             {"pareto", 5, 40 - 5 / std::sqrt(3.0), 0.5}}) {
      const std::string description =
          "jitter-" + distribution + ":mean=40,deviation=5,correlation=" + std::to_string(rho);
      const auto delays = delays_ms(description);
      const Moments found = moments_of(delays);
      EXPECT_NEAR(found.mean, 40, 0.15);
      EXPECT_NEAR(found.deviation, deviation, tolerance);
      EXPECT_NEAR(found.correlation, rho, 0.02);
      if (rho == 0) EXPECT_EQUAL(std::ranges::min(delays) > min - 0.001, true);
      EXPECT_EQUAL(delays == delays_ms(description), true);
      EXPECT_EQUAL(delays == delays_ms(description, 2), false);
    }
  }
}

TEST(jitter_is_no_negative_delay_and_can_keep_the_order) {
  double last_ms = 0;
  int overtaken = 0;
  for (const bool is_ordered : {false, true}) {
    const auto delays =
        delays_ms(std::string("jitter-normal:deviation=3") + (is_ordered ? ",ordered=1" : ""));
    for (size_t i = 0; i < delays.size(); ++i) {
      EXPECT_EQUAL(delays[i] >= 0, true);
      const double passes_ms = static_cast<double>(i) + delays[i];
      if (i > 0 and passes_ms < last_ms) ++overtaken;
      last_ms = passes_ms;
    }
    EXPECT_EQUAL(overtaken > packets / 10, not is_ordered);
    overtaken = 0;
  }
}

// With a gap of n a packet may overtake only after n - 1 delayed packets or more.
TEST(reordering_has_the_stated_share_correlation_and_gap) {
  struct Case {
    const char* parameters;
    double share;
    double correlation;
  };
  for (const auto& [parameters, share, rho] :
       std::vector<Case>{{"share=0.25", 0.25, 0},
                         {"share=0.25,correlation=0.5", 0.25, 0.5},
                         {"share=1,gap=5", 0.2, -0.25},
                         {"share=0.5,gap=4", 0.2, -0.25}}) {
    std::vector<double> overtakes;
    for (const double delay_ms : delays_ms(std::string("reordering:delay=10,") + parameters)) {
      EXPECT_EQUAL(delay_ms == 0 or delay_ms == 10, true);
      overtakes.push_back(delay_ms == 0);
    }
    EXPECT_NEAR(moments_of(overtakes).mean, share, 0.005);
    EXPECT_NEAR(moments_of(overtakes).correlation, rho, 0.01);
  }
}

TEST(on_off_alternates_and_loses_packets_while_it_is_off) {
  const auto periodic = make_impairment("on_off:on=0.3,off=0.1", 1);
  for (Microseconds now_us = 0; now_us < 2'000'000; now_us += 50'000) {
    EXPECT_EQUAL(periodic->passes_us(now_us), now_us % 400'000 < 300'000 ? now_us : never);
  }
  const auto random = make_impairment("on_off:on=0.03,off=0.01,exponential=1", 1);
  double on = 0;
  double changes = 0;
  bool was_on = true;
  for (int i = 0; i < packets; ++i) {
    const bool is_on = random->passes_us(i * gap_us / 5) != never;
    on += is_on;
    changes += is_on != was_on;
    was_on = is_on;
  }
  EXPECT_NEAR(on / packets, 0.75, 0.03);
  EXPECT_NEAR(changes, 2 * 40 / 0.04, 0.1 * 2 * 40 / 0.04);  // 40 s
}

TEST(impairments_are_checked) {
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"jitter:mean=5", "it is unknown; known: jitter-normal, jitter-pareto, jitter-uniform, "},
      {"jitter-normal:mean=5", "needs deviation=NUMBER"},
      {"jitter-normal:deviation=5,correlation=1", "correlation 1 is outside [0, 0.999]"},
      {"reordering:share=1.5,delay=1", "share 1.5 is outside [0, 1]"},
      {"reordering:share=0.5", "needs delay=NUMBER"},
      {"reordering:share=0.5,delay=1,gap=0", "gap 0 is outside [1, "},
      {"on_off:on=1,off=0", "off 0 is outside [0.001, 86400]"},
      {"on_off:on=1", "needs off=NUMBER"}};
  for (const auto& [description, reason] : mistakes) {
    expect_refused([&] { make_impairment(description, 0); }, reason);
  }
}

// Packets that overtake each other keep their own headers, and no header is discarded.
TEST(a_header_store_finds_the_headers_of_packets_that_were_overtaken) {
  HeaderStore<int> headers(false);
  for (const int i : {1, 0, 2, 4, 3, 5}) headers.put(static_cast<uint64_t>(i), 10 * i);
  for (const uint64_t number : {2u, 0u, 5u, 1u, 3u}) {
    EXPECT_EQUAL(headers.take(number), 10 * static_cast<int>(number));
  }
  headers.put(6, 60);
  EXPECT_EQUAL(headers.take(6), 60);
  EXPECT_EQUAL(headers.take(4), 40);
}
