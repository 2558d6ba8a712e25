#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "links/trace.hh"
#include "tests/check.hh"
#include "tests/temporary_file.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;
using kneepoint::test::TemporaryFile;

TEST(trace_reads_opportunities_that_share_a_millisecond) {
  const Trace trace("t", "0\n5\n5\n9\n");
  EXPECT_EQUAL(trace.size(), 4u);
  EXPECT_EQUAL(trace[0], 0);
  EXPECT_EQUAL(trace[2], 5);
  EXPECT_EQUAL(trace.last_ms(), 9);
}

TEST(trace_refuses_what_mahimahi_refuses) {
  expect_refused([] { Trace("t", ""); }, "trace t is empty");
  expect_refused([] { Trace("t", "1\n\n2\n"); }, "line 2: is empty");
  expect_refused([] { Trace("t", "1\nx2\n"); }, "line 2: 'x2' is not a whole number");
  expect_refused([] { Trace("t", "1\n2.5\n"); }, "line 2: '2.5' is not a whole number");
  expect_refused([] { Trace("t", "1\n-2\n"); }, "line 2: '-2' is not a whole number");
  expect_refused([] { Trace("t", "7\n6\n"); }, "line 2: 6 ms follows 7 ms");
  expect_refused([] { Trace("t", "0\n0\n"); }, "last time is 0");
  expect_refused([] { Trace::load("/no/such/trace"); }, "/no/such/trace cannot be read");
}

TEST(a_time_in_a_trace_has_digits_alone_and_is_within_a_day) {
  EXPECT_EQUAL(Trace("t", "86400000\n").last_ms(), longest_run_ms);
  EXPECT_EQUAL(Trace("t", "0000000000000000000000007\n").last_ms(), 7);
  expect_refused([] { Trace("t", "-0\n5\n"); }, "line 1: '-0' is not a whole number");
  expect_refused([] { Trace("t", "+5\n"); }, "'+5' is not a whole number");
  expect_refused([] { Trace("t", " 5\n"); }, "' 5' is not a whole number");
  expect_refused([] { Trace("t", "5\r\n"); }, "'5\\x0d' is not a whole number");
  expect_refused([] { Trace("t", "86400001\n"); }, "'86400001' ms is more than a day");
  expect_refused([] { Trace("t", "1000000000000000\n"); }, "is more than a day; cut the trace");
  expect_refused([] { Trace("t", "18446744073709551616\n"); }, "is more than a day");
  expect_refused([] { Trace("t", std::string(1'000'000, 'x')); },
                 "line 1: '" + std::string(40, 'x') + "...' is not");
}

TEST(a_trace_has_no_more_lines_than_its_bound) {
  std::string text;
  for (size_t i = 0; i < Trace::most_opportunities; ++i) text += "1\n";
  EXPECT_EQUAL(Trace("t", text).size(), Trace::most_opportunities);
  expect_refused([&] { Trace("t", text + "1\n"); },
                 "line 10000001: a trace has at most 10000000 lines; cut it");
}

TEST(only_a_regular_file_of_bounded_size_is_read_as_a_trace) {
  expect_refused([] { Trace::load("/dev/zero"); }, "trace /dev/zero is not a regular file");
  expect_refused([] { Trace::load("/tmp"); }, "trace /tmp is not a regular file");
  const TemporaryFile pipe;
  EXPECT_EQUAL(mkfifo(pipe.path().c_str(), 0600), 0);
  expect_refused([&] { Trace::load(pipe.path()); }, "is not a regular file");
  const TemporaryFile large;
  std::ofstream(large.path()) << "1\n";
  std::filesystem::resize_file(large.path(), Trace::most_bytes + 1);
  expect_refused([&] { Trace::load(large.path()); },
                 "has 160000001 bytes, but may have at most 160000000: shorten it");
}
