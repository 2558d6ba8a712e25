#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "network/log_figures.hh"
#include "tests/check.hh"

using namespace kneepoint;

namespace {

// The file is there as long as the object.
class LogFile {
 public:
  explicit LogFile(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~LogFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() /
      ("kneepoint-log-figures-" + std::to_string(reinterpret_cast<uintptr_t>(this)));
};

}  // namespace

// The log of metrics_of_a_log_worked_by_hand, 7 ms later, with one packet dropped.
TEST(figures_of_a_log_worked_by_hand) {
  const LogFile log(
      "# mahimahi mm-link (Uplink) [trace] > log\n# command line: mm-link\n# queue: infinite\n"
      "# init timestamp: 1479000000000\n# base timestamp: 7\n"
      "17 + 1504\n17 + 1504\n20 + 1504\n21 # 1504\n21 - 1504 4\n22 + 1504\n22 d 1 1504\n"
      "23 # 1504\n23 - 1504 6\n23 # 1504\n23 - 1504 3\n32 # 1504\n32 - 1504 10\n37 # 1504\n");
  const LogFigures figures = read_log_figures(log.path());
  EXPECT_EQUAL(figures.packets_sent, 4u);
  EXPECT_EQUAL(figures.packets_delivered, 4u);
  EXPECT_EQUAL(figures.packets_dropped, 1u);
  EXPECT_EQUAL(figures.end_ms, 30);
  EXPECT_NEAR(figures.metrics.throughput_mbps, 4 * 1504 * 8 / 20e3, 1e-12);
  EXPECT_NEAR(figures.metrics.capacity_mbps, 5 * 1504 * 8 / 20e3, 1e-12);
  EXPECT_EQUAL(figures.metrics.queueing_delay_p95_ms, 10);
  EXPECT_EQUAL(figures.metrics.signal_delay_p95_ms, 11);
}

// Three arrive and find a place for one; of the two that arrive last, one waits at the end.
TEST(packets_that_others_overtook_were_dropped) {
  const LogFile log(
      "# base timestamp: 0\n1 + 1504\n1 + 1504\n1 + 1504\n2 # 1504\n2 - 1504 1\n3 + 1504\n"
      "4 # 1504\n4 - 1504 1\n5 + 1504\n5 + 1504\n6 # 1504\n6 - 1504 1\n");
  const LogFigures figures = read_log_figures(log.path());
  EXPECT_EQUAL(figures.packets_sent, 6u);
  EXPECT_EQUAL(figures.packets_delivered, 3u);
  EXPECT_EQUAL(figures.packets_dropped, 2u);
}

TEST(figures_of_a_log_that_is_cut_off_leave_its_last_line_out) {
  const LogFile log("# base timestamp: 0\n1 + 1504\n3 - 1504 2\n9 # 15");
  const LogFigures figures = read_log_figures(log.path());
  EXPECT_EQUAL(figures.end_ms, 3);
  EXPECT_EQUAL(figures.metrics.capacity_mbps, 0);
}

TEST(figures_of_what_is_no_log_are_refused) {
  test::expect_refused([] { read_log_figures("/nonexistent/log"); }, "cannot be read");
  test::expect_refused([] { read_log_figures(LogFile("# base timestamp: 0\n").path()); },
                       "holds no event");
  test::expect_refused([] { read_log_figures(LogFile("1 + 1504\n2 ? 7\n").path()); },
                       "line 2: is no event");
  test::expect_refused([] { read_log_figures(LogFile("1 + 1504\nx + 7\n").path()); }, "line 2");
  test::expect_refused([] { read_log_figures(LogFile("5 - 1504 9\n").path()); }, "before the log");
  test::expect_refused([] { read_log_figures(LogFile("# base timestamp: 9\n5 + 1504\n").path()); },
                       "before the base");
}
