// emulate: one controller over one emulated cellular link, in virtual time.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "algorithms/registry.hh"
#include "apps/arguments.hh"
#include "apps/program.hh"
#include "apps/runner.hh"
#include "network/json.hh"
#include "network/text.hh"

namespace {

using namespace kneepoint;

constexpr int exit_controller_failed = 3;

int run_once(const Words& words) {
  const RunReport report = Runner().run(parse_run_arguments(words));
  std::cout << report.json << '\n';
  return report.status == RunStatus::ok ? EXIT_SUCCESS : exit_controller_failed;
}

// One answer a line, whatever the line holds: an error costs its own run and no other.
int run_batch() {
  Runner runner;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::string answer;
    try {
      answer = runner.run(parse_run_arguments(split_words(line))).json;
    } catch (const std::exception& error) {
      answer = JsonWriter()
                   .begin_object()
                   .field("status", "error")
                   .field("reason", std::string_view(error.what()))
                   .end_object()
                   .text();
    }
    std::cout << answer << std::endl;
  }
  return EXIT_SUCCESS;
}

int run(const Words& words) {
  if (words.empty()) {
    std::cout << run_usage;
    return exit_bad_arguments;
  }
  if (words == Words{"--list"}) {
    std::cout << describe_algorithms() << '\n';
    return EXIT_SUCCESS;
  }
  if (words == Words{"--batch"}) return run_batch();
  return run_once(words);
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, run_usage, run); }
