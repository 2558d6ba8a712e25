// The RTO, computed by hand from RFC 6298.
#include "tests/check.hh"
#include "transport/retransmission_timer.hh"

using namespace kneepoint;

namespace {

Microseconds rto_us(RetransmissionTimer timer) {
  timer.start(0);
  return timer.expires_us();
}

RetransmissionTimer measured(const TcpSettings& settings, Microseconds rtt_us, int times) {
  RetransmissionTimer timer(settings);
  for (int i = 0; i < times; ++i) timer.measured(rtt_us);
  return timer;
}

}  // namespace

// RTO = SRTT + max(G, 4 RTTVAR), at first R + 4 R/2; the minimum is a parameter.
TEST(rto_follows_rfc_6298) {
  RetransmissionTimer timer({.min_rto_us = 200'000});
  EXPECT_EQUAL(rto_us(timer), 1'000'000);
  timer.measured(100'000);
  EXPECT_EQUAL(rto_us(timer), 300'000);
  timer.measured(200'000);                     // RTTVAR = 3/4 50 + 1/4 100 = 62.5 ms
  EXPECT_EQUAL(timer.smoothed_us(), 112'500);  // 7/8 100 + 1/8 200 ms
  EXPECT_EQUAL(rto_us(timer), 112'500 + 4 * 62'500);
  timer.back_off();
  EXPECT_EQUAL(rto_us(timer), 2 * 362'500);
  EXPECT_EQUAL(rto_us(measured({.min_rto_us = 1'000'000}, 100'000, 1)), 1'000'000);
  // 4 RTTVAR has fallen below G.
  EXPECT_EQUAL(rto_us(measured({.min_rto_us = 200'000}, 800'000, 100)), 801'000);
}

TEST(rto_doubles_up_to_a_minute) {
  RetransmissionTimer timer = measured({.min_rto_us = 200'000}, 10'000, 1);
  EXPECT_EQUAL(rto_us(timer), 200'000);
  for (int i = 0; i < 20; ++i) timer.back_off();
  EXPECT_EQUAL(rto_us(timer), 60'000'000);
}

// As in Linux, RTO = SRTT + max(200 ms, 4 RTTVAR): it leaves a margin over the RTT, however steady
// the RTT is.
TEST(rto_has_a_least_margin_over_the_smoothed_rtt) {
  const TcpSettings linux{.min_rto_us = 200'000, .min_rto_margin_us = 200'000};
  RetransmissionTimer timer(linux);
  timer.measured(80'000);  // 4 RTTVAR = 160 ms
  EXPECT_EQUAL(rto_us(timer), 80'000 + 200'000);
  timer.measured(480'000);  // RTTVAR = 3/4 40 + 1/4 400 = 130 ms, SRTT = 7/8 80 + 1/8 480 = 130 ms
  EXPECT_EQUAL(rto_us(timer), 130'000 + 520'000);
  EXPECT_EQUAL(rto_us(measured(linux, 800'000, 100)), 1'000'000);
}

TEST(a_timer_runs_from_its_start_until_it_stops) {
  RetransmissionTimer timer({});
  EXPECT_EQUAL(timer.expires_us(), never);
  timer.start(5);
  EXPECT_EQUAL(timer.expires_us(), 1'000'005);
  timer.stop();
  EXPECT_EQUAL(timer.expires_us(), never);
}
