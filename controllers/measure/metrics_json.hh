// The metrics of a run as fields of a JSON object, the same wherever they come from.
#pragma once

#include "common/json.hh"
#include "measure/metrics.hh"

namespace kneepoint {

inline JsonWriter& write_metrics(JsonWriter& json, const Metrics& metrics) {
  return json.field("throughput_mbps", metrics.throughput_mbps)
      .field("capacity_mbps", metrics.capacity_mbps)
      .field("utilization", metrics.utilization)
      .field("queueing_delay_p95_ms", metrics.queueing_delay_p95_ms)
      .field("signal_delay_p50_ms", metrics.signal_delay_p50_ms)
      .field("signal_delay_p95_ms", metrics.signal_delay_p95_ms)
      .field("power", metrics.power);
}

}  // namespace kneepoint
