// The metrics of a run, from a log of Pantheon's tunnel.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/time.hh"
#include "measure/log_lines.hh"
#include "measure/metrics.hh"
#include "measure/over_time.hh"
#include "measure/samples.hh"

namespace kneepoint {

// Of one flow, or of all.
struct TunnelFlow {
  uint64_t sent_bytes = 0;
  uint64_t departed_bytes = 0;
  Microseconds first_departure_us = 0;
  Microseconds last_departure_us = 0;
  Samples delays{};

  // From the first to the last departure; 0 for one.
  double throughput_mbps() const;
  double loss() const;  // of bytes; NaN if none was sent
};

struct TunnelFigures {
  TunnelFlow all{};
  std::map<uint64_t, TunnelFlow> flows{};
  uint64_t packets_sent = 0;
  uint64_t packets_delivered = 0;
  double capacity_mbps = 0;  // from the first to the last opportunity; NaN without two of them
  double signal_delay_p95_ms = 0;  // of delays in whole milliseconds
  double duration_s = 0;           // from the first to the last event
  bool is_torn = false;            // the last line has no end
  OverTime over_time{};            // since the first event
};

// Reads a log in constant memory. After header lines that begin with #, it has one event a line, in
// the order of time, in milliseconds with up to nine decimals:
//   T # BYTES               an opportunity, if the link was emulated
//   T + BYTES [FLOW]        a packet entered the tunnel
//   T - BYTES DELAY [FLOW]  a packet left it, DELAY ms after it had entered
// Throws std::invalid_argument, naming `name` and the line, when it is none or holds no event.
TunnelFigures tunnel_figures(const std::string& name, const ReadBytes& log);

}  // namespace kneepoint
