#include "common/random.hh"
#include "tests/check.hh"

using namespace kneepoint;

// The reference output of SplitMix64 for the seed 1234567.
TEST(random_is_splitmix64) {
  Random random(1234567);
  EXPECT_EQUAL(random.next(), 6457827717110365317u);
  EXPECT_EQUAL(random.next(), 3203168211198807973u);
}

TEST(distributions_have_their_moments) {
  constexpr int draws = 100000;
  Random random(7);
  const ExponentialTable table(200);
  double table_sum = 0, exponential_sum = 0, normal_sum = 0, normal_squares = 0;
  for (int i = 0; i < draws; ++i) {
    table_sum += static_cast<double>(table.draw(random));
    exponential_sum += draw_exponential(random, 3);
    const double normal = draw_normal(random);
    normal_sum += normal;
    normal_squares += normal * normal;
  }
  EXPECT_NEAR(table_sum / draws, 200, 3);
  EXPECT_NEAR(exponential_sum / draws, 3, 0.05);
  EXPECT_NEAR(normal_sum / draws, 0, 0.02);
  EXPECT_NEAR(normal_squares / draws, 1, 0.02);
}

TEST(measured_times_are_reached_as_often_as_they_were) {
  constexpr int draws = 100000;
  Random random(7);
  const MeasuredTable table({10, 50, 90, 1000});
  int median = 0, quarter = 0, eighth = 0;
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    const int64_t time_us = table.draw(random);
    EXPECT_EQUAL(10 <= time_us and time_us <= 1000, true);
    median += time_us >= 50;
    quarter += time_us >= 90;
    eighth += time_us >= 545;  // half way between the last two values
    sum += static_cast<double>(time_us);
  }
  EXPECT_NEAR(median / double{draws}, 1.0 / 2, 0.01);
  EXPECT_NEAR(quarter / double{draws}, 1.0 / 4, 0.01);
  EXPECT_NEAR(eighth / double{draws}, 1.0 / 8, 0.01);
  EXPECT_NEAR(sum / draws, 30 / 2.0 + 70 / 4.0 + 545 / 4.0, 2);
}
