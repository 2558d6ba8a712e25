// A seeded cellular trace, one direction of a link that varies and fails.
//
// Deliveries are a Poisson process whose rate is itself random: it moves as a Brownian motion in
// ticks of 20 ms and, once it reaches zero, stays there until an outage of exponential length is
// over (Winstein, Sivaraman, Balakrishnan: Stochastic Forecasts Achieve High Throughput and Low
// Delay over Cellular Networks, NSDI 2013, section 3.1).
#pragma once

#include <cstdint>
#include <functional>

#include "apps/program.hh"
#include "common/time.hh"

namespace kneepoint {

struct SyntheticTrace {
  uint64_t seed = 0;
  Milliseconds duration_ms = 0;
  double start_rate_mbps = 0;
  double max_rate_mbps = 0;
  double sigma_packets_per_s = 200;
  double outage_escape_per_s = 1;
};

// Returns the model that the options of `synthesize` describe. Throws std::invalid_argument for a
// missing option, a value out of range, and more packets than a trace may have.
SyntheticTrace parse_synthetic_trace(const Words& words);

// Calls `write` with each line of the trace.
void write_trace(const SyntheticTrace& model, const std::function<void(Milliseconds)>& write);

}  // namespace kneepoint
