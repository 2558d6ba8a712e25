#include "apps/arguments.hh"

#include <stdexcept>
#include <utility>

#include "apps/entry_options.hh"
#include "common/input_file.hh"
#include "entries/date.hh"

namespace kneepoint {

const char* const run_usage =
    R"(usage: emulate --controller NAME|PATH [--set PARAMETER=VALUE]... --uplink TRACE --downlink TRACE
               [--delay-ms 20] [--duration-s S] [--seed N]
               [--host-model ideal|event-loop[:KEY=VALUE,...]] [--host-latency-us N]
               [--uplink-queue QUEUE] [--downlink-queue QUEUE] [--uplink-log F] [--flow-log F]
               [--controller-sha256 HEX] [--uplink-sha256 HEX] [--downlink-sha256 HEX]
       emulate --controller NAME|PATH --network NAME|FILE [any of these but the traces']
       emulate --entry OBJECT [--entry-sha256 HEX] [--argument TEXT]... [--env NAME=VALUE]...
               [--dialect NAME] [--entry-clock-epoch-ms N] [--trust-entries] [--entry-lookahead-us N]
               [--entry-interpreter PYTHON] [any but --controller and --set]
       emulate --scenario FILE [--uplink-log F] [--flow-log F]
       emulate --scenario-schema
       emulate --list
       emulate --batch

Runs one controller over an emulated cellular link in virtual time and prints its metrics as one
JSON object. Without --duration-s the traces run once; with it they repeat until S seconds. --network takes
a prepared network of config/networks, with links, duration and host model as in `kneepoint run` and the
studies: NAME is .kneepoint/networks/NAME/network.json here, FILE such a file with its
traces beside it. Other options, in any order, override the network's values.
QUEUE: infinite, droptail:packets=N, droptail:bytes=N, drophead:..., codel:target=MS,interval=MS,
pie:qdelay_ref=MS,max_burst=MS, codel-mahimahi:..., pie-mahimahi:..., red:min=N,max=N, drr:packets=N,
fq_codel:target=MS,interval=MS; docs/emulator.md lists further settings. A controller is NAME.so in
the folder controllers/ beside this program, or any such file by its PATH, such as ./mine.so. --list
describes every controller and its parameters. --batch reads one run per line from stdin and answers
each with one line: these same options, or an object with a scenario,
{"scenario": {...}, "flows": true, "uplink_log": F, "flow_log": F}. A file whose digest is not HEX is
refused. A controller that uses 30 s of CPU time in one call fails. --scenario-schema describes a
scenario, in JSON: several flows, TCP, links of constant rate, probes; the answer has the
metrics of every flow.
)";

namespace {

constexpr uint64_t longest_delay_ms = 60'000;
constexpr uintmax_t max_scenario_bytes = 10'000'000;
constexpr uintmax_t max_network_bytes = 1'000'000;
constexpr double longest_latency_us = 1e6;

std::filesystem::path network_file(const std::string& wanted) {
  if (wanted.find('/') != std::string::npos or wanted.ends_with(".json")) return wanted;
  const auto path = std::filesystem::path(".kneepoint/networks") / wanted / "network.json";
  if (state_of(path) != FileState{}) return path;
  throw std::invalid_argument("--network " + shown(wanted) + " is not prepared here; " +
                              "kneepoint run fixed_window --network " + wanted + " prepares it");
}

// Options, whose order does not matter, are gathered first and interpreted afterwards.
struct Parser {
  RunArguments run{};
  std::optional<std::string> host_model{};
  std::optional<double> host_latency_us{};
  std::string network{};
  std::string trace_option{};  // the last option that names a trace, or its digest
  std::string scenario_file{};
  EntrySettings entry{};
  std::string entry_option{};  // the last option for entries only
  bool has_run = false;        // an option was given that a scenario file replaces

  FlowSettings& flow() { return run.scenario.flows.front(); }

  // Comes before all other options, which override it.
  void take_network(const std::string& wanted) {
    if (not network.empty()) throw std::invalid_argument("--network is given twice");
    network = wanted;
    const std::filesystem::path path = network_file(wanted);
    run.scenario.take_network("network " + path.string(),
                              read_file(path, "network", max_network_bytes), path.parent_path());
  }

