#include <fstream>

#include "apps/arguments.hh"
#include "apps/runner.hh"
#include "common/sha256.hh"
#include "common/text.hh"
#include "tests/check.hh"
#include "tests/temporary_file.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;
using kneepoint::test::TemporaryFile;

namespace {

RunArguments parse(const std::string& line) { return parse_run_arguments(split_words(line)); }

const std::string min = "--controller fixed_window --uplink u --downlink d ";

}  // namespace

TEST(arguments_are_read) {
  const RunArguments run = parse(min +
                                 "--set window=3 --seed 18446744073709551615 --duration-s 0.5 "
                                 "--host-latency-us 750 --host-model ideal --delay-ms 5");
  EXPECT_EQUAL(run.scenario.flows[0].parameters.at("window"), 3);
  EXPECT_EQUAL(run.scenario.seed, 18446744073709551615u);
  EXPECT_EQUAL(*run.scenario.duration_ms, 500);
  EXPECT_EQUAL(run.scenario.host.host_latency_us, 750);
  EXPECT_EQUAL(run.scenario.host.wake_us, 0);
  EXPECT_EQUAL(run.scenario.uplink.delay_ms, 5);
}

TEST(bad_arguments_are_refused) {
  const std::vector<std::pair<std::string, std::string>> refused{
      {"", "--controller NAME is missing"},
      {"--controller x --uplink u", "--downlink TRACE is missing"},
      {"--controller x", "--uplink TRACE is missing, or --network NAME"},
      {"--controller c --network nowhere", "'nowhere' is not prepared"},
      {"--controller c --network no/file", "no/file cannot be read"},
      {min + "--windo 3", "unknown option '--windo'"},
      {min + "--windo", "unknown option '--windo'"},
      {min + "--seed", "--seed needs a value"},
      {min + "--seed -1", "is not a whole number"},
      {min + "--set window", "is not PARAMETER=VALUE"},
      {min + "--set window=x", "'x' is not a number"},
      {min + "--set window=1 --set window=2", "given twice"},
      {min + "--duration-s 0", "outside [0.001, 86400]"},
      {min + "--duration-s 1e300", "outside [0.001, 86400]"},
      {min + "--duration-s -1", "outside [0.001, 86400]"},
      {min + "--delay-ms 60001", "outside [0, 60000]"},
      {min + "--host-latency-us -1", "outside"},
      {min + "--host-latency-us 1e7", "outside"},
      {min + "--uplink-queue fifo", "it is unknown; known: abc, codel"},
      {min + "--uplink-queue codel:target=9223372036854775807,interval=1",
       "is outside [1, 86400000]"},
      {min + "--uplink-queue pie:qdelay_ref=1,max_burst=86400001",
       "max_burst 86400001 is outside [1, 86400000]"},
      {"--entry e --controller c --uplink u --downlink d", "it excludes --controller and --set"},
      {min + "--argument --entry", "--argument needs --entry OBJECT"},
  };
  for (const auto& [line, part] : refused) expect_refused([&] { parse(line); }, part);
  for (const std::string option :
       {"--delay-ms ", "--duration-s ", "--host-latency-us ", "--seed ",
        "--set window=", "--host-model event-loop:wake_us=", "--host-model event-loop:delays_us=1+",
        "--uplink-queue droptail:packets="}) {
    for (const char* const number : {"nan", "inf", "-inf", "1e999", "-", "0x1", "1e308x", ""}) {
      expect_refused([&] { parse(min + option + number); }, "");
    }
  }
}

TEST(host_models_at_their_bounds_still_draw_times) {
  const HostModel host =
      make_host_model("event-loop:wake_mean_us=1e6,wake_spread=3,delays_us=0+1e6,delay_scale=100");
  const RunLateness run(host, Random(181124));
  EXPECT_EQUAL(run.factor > 20000, true);  // the greatest factor of 200,000 seeds
  Lateness lateness(run, Random(1), Random(2));
  for (int i = 0; i < 10'000; ++i) {
    const Microseconds late_us = lateness.draw_timer();
    EXPECT_EQUAL(late_us >= 0 and late_us <= 2'000'000'000, true);
  }
}

namespace {

const std::string rates =
    R"({"name": "n", "title": "t", "omniscient": {"power": 1}, "duration_s": 7,
        "uplink": {"rate_mbps": 3, "delay_ms": 0, "queue": "droptail:packets=9",
                   "loss_probability": 0.5},
        "downlink": {"trace": ".kneepoint/networks/n/downlink.trace", "delay_ms": 30,
                     "queue": "infinite", "loss_period": 2},
        "host_model": "event-loop:packet_us=7", "host_latency_us": 700})";

RunArguments on_network(const TemporaryFile& file, const std::string& text,
                        const std::string& options) {
  std::ofstream(file.path()) << text;
  return parse("--controller c " + options + " --network " + file.path().string());
}

}  // namespace

