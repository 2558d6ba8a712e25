// emulate: one controller over one emulated cellular link, in virtual time.
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "apps/arguments.hh"
#include "apps/program.hh"
#include "apps/runner.hh"
#include "apps/watchdog.hh"
#include "common/json.hh"
#include "common/system_call.hh"
#include "host/host_model.hh"
#include "links/impairment.hh"
#include "loader/controllers.hh"
#include "queues/registry.hh"

namespace {

using namespace kneepoint;

constexpr int exit_controller_failed = 3;

// Of CPU time, so generous for any machine: a controller's call takes nanoseconds.
constexpr std::chrono::seconds longest_call{30};

// Runs one line of a batch. Running out of memory is a fault, not the controller's failure.
std::string run_line(Runner& runner, const std::string& line) {
  try {
    const RunArguments arguments = parse_batch_line(line);
    const Watchdog watchdog(longest_call, exit_controller_failed);
    return runner.run(arguments).json;
  } catch (const std::bad_alloc&) {
    return describe_failure("fault", out_of_memory);
  } catch (const MachineFault& fault) {
    return describe_failure("fault", fault.what());
  } catch (const std::exception& error) {
    return describe_failure("error", error.what());
  }
}

int run_once(const Words& words) {
  const RunArguments arguments = parse_run_arguments(words);
  const Watchdog watchdog(longest_call, exit_controller_failed);
  const RunReport report = Runner().run(arguments);
  std::cout << report.json << '\n';
  return report.status == RunStatus::ok ? EXIT_SUCCESS : exit_controller_failed;
}

// One answer per line: an error affects only its own run.
int run_batch() {
  Runner runner;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << run_line(runner, line) << std::endl;
  }
  return EXIT_SUCCESS;
}

std::string list() {
  JsonWriter json;
  Controllers::describe(json.begin_object());
  describe(json.key("queues"), Queues::kinds());
  describe(json.key("host_models"), host_models());
  describe(json.key("impairments"), Impairments::kinds());
  return json.end_object().text();
}

int run(const Words& words) {
  if (words.empty()) {
    std::cout << run_usage;
    return exit_bad_arguments;
  }
  if (words == Words{"--list"}) {
    std::cout << list() << '\n';
    return EXIT_SUCCESS;
  }
  if (words == Words{"--scenario-schema"}) {
    std::cout << Scenario::schema() << '\n';
    return EXIT_SUCCESS;
  }
  if (words == Words{"--batch"}) return run_batch();
  return run_once(words);
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, run_usage, run); }
