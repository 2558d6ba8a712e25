#include <cmath>
#include <string>

#include "measure/tunnel_figures.hh"
#include "tests/check.hh"

using namespace kneepoint;

namespace {

TunnelFigures figures_of(const std::string& text) {
  return tunnel_figures("x.log", bytes_of(text));
}

}  // namespace

// Two packets of flow 1 leave 10 ms apart, one of flow 2 alone; one of flow 1 is lost.
TEST(figures_of_a_tunnel_log_worked_by_hand) {
  const TunnelFigures figures = figures_of(
      "# init timestamp: 1512345678901.234\n5.000 # 1504\n5.100 + 1400 1\n6.000 + 1400 1\n"
      "7.000 + 600 2\n9.000 + 1400 1\n30.100 - 1400 25.000 1\n35.000 - 600 28.0005 2\n"
      "40.100 - 1400 34.100 1\n45.000 # 1504\n");
  EXPECT_EQUAL(figures.packets_sent, 4u);
  EXPECT_EQUAL(figures.packets_delivered, 3u);
  EXPECT_NEAR(figures.duration_s, 0.04, 1e-12);
  EXPECT_NEAR(figures.capacity_mbps, 2 * 1504 * 8 / 40e3, 1e-12);
  EXPECT_NEAR(figures.all.throughput_mbps(), 3400 * 8 / 10e3, 1e-12);
  EXPECT_NEAR(figures.all.loss(), 1 - 3400.0 / 4800, 1e-12);
  EXPECT_EQUAL(figures.all.delays.nearest_ms(0.5), 28.001);
  const TunnelFlow& first = figures.flows.at(1);
  EXPECT_NEAR(first.throughput_mbps(), 2800 * 8 / 10e3, 1e-12);
  EXPECT_EQUAL(first.delays.nearest_ms(0.95), 34.1);
  EXPECT_EQUAL(figures.flows.at(2).throughput_mbps(), 0);
  // In ms since the first event: arrivals at 0, 2 and 1, delays 25, 28 and 34: 25, 34 and 28.
  EXPECT_EQUAL(figures.signal_delay_p95_ms, 34);
}

TEST(figures_of_a_tunnel_log_without_a_link_have_no_capacity) {
  EXPECT_EQUAL(std::isnan(figures_of("1 + 80\n2 - 80 1\n").capacity_mbps), true);
}

TEST(delays_of_a_tunnel_log_lead_to_where_packets_entered) {
  const auto log = [](const std::string& delay) {
    std::string text;
    for (int ms = 0; ms < 200; ++ms) {
      const std::string at = std::to_string(7 * ms);
      if (ms % 10 != 9) text += at + ".250 - 1400 " + delay + "\n";
      text += at + ".500 + 1400\n";
    }
    return text;
  };
  EXPECT_EQUAL(figures_of(log("27.75")).packets_delivered, 180u);  // 4 entered before the log began
  for (const char* delay : {"27750", "0.02775", "26.75"}) {
    test::expect_refused([&] { figures_of(log(delay)); }, "only 0 entered it when");
  }
  EXPECT_EQUAL(figures_of("1 - 80 30000\n2 - 80 30000\n").packets_delivered, 2u);  // none entered
}

TEST(figures_of_what_is_no_tunnel_log_are_refused) {
  const auto refused = [](const std::string& text, const std::string& part) {
    test::expect_refused([&] { figures_of(text); }, part);
  };
  refused("# init timestamp: 1\n", "log x.log holds no event");
  refused("1.0 + 80\n# init timestamp: 2\n", "line 2: is no event");
  refused("1.0 + 80\n0.5 + 80\n", "line 2: is earlier than an event before it");
  refused("1.0 + 80 1 1\n", "line 1: is no event");
  refused("1.0 - 80\n", "line 1: is no event");
  refused("1.0 - 80 -3\n", "delay");
  refused("1.0 ++ 80\n", "line 1: is no event");
  refused("1.0000000001 + 80\n", "line 1: is no event");
  refused("1 + 80\n86400002 + 80\n", "line 2: is more than a day after the first event");
  refused(std::string(300'000, '1'), "line 1: is too long for an event");
  refused("1 + 1500\n2 - 1500000 1\n", "1500000 bytes that left the tunnel, but 1500 that entered");
}
