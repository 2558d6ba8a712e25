// emulate: one controller over one emulated cellular link, in virtual time.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "apps/arguments.hh"
#include "apps/catalogue.hh"
#include "apps/program.hh"
#include "apps/runner.hh"
#include "apps/watchdog.hh"

namespace {

using namespace kneepoint;

constexpr int exit_controller_failed = 3;

// A limit of CPU time, generous on any machine: a controller's call takes nanoseconds.
constexpr std::chrono::seconds longest_call{30};

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
    const Watchdog watchdog(longest_call, exit_controller_failed);
    std::cout << runner.answer(line) << std::endl;
  }
  return EXIT_SUCCESS;
}

int run(const Words& words) {
  if (words.empty()) {
    std::cout << run_usage;
    return exit_bad_arguments;
  }
  if (words == Words{"--list"}) {
    std::cout << catalogue() << '\n';
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
