#include "network/trace.hh"
#include "tests/check.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;

TEST(trace_reads_opportunities_that_share_a_millisecond) {
  const Trace trace("t", "0\n5\n5\n9\n");
  EXPECT_EQUAL(trace.size(), 4u);
  EXPECT_EQUAL(trace[0], 0);
  EXPECT_EQUAL(trace[2], 5);
  EXPECT_EQUAL(trace.last_ms(), 9);
}

TEST(trace_may_end_without_a_newline) { EXPECT_EQUAL(Trace("t", "3\n8").last_ms(), 8); }

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
