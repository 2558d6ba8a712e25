// Counts and samples, against the sorted list of the numbers added.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/random.hh"
#include "measure/counts.hh"
#include "measure/samples.hh"
#include "tests/check.hh"

using namespace kneepoint;

namespace {

// Numbers like delays of packets: few distinct values, a page that fills up, and values far apart.
const std::vector<std::function<uint64_t(uint64_t)>> kinds{
    [](uint64_t draw) { return draw % 3 * 70'000; },
    [](uint64_t draw) { return draw % 40'000 + draw % 7 * 20'000; },
    [](uint64_t draw) { return draw >> 27; },  // up to 38 hours of microseconds
};

}  // namespace

TEST(counts_have_the_elements_of_the_sorted_list) {
  for (const auto& number_of : kinds) {
    Random random(1);
    Counts counts;
    std::vector<uint64_t> all;
    for (int i = 0; i < 200'000; ++i) {
      all.push_back(number_of(random.next()));
      counts.add(all.back());
    }
    std::ranges::sort(all);
    EXPECT_EQUAL(counts.total(), all.size());
    for (size_t rank = 0; rank < all.size(); rank += 997) {
      EXPECT_EQUAL(counts.element(rank), all[rank]);
    }
    EXPECT_EQUAL(counts.element(all.size() - 1), all.back());
    auto next = all.begin();
    for (Counts::Walk walk(counts); not walk.is_over(); walk.advance()) {
      EXPECT_EQUAL(walk.number(), *next);
      const auto end = std::upper_bound(next, all.end(), *next);
      EXPECT_EQUAL(walk.count(), static_cast<uint64_t>(end - next));
      next = end;
    }
    EXPECT_EQUAL(next == all.end(), true);
  }
}

TEST(cleared_counts_are_empty) {
  Counts counts;
  for (uint64_t i = 0; i < 70'000; ++i) counts.add(i % 2);
  counts.clear();
  EXPECT_EQUAL(counts.total(), 0u);
  EXPECT_EQUAL(Counts::Walk(counts).is_over(), true);
  counts.add(1);
  EXPECT_EQUAL(counts.element(0), 1u);
}

TEST(samples_of_a_day_do_not_wrap) {
  constexpr Microseconds day_us = 86'400'000'000;
  Samples samples;
  EXPECT_EQUAL(std::isnan(samples.quantile_ms(0.5)) and std::isnan(samples.mean_ms()), true);
  for (const Microseconds time_us : {day_us, day_us - 2, Microseconds{1500}}) samples.add(time_us);
  EXPECT_EQUAL(samples.quantile_ms(0), 1.5);
  EXPECT_EQUAL(samples.quantile_ms(0.5), 86'399'999.998);
  EXPECT_EQUAL(samples.quantile_ms(0.95), 86'400'000);
  EXPECT_NEAR(samples.mean_ms(), (86'400'000 + 86'399'999.998 + 1.5) / 3, 1e-6);
}
