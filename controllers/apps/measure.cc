// measure: the figures of a run from its link's log, as `emulate` prints them of its own runs.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "network/log_figures.hh"
#include "network/metrics_json.hh"

namespace {

using namespace kneepoint;

constexpr int exit_bad_arguments = 2;

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

}  // namespace

int main(int argc, char* argv[]) {
  try {
    if (argc != 2 or argv[1] == std::string("--help")) {
      std::cout << "usage: measure LOG\n\nPrints the figures of a log of mm-link, or of emulate "
                   "--uplink-log, as JSON.\n";
      return argc == 2 ? EXIT_SUCCESS : exit_bad_arguments;
    }
    std::cout << describe(read_log_figures(argv[1])) << '\n';
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return exit_bad_arguments;
  }
}
