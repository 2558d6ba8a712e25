// synthesize: a seeded cellular trace, one direction of a link that varies and fails.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "apps/program.hh"
#include "apps/synthetic_trace.hh"

namespace {

using namespace kneepoint;

const char* const usage =
    R"(usage: synthesize --seed N --duration-s S --start-rate-mbps R --max-rate-mbps M
                  [--sigma-packets-per-s 200] [--outage-escape-per-s 1]

Writes a packet-delivery trace to stdout. The rate starts at R, moves by a Brownian motion of
sigma packets/s per square root of a second, stays below M, and leaves an outage at the given rate.
)";

int run(const Words& words) {
  write_trace(parse_synthetic_trace(words), [](Milliseconds time_ms) {
    std::fputs((std::to_string(time_ms) + '\n').c_str(), stdout);
  });
  if (std::fflush(stdout) != 0 or std::ferror(stdout))
    throw std::runtime_error("cannot write the trace; disk full?");
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
