#include <fstream>
#include <string>

#include "measure/log_figures.hh"
#include "tests/check.hh"
#include "tests/temporary_file.hh"

using namespace kneepoint;
using kneepoint::test::TemporaryFile;

namespace {

LogFigures log_figures(const std::string& name, const std::string& text,
                       Dialect dialect = Dialect::mahimahi) {
  return kneepoint::log_figures(name, bytes_of(text), dialect);
}

}  // namespace

// The log of metrics_of_a_log_worked_by_hand, 7 ms later, plus a dropped packet.
TEST(figures_of_a_log_worked_by_hand) {
  const TemporaryFile log;
  std::ofstream(log.path())
      << "# mahimahi mm-link (Uplink) [trace] > log\n# command line: mm-link\n# queue: infinite\n"
         "# init timestamp: 1479000000000\n# base timestamp: 7\n"
         "17 + 1504\n17 + 1504\n20 + 1504\n21 # 1504\n21 - 1504 4\n22 + 1504\n22 + 1504\n22 d 1 "
         "1504\n"
         "23 # 1504\n23 - 1504 6\n23 # 1504\n23 - 1504 3\n32 # 1504\n32 - 1504 10\n37 # 1504\n";
  const LogFigures figures = read_log_figures(log.path());
  EXPECT_EQUAL(figures.packets_sent, 5u);
  EXPECT_EQUAL(figures.packets_delivered, 4u);
  EXPECT_EQUAL(figures.packets_dropped, 1u);
  EXPECT_EQUAL(figures.end_ms, 30);
  EXPECT_NEAR(figures.metrics.throughput_mbps, 4 * 1504 * 8 / 20e3, 1e-12);
  EXPECT_NEAR(figures.metrics.capacity_mbps, 5 * 1504 * 8 / 20e3, 1e-12);
  EXPECT_EQUAL(figures.metrics.queueing_delay_p95_ms, 10);
  EXPECT_EQUAL(figures.metrics.signal_delay_p95_ms, 11);
}

// Three packets arrive at a queue with a place for one; of the last two arrivals one still waits at
// the end.
TEST(packets_that_others_overtook_were_dropped) {
  const LogFigures figures = log_figures(
      "log",
      "# base timestamp: 0\n1 + 1504\n1 + 1504\n1 + 1504\n2 # 1504\n2 - 1504 1\n3 + 1504\n"
      "4 # 1504\n4 - 1504 1\n5 + 1504\n5 + 1504\n6 # 1504\n6 - 1504 1\n");
  EXPECT_EQUAL(figures.packets_sent, 6u);
  EXPECT_EQUAL(figures.packets_delivered, 3u);
  EXPECT_EQUAL(figures.packets_dropped, 2u);
}

TEST(figures_of_a_log_that_is_cut_off_leave_its_last_line_out) {
  const LogFigures figures =
      log_figures("log", "# base timestamp: 0\n1 + 1504\n3 - 1504 2\n9 # 15");
  EXPECT_EQUAL(figures.end_ms, 3);
  EXPECT_EQUAL(figures.metrics.capacity_mbps, 0);
}

TEST(figures_of_a_log_whose_link_woke_late) {
  // At 4 ms the link dropped a packet of its queue, and then used the opportunity of 3 ms.
  const LogFigures figures = log_figures(
      "log", "# base timestamp: 0\n1 + 1504\n2 + 1504\n4 d 1 1504\n3 # 1504\n3 - 1504 1\n");
  EXPECT_EQUAL(figures.packets_dropped, 1u);
  EXPECT_EQUAL(figures.end_ms, 4);
}

TEST(additional_events_of_forks_of_mahimahi_are_left_out) {
  const std::string head = "# base timestamp: 7\r\n";
  const LogFigures plain = log_figures("log", head + "8 + 1504\n9 # 1504\n9 - 1504 1\n");
  const std::string more = head +
                           "8 + 1504 1\r\n8 m 3 4\n9 # 1504\n9 cwnd 5\n9 m\n"
                           "9 - 1504 delay: 1 queue_size: 3\n";
  const LogFigures figures = log_figures("log", more, Dialect::any_fork);
  EXPECT_EQUAL(figures.metrics.throughput_mbps, plain.metrics.throughput_mbps);
  EXPECT_EQUAL(figures.metrics.queueing_delay_p95_ms, 1);
  EXPECT_EQUAL(figures.longer_events, 2u);
  const std::map<std::string, uint64_t> others{{"cwnd", 1}, {"m", 2}};
  EXPECT_EQUAL(figures.other_events == others, true);
  test::expect_refused([&] { log_figures("log", more); }, "line 2: is no event");
  for (const char* const text : {"1 + 1504\n2\n", "1 + 1504\n2 3 4\n",
                                 "1 + 1504\n1 + 15 1 # 1504\n", "x m 1\n", "1 - 1504\n"}) {
    test::expect_refused([&] { log_figures("log", text, Dialect::any_fork); }, "is ");
  }
}

TEST(a_text_that_is_no_log_is_refused) {
  const auto refused = [](const std::string& text, const std::string& part) {
    test::expect_refused([&] { log_figures("x.log", text); }, part);
  };
  refused("# base timestamp: 0\n", "log x.log holds no event; did the link run?");
  refused("1 + 1504\n2 ? 7\n", "log x.log, line 2: is no event; is it a whole log of mahimahi?");
  refused("1 + 1504\nx + 7\n", "line 2");
  refused("1 + 1504 7\n", "line 1: is no event");
  refused("5 - 1504 9\n", "before the log");
  refused("# base timestamp: 9\n5 + 1504\n", "before the base");
  refused("1 + 1504\n# base timestamp: 0\n", "line 2: a second header");
  refused("1 + 1505\n", "bytes 1505 is outside [0, 1504]");
  refused("1 + 1504\n5 - 18446744073709551616 1\n", "is not a whole number");
}

TEST(logs_of_impossible_events_are_refused) {
  const auto refused = [](const std::string& text, const std::string& part) {
    test::expect_refused([&] { log_figures("x.log", text); }, part);
  };
  refused("99995 + 1504\n100000 - 1504 5\n10 # 1504\n",
          "line 3: is earlier than an event before it");
  refused("1 + 1504\n9 - 1504 9223372036854775808\n", "line 2: has a packet that arrived before");
  refused("1 + 1504\n86400001 # 1504\n", "line 2: is more than a day after the base timestamp");
  refused("18446744073709551615 # 1504\n", "more than a day");
  refused("# base timestamp: 18446744073709551615\n1 + 1504\n", "before the base");
  refused("1 + 1504\n2 - 1504 1\n2 - 1504 1\n", "line 3: has a packet that never arrived");
  refused("100000 + 1504\n100100 - 1504 5\n", "line 2: has a packet that never arrived");
  refused("1 + 1504\n1 d 2 3008\n", "line 2: has more packets than arrived");
  refused("1 + 1504\n1 d 18446744073709551615 1\n", "line 2: has more packets than arrived");
}

TEST(only_a_regular_file_is_read_as_a_log) {
  test::expect_refused([] { read_log_figures("/nonexistent/log"); },
                       "log /nonexistent/log cannot be read: No such file");
  test::expect_refused([] { read_log_figures("/dev/zero"); },
                       "log /dev/zero is not a regular file");
}
