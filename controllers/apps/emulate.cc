// emulate: one controller over one emulated cellular link, in virtual time.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/registry.hh"
#include "apps/arguments.hh"
#include "apps/runner.hh"
#include "network/json.hh"
#include "network/text.hh"

namespace {

using namespace kneepoint;

constexpr int exit_bad_arguments = 2;
constexpr int exit_controller_failed = 3;

int run_once(const std::vector<std::string>& words) {
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

int run(const std::vector<std::string>& words) {
  if (words.empty() or words == std::vector<std::string>{"--help"}) {
    std::cout << run_usage;
    return words.empty() ? exit_bad_arguments : EXIT_SUCCESS;
  }
  if (words == std::vector<std::string>{"--list"}) {
    std::cout << describe_algorithms() << '\n';
    return EXIT_SUCCESS;
  }
  if (words == std::vector<std::string>{"--batch"}) return run_batch();
  return run_once(words);
}

}  // namespace

int main(int argc, char* argv[]) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return exit_bad_arguments;
  }
}
