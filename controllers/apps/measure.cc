// measure: the metrics of a run from its link's log, in the format of `emulate`.
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "apps/program.hh"
#include "measure/log_figures.hh"
#include "measure/tunnel_figures.hh"

namespace {

using namespace kneepoint;

const char* const usage =
    R"(usage: measure LOG
       measure --over-time < LOG
       measure --tunnel < LOG

Prints the metrics of a log of mm-link, or of emulate --uplink-log, as JSON.
--over-time: also rates, the greatest delay and the queue, in at most 4096 intervals; and is_torn,
             whether the last line has no end. It is left out. So is what forks of mahimahi log
             besides: other_events, by their kind, and words after longer_events.
--tunnel: the same of a log of Pantheon's tunnel, with the metrics of each flow.
A log of any length is read in constant memory.
)";

void describe(JsonWriter& json, const std::string& name, const TunnelFlow& flow) {
  json.begin_object()
      .field("name", name)
      .field("throughput_mbps", flow.throughput_mbps())
      .field("delay_p50_ms", flow.delays.nearest_ms(0.5))
      .field("delay_p95_ms", flow.delays.nearest_ms(0.95))
      .field("loss", flow.loss())
      .end_object();
}

void describe(JsonWriter& json, const TunnelFigures& figures) {
  json.begin_object()
      .field("capacity_mbps", figures.capacity_mbps)
      .field("signal_delay_p95_ms", figures.signal_delay_p95_ms)
      .field("packets_sent", figures.packets_sent)
      .field("packets_delivered", figures.packets_delivered)
      .field("duration_s", figures.duration_s)
      .field("is_torn", uint64_t{figures.is_torn});
  json.key("flows").begin_array();
  describe(json, "all", figures.all);
  for (const auto& [number, flow] : figures.flows) describe(json, std::to_string(number), flow);
  json.end_array();
  figures.over_time.write(json, false);
  json.end_object();
}

int run(const Words& words) {
  if (words.size() != 1) throw std::invalid_argument("LOG alone; measure --help");
  std::ios::sync_with_stdio(false);
  JsonWriter json;
  if (words[0] == "--over-time") {
    write_over_time(json, log_figures("-", bytes_of(std::cin), Dialect::any_fork));
  } else if (words[0] == "--tunnel") {
    describe(json, tunnel_figures("-", bytes_of(std::cin)));
  } else {
    write_figures(json.begin_object(), read_log_figures(words[0])).end_object();
  }
  std::cout << json.text() << '\n';
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
