// check_trace: validates traces, for every program that reads them.
#include <array>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "apps/program.hh"
#include "common/text.hh"
#include "links/trace.hh"

namespace {

using namespace kneepoint;

constexpr uint64_t latest_ms = 1'000'000'000'000'000'000;

const char* const usage =
    R"(usage: check_trace NAME < TRACE
       check_trace NAME FROM_MS TO_MS < TRACE

Prints nothing if TRACE is valid: a whole number of milliseconds per line, in digits, never decreasing,
the last above 0. Otherwise names the wrong line; NAME is the trace's name in messages.
FROM_MS TO_MS: prints the opportunities in this part, after FROM_MS and until TO_MS, shifted to start
at 0. The trace may be longer than others that are read.
)";

std::string read_stdin(const std::string& what) {
  std::string text;
  std::array<char, 65536> block;
  while (std::cin.read(block.data(), block.size()) or std::cin.gcount() > 0) {
    text.append(block.data(), static_cast<size_t>(std::cin.gcount()));
    if (text.size() > Trace::max_bytes) {
      throw std::invalid_argument(what + " has more than " + std::to_string(Trace::max_bytes) +
                                  " bytes; cut it");
    }
  }
  return text;
}

int print_part(const Words& words) {
  std::ios::sync_with_stdio(false);
  const auto from_ms = static_cast<Milliseconds>(to_whole(words[1], "FROM_MS", 0, latest_ms));
  const auto to_ms = static_cast<Milliseconds>(to_whole(words[2], "TO_MS", 0, latest_ms));
  for (const Milliseconds time_ms : trace_part(words[0], std::cin, from_ms, to_ms)) {
    std::cout << time_ms << '\n';
  }
  return EXIT_SUCCESS;
}

int run(const Words& words) {
  if (words.size() == 3) return print_part(words);
  if (words.size() != 1) {
    throw std::invalid_argument("NAME, or NAME FROM_MS TO_MS; check_trace --help");
  }
  const std::string text = read_stdin("trace " + words[0]);
  Trace(words[0], text);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
