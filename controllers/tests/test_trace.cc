#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

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
  for (size_t i = 0; i < Trace::max_opportunities; ++i) text += "1\n";
  EXPECT_EQUAL(Trace("t", text).size(), Trace::max_opportunities);
  expect_refused([&] { Trace("t", text + "1\n"); },
                 "line 10000001: a trace has at most 10000000 lines; cut it");
}

std::vector<Milliseconds> part(const std::string& text, Milliseconds from_ms, Milliseconds to_ms) {
  std::istringstream stream(text);
  return trace_part("t", stream, from_ms, to_ms);
}

TEST(a_part_of_a_trace_begins_at_0_and_needs_no_more_of_it) {
  EXPECT_EQUAL(part("0\n5\n7\n7\n9", 5, 7) == std::vector<Milliseconds>({2, 2}), true);
  EXPECT_EQUAL(part("1\n2\n3\nx\n", 0, 2) == std::vector<Milliseconds>({1, 2}), true);
  EXPECT_EQUAL(part("1\n99999999999\n99999999999\n", 99999999990, 99999999999) ==
                   std::vector<Milliseconds>({9, 9}),
               true);
  std::string text = "1\n";
  for (size_t i = 0; i < Trace::max_opportunities; ++i) text += "2\n";
  EXPECT_EQUAL(part(text + "9\n", 1, 5).size(), Trace::max_opportunities);
  expect_refused([&] { part(text + "9\n", 0, 5); }, "line 10000001: a trace has at most");
}

TEST(an_invalid_part_of_a_trace_is_refused) {
  expect_refused([] { part("1\n5\n", 0, 6); },
                 "0.006 s, is beyond the end of trace t; give at most 0.005 s");
  expect_refused([] { part("", 0, 6); }, "trace t is empty");
  expect_refused([] { part("0\n0\n", 0, 6); }, "line 2: the last time is 0 ms");
  expect_refused([] { part("1\n5000\n", 1000, 2000); }, "no opportunity from 1 s to 2 s");
  expect_refused([] { part("5\n4\n", 0, 9); }, "line 2: 4 ms follows 5 ms");
  expect_refused([] { part("\n4\n", 0, 9); }, "line 1: is empty");
  expect_refused([] { part("1\n86400002\n", 0, 86400002); }, "longer than a day");
}

TEST(only_a_regular_file_of_bounded_size_is_read_as_a_trace) {
  expect_refused([] { Trace::load("/dev/zero"); }, "trace /dev/zero is not a regular file");
  expect_refused([] { Trace::load("/tmp"); }, "trace /tmp is not a regular file");
  const TemporaryFile pipe;
  EXPECT_EQUAL(mkfifo(pipe.path().c_str(), 0600), 0);
  expect_refused([&] { Trace::load(pipe.path()); }, "is not a regular file");
  const TemporaryFile large;
  std::ofstream(large.path()) << "1\n";
  std::filesystem::resize_file(large.path(), Trace::max_bytes + 1);
  expect_refused([&] { Trace::load(large.path()); },
                 "has 160000001 bytes, but may have at most 160000000: shorten it");
}
