#include "apps/arguments.hh"
#include "apps/runner.hh"
#include "network/text.hh"
#include "tests/check.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;

namespace {

RunArguments parse(const std::string& line) { return parse_run_arguments(split_words(line)); }

const std::string least = "--controller fixed_window --uplink u --downlink d ";

}  // namespace

TEST(arguments_have_defaults) {
  const RunArguments run = parse(least);
  EXPECT_EQUAL(run.network.delay_ms, 20);
  EXPECT_EQUAL(run.network.seed, 0u);
  EXPECT_EQUAL(run.network.duration_ms.has_value(), false);
  EXPECT_EQUAL(run.network.uplink_queue, "infinite");
  EXPECT_EQUAL(run.network.host.wake_mean_us, make_host_model("event-loop").wake_mean_us);
}

TEST(arguments_are_read) {
  const RunArguments run = parse(least +
                                 "--set window=3 --seed 18446744073709551615 --duration-s 0.5 "
                                 "--host-latency-us 750 --host-model ideal --delay-ms 5");
  EXPECT_EQUAL(run.constants.at("window"), 3);
  EXPECT_EQUAL(run.network.seed, 18446744073709551615u);
  EXPECT_EQUAL(*run.network.duration_ms, 500);
  EXPECT_EQUAL(run.network.host.host_latency_us, 750);
  EXPECT_EQUAL(run.network.host.wake_us, 0);
  EXPECT_EQUAL(run.network.delay_ms, 5);
}

TEST(bad_arguments_are_refused) {
  expect_refused([] { parse(""); }, "--controller NAME is missing");
  expect_refused([] { parse("--controller x --uplink u"); }, "--downlink TRACE is missing");
  expect_refused([] { parse(least + "--windo 3"); }, "unknown option '--windo'");
  expect_refused([] { parse(least + "--seed"); }, "--seed needs a value");
  expect_refused([] { parse(least + "--seed -1"); }, "is not a whole number");
  expect_refused([] { parse(least + "--set window"); }, "is not CONSTANT=VALUE");
  expect_refused([] { parse(least + "--set window=x"); }, "'x' is not a number");
  expect_refused([] { parse(least + "--set window=1 --set window=2"); }, "given twice");
  expect_refused([] { parse(least + "--duration-s 0"); }, "outside");
  expect_refused([] { parse(least + "--host-latency-us -1"); }, "outside");
  expect_refused([] { parse(least + "--uplink-queue fifo"); }, "unknown policy");
}

TEST(a_run_with_a_missing_trace_names_it) {
  expect_refused([] { Runner().run(parse(least)); }, "trace u cannot be read");
}
