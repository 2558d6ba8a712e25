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
       measure --over-time < LOG

Prints the metrics of a log of mm-link, or of emulate --uplink-log, as JSON.
--over-time: also rates, the greatest delay and the queue, in at most 4096 intervals; and is_torn,
             whether the last line has no end. It is left out. So is what forks of mahimahi log
             besides: other_events, by their kind, and words after longer_events.
A log of any length is read in constant memory.
)";

int run(const Words& words) {
  if (words.size() != 1) throw std::invalid_argument("LOG alone; measure --help");
  std::ios::sync_with_stdio(false);
  JsonWriter json;
  if (words[0] == "--over-time") {
    write_over_time(json, log_figures("-", bytes_of(std::cin), Dialect::any_fork));
  } else {
    write_figures(json.begin_object(), read_log_figures(words[0])).end_object();
  }
  std::cout << json.text() << '\n';
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
