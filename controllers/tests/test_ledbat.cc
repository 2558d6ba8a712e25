// LEDBAT against the arithmetic of RFC 6817, section 2.4.2.
#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;

namespace {

constexpr double exact = 1e-9;

}  // namespace

TEST(ledbat_moves_by_its_distance_off_target) {
  Clocked flow("ledbat", {{"initial_window", 10}, {"current_filter", 1}});
  // Without queueing delay off_target is 1, and cwnd += GAIN off_target / cwnd.
  EXPECT_NEAR(flow.ack(50), 10.1, exact);
  // 25 ms of queueing: (100 - 25)/100.
  EXPECT_NEAR(flow.ack(75), 10.1 + 0.75 / 10.1, exact);
  double before = flow.window();
  EXPECT_NEAR(flow.ack(150), before, exact);  // on target
  EXPECT_NEAR(flow.ack(190), before - 0.4 / before, exact);
  before = flow.window();
  EXPECT_NEAR(flow.ack(75, 2), before + 2 * 0.75 / before, exact);  // two packets
}

TEST(ledbat_filters_the_least_of_four_samples) {
  Clocked flow("ledbat", {{"initial_window", 10}});
  flow.ack(50);
  for (int i = 0; i < 3; ++i) {
    const double before = flow.window();
    EXPECT_NEAR(flow.ack(150), before + 1 / before, exact);  // 50 ms is one of the four
  }
  const double before = flow.window();
  EXPECT_NEAR(flow.ack(140), before + 0.1 / before, exact);  // 140 ms is the minimum of the four
}

TEST(ledbat_measures_one_way_delays_with_any_offset_of_the_clocks) {
  Clocked flow("ledbat", {{"initial_window", 10}, {"current_filter", 1}});
  flow.one_way_ms = -5000;
  flow.ack(50);
  flow.one_way_ms = -4975;
  double before = flow.window();
  EXPECT_NEAR(flow.ack(500), before + 0.75 / before,
              exact);  // 25 ms of queueing on the forward path
  Clocked tcp("ledbat", {{"initial_window", 10}, {"current_filter", 1}});
  tcp.is_tcp = true;
  tcp.ack(50);
  tcp.one_way_ms = 40;
  before = tcp.window();
  EXPECT_NEAR(tcp.ack(75.5), before + 0.745 / before, exact);  // TCP: the RTT
}

TEST(ledbat_forgets_a_base_delay_of_ten_minutes_ago) {
  const auto after = [](double minutes) {
    Clocked flow("ledbat", {{"initial_window", 10}, {"current_filter", 1}});
    flow.is_tcp = true;
    flow.ack(50);
    for (int i = 0; i < 9; ++i) flow.ack(150, 1, 60'000);
    const double before = flow.window();
    flow.ack(150, 1, (minutes - 9) * 60'000);
    return flow.window() - before;
  };
  EXPECT_NEAR(after(9.5), 0, exact);  // on target
  EXPECT_EQUAL(after(10) > 0.01, true);
}

TEST(ledbat_grows_up_to_the_flight_and_one_packet) {
  Clocked flow("ledbat", {{"initial_window", 10}, {"gain", 10}});
  EXPECT_NEAR(flow.ack(50), 11, exact);  // a flight of ten, and one packet
  EXPECT_NEAR(flow.ack(50), 11 + 10.0 / 11, exact);
  Clocked wide("ledbat", {{"initial_window", 2}, {"gain", 10}, {"allowed_increase", 3}});
  EXPECT_NEAR(wide.ack(50), 5, exact);
}

TEST(ledbat_halves_at_a_loss_and_keeps_two_packets) {
  Clocked flow("ledbat", {{"initial_window", 10}, {"current_filter", 1}});
  EXPECT_NEAR(flow.lose(), 5, exact);
  EXPECT_NEAR(flow.lose(), 2.5, exact);
  EXPECT_NEAR(flow.lose(), 2, exact);
  EXPECT_NEAR(flow.keepalive(), 1, exact);
  EXPECT_NEAR(flow.lose(), 1, exact);  // a loss never lets it grow
  Clocked late("ledbat", {{"initial_window", 2}, {"current_filter", 1}});
  late.ack(50);
  EXPECT_NEAR(late.ack(1050), 2, exact);  // 2.5 - 9/2.5
  late.is_recovering = true;
  EXPECT_NEAR(late.ack(50), 2, exact);
}
