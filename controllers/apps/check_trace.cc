// check_trace: validates traces, for every program that reads them.
#include <array>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "apps/program.hh"
#include "links/trace.hh"

namespace {

using namespace kneepoint;

const char* const usage =
    R"(usage: check_trace NAME < TRACE

Prints nothing if TRACE is valid: a whole number of milliseconds per line, in digits, never decreasing,
the last above 0. Otherwise names the wrong line; NAME is the trace's name in messages.
)";

std::string read_stdin(const std::string& what) {
  std::string text;
  std::array<char, 65536> block;
  while (std::cin.read(block.data(), block.size()) or std::cin.gcount() > 0) {
    text.append(block.data(), static_cast<size_t>(std::cin.gcount()));
    if (text.size() > Trace::most_bytes) {
      throw std::invalid_argument(what + " has more than " + std::to_string(Trace::most_bytes) +
                                  " bytes; shorten it");
    }
  }
  return text;
}

int run(const Words& words) {
  if (words.size() != 1) throw std::invalid_argument("NAME alone; check_trace --help");
  const std::string text = read_stdin("trace " + words[0]);
  Trace(words[0], text);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