  void take(const std::vector<std::string>& words) {
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "--network") take_network(words[i + 1]);
    }
    Scenario& scenario = run.scenario;
    const Options of_traces{{"--uplink", text_at(scenario.uplink.trace)},
                            {"--downlink", text_at(scenario.downlink.trace)},
                            {"--uplink-sha256", sha256_at(scenario.uplink.trace_sha256)},
                            {"--downlink-sha256", sha256_at(scenario.downlink.trace_sha256)}};
    Options of_entry = entry_options(entry);
    of_entry.insert({{"--trust-entries", flag_at(scenario.trusts_entries)},
                     {"--entry-lookahead-us", whole_at(scenario.entry_lookahead_us, 0, 1000)},
                     {"--entry-clock-epoch-ms", whole_at(entry.clock_epoch_ms, 0, date_s * 1000)}});
    const auto take_delay = [&scenario](const std::string& value, const std::string& name) {
      scenario.uplink.delay_ms = scenario.downlink.delay_ms =
          static_cast<double>(to_whole(value, name, 0, longest_delay_ms));
    };
    Options all{{"--scenario", text_at(scenario_file)},
                {"--network", text_at(network)},
                {"--controller", text_at(flow().controller)},
                {"--controller-sha256", sha256_at(flow().controller_sha256)},
                {"--set", parameter_at(flow().parameters)},
                {"--delay-ms", {take_delay}},
                {"--duration-s", duration_at(scenario.duration_ms)},
                {"--seed", whole_at(scenario.seed)},
                {"--host-model", text_at(host_model)},
                {"--host-latency-us", real_at(host_latency_us, 0, longest_latency_us)},
                {"--uplink-queue", text_at(scenario.uplink.queue)},
                {"--downlink-queue", text_at(scenario.downlink.queue)},
                {"--uplink-log", text_at(run.uplink_log)},
                {"--flow-log", text_at(run.flow_log)}};
    all.insert(of_traces.begin(), of_traces.end());
    all.insert(of_entry.begin(), of_entry.end());
    for (const std::string& name : take_options(words, 0, all, "emulate")) {
      if (of_traces.contains(name)) trace_option = name;
      if (of_entry.contains(name) and name != "--entry") entry_option = name;
      has_run = has_run or (name != "--scenario" and not name.ends_with("-log"));
    }
  }

  RunArguments finish() {
    if (not scenario_file.empty()) return finish_scenario();
    if (entry.object.empty() and not entry_option.empty()) {
      throw std::invalid_argument(entry_option + " needs --entry OBJECT");
    }
    if (not entry.object.empty()) {
      if (not flow().controller.empty() or not flow().parameters.empty()) {
        throw std::invalid_argument(
            "--entry runs a whole sender: it excludes --controller and --set");
      }
      flow().entry = entry;
    } else if (flow().controller.empty()) {
      throw std::invalid_argument("--controller NAME is missing, or --entry OBJECT");
    }
    if (not network.empty() and not trace_option.empty()) {
      throw std::invalid_argument("--network has both links: it excludes " + trace_option);
    }
    if (network.empty() and run.scenario.uplink.trace.empty()) {
      throw std::invalid_argument("--uplink TRACE is missing, or --network NAME");
    }
    if (network.empty() and run.scenario.downlink.trace.empty()) {
      throw std::invalid_argument("--downlink TRACE is missing");
    }
    const double latency_us = host_latency_us.value_or(run.scenario.host.host_latency_us);
    if (host_model or network.empty()) {
      run.scenario.host = make_host_model(host_model.value_or("event-loop"));
    }
    run.scenario.host.host_latency_us = latency_us;
    check_classes(run.scenario.uplink, run.scenario, "--uplink-queue");
    check_classes(run.scenario.downlink, run.scenario, "--downlink-queue");
    return std::move(run);
  }

  RunArguments finish_scenario() {
    if (has_run) {
      throw std::invalid_argument(
          "--scenario FILE describes the whole run: it allows only --uplink-log and --flow-log");
    }
    run.scenario = Scenario::parse("scenario " + scenario_file,
                                   read_file(scenario_file, "scenario", max_scenario_bytes));
    run.measures_flows = true;
    return std::move(run);
  }
};

}  // namespace

RunArguments parse_run_arguments(const std::vector<std::string>& words) {
  Parser parser;
  parser.run.scenario.flows.resize(1);
  parser.take(words);
  RunArguments run = parser.finish();
  for (const std::string& word : words) run.request += (run.request.empty() ? "" : " ") + word;
  return run;
}

RunArguments parse_batch_line(const std::string& line) {
  if (not line.starts_with('{')) return parse_run_arguments(split_words(line));
  RunArguments run;
  run.request = line;
  const JsonValue request = JsonValue::parse("the request", line);
  bool has_scenario = false;
  for (const auto& [key, value] : *request.object()) {
    if (key == "scenario") {
      run.scenario = Scenario::read("scenario", value);
      has_scenario = true;
    } else if (key == "flows" and value.boolean() != nullptr) {
      run.measures_flows = *value.boolean();
    } else if (key == "uplink_log" and value.text() != nullptr) {
      run.uplink_log = *value.text();
    } else if (key == "flow_log" and value.text() != nullptr) {
      run.flow_log = *value.text();
    } else {
      throw std::invalid_argument(
          "the request: " + shown(key) +
          " is unknown or of the wrong type; known: scenario (an "
          "object), flows (true or false), uplink_log and flow_log (strings)");
    }
  }
  if (not has_scenario) throw std::invalid_argument("the request lacks scenario");
  return run;
}

}  // namespace kneepoint