TEST(network_has_links_duration_and_host) {
  const TemporaryFile file;
  const Scenario run = on_network(file, rates, "").scenario;
  EXPECT_EQUAL(run.uplink.trace.empty(), true);
  EXPECT_EQUAL(run.uplink.rate_mbps, 3);
  EXPECT_EQUAL(run.uplink.delay_ms, 0);
  EXPECT_EQUAL(run.uplink.queue, "droptail:packets=9");
  EXPECT_EQUAL(run.uplink.loss_probability, 0.5);
  EXPECT_EQUAL(run.downlink.trace, file.path().parent_path() / "downlink.trace");
  EXPECT_EQUAL(run.downlink.delay_ms, 30);
  EXPECT_EQUAL(run.downlink.loss_period, 2u);
  EXPECT_EQUAL(*run.duration_ms, 7000);
  EXPECT_EQUAL(run.host.packet_us, 7);
  EXPECT_EQUAL(run.host.host_latency_us, 700);
}

TEST(options_replace_the_settings_of_a_network) {
  const TemporaryFile file;
  const Scenario run =
      on_network(file, rates, "--duration-s 2 --delay-ms 5 --host-model ideal").scenario;
  EXPECT_EQUAL(*run.duration_ms, 2000);
  EXPECT_EQUAL(run.uplink.delay_ms, 5);
  EXPECT_EQUAL(run.downlink.delay_ms, 5);
  EXPECT_EQUAL(run.host.packet_us, 0);
  EXPECT_EQUAL(run.host.host_latency_us, 700);
  const Scenario other =
      on_network(file, rates, "--uplink-queue infinite --host-latency-us 1").scenario;
  EXPECT_EQUAL(other.uplink.queue, "infinite");
  EXPECT_EQUAL(other.host.host_latency_us, 1);
  EXPECT_EQUAL(other.host.packet_us, 7);
}

TEST(bad_networks_are_refused) {
  const TemporaryFile file;
  const auto without = [](const std::string& part) {
    std::string text = rates;
    text.erase(text.find(part), part.size());
    return text;
  };
  for (const std::string option : {"--uplink", "--downlink", "--uplink-sha256"}) {
    const std::string value = option == "--uplink-sha256" ? std::string(64, 'a') : "t";
    expect_refused([&] { on_network(file, rates, option + " " + value); },
                   "--network has both links: it excludes " + option);
  }
  expect_refused([&] { on_network(file, rates, "--network " + file.path().string()); },
                 "--network is given twice");
  expect_refused([&] { on_network(file, without(R"(, "host_latency_us": 700)"), ""); },
                 "lacks host_latency_us");
  expect_refused([&] { on_network(file, R"({"uplnk": 1})", ""); }, "has no key 'uplnk'");
  expect_refused([&] { on_network(file, "[]", ""); }, "is not an object");
  expect_refused([&] { on_network(file, without(R"("rate_mbps": 3, )"), ""); },
                 "uplink needs either trace or rate_mbps");
  // --network excludes the digests of links, but not the digest of an entry.
  std::ofstream(file.path()) << rates;
  const RunArguments entry = parse("--entry e --entry-sha256 " + std::string(64, 'a') +
                                   " --network " + file.path().string());
  EXPECT_EQUAL(entry.scenario.flows[0].entry->object, "e");
}

TEST(digests_are_64_digits) {
  const std::string digest(64, 'a');
  EXPECT_EQUAL(parse(min + "--uplink-sha256 " + digest).scenario.uplink.trace_sha256, digest);
  EXPECT_EQUAL(parse(min + "--downlink-sha256 " + digest).scenario.downlink.trace_sha256, digest);
  for (const std::string& bad : {std::string("abc"), std::string(64, 'A'), digest + "a"}) {
    expect_refused([&] { parse(min + "--uplink-sha256 " + bad); }, "is not 64 digits of 0-9");
  }
}

// The same file holds one trace after another.
TEST(a_batch_notices_that_a_trace_was_changed) {
  const TemporaryFile file;
  const std::string line = "--controller fixed_window --uplink " + file.path().string() +
                           " --downlink " + file.path().string() + " --duration-s 1 ";
  const auto write = [&](const std::string& trace) { std::ofstream(file.path()) << trace; };
  Runner runner;
  const auto run = [&](const std::string& options) {
    return runner.run(parse(line + options)).json;
  };
  const auto pinned = [](const std::string& trace) {
    return "--uplink-sha256 " + sha256(trace) + " --downlink-sha256 " + sha256(trace);
  };
  write("1\n2\n");
  const std::string both = run("");
  EXPECT_EQUAL(run(pinned("1\n2\n")), both);
  write("2\n");
  const std::string half = run("");
  EXPECT_EQUAL(half == both, false);
  EXPECT_EQUAL(run(pinned("2\n")), half);
  write("3\n");
  EXPECT_EQUAL(run(pinned("2\n")), half);  // a known digest: the file is not read
  expect_refused([&] { run(pinned("1\n2\n")); }, "has SHA-256 " + sha256("3\n"));
  expect_refused([&] { run("--downlink-sha256 " + sha256("2\n")); }, "snakemake makes it anew");
}
