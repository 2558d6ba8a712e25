// measure: the metrics of a run from its link's log, in the format of `emulate`.
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "apps/program.hh"
#include "measure/log_figures.hh"

namespace {

using namespace kneepoint;

const char* const usage =
    R"(usage: measure LOG

Prints the metrics of a log of mm-link, or of emulate --uplink-log, as JSON.
)";

std::string describe(const LogFigures& figures) {
  JsonWriter json;
  json.begin_object();
  return write_metrics(json, figures.metrics)
      .field("packets_sent", figures.packets_sent)
      .field("packets_delivered", figures.packets_delivered)
      .field("packets_dropped", figures.packets_dropped)
      .field("end_ms", static_cast<uint64_t>(figures.end_ms))
      .end_object()
      .text();
}

int run(const Words& words) {
  if (words.size() != 1) throw std::invalid_argument("LOG alone; measure --help");
  std::cout << describe(read_log_figures(words[0])) << '\n';
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
