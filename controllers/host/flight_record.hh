// The packets in flight of a flow whose sender shows no window.
#pragma once

#include <cstdint>

#include "common/block_queue.hh"
#include "common/time.hh"
#include "measure/flow_log.hh"
#include "measure/flow_meter.hh"

namespace kneepoint {

// A sender's actions are decided ahead of their time, some further than others: they are brought
// into the order of time before they are logged and measured.
class FlightRecord {
 public:
  // Log and meter may be null; both must outlive the record.
  FlightRecord(uint32_t flow, FlowLog* log, FlowMeter* meter)
      : flow_(flow), log_(log), meter_(meter) {}

  // The calls of each kind come in the order of time.
  void sent(Microseconds time_us, uint64_t number) { sent_.push({time_us, number, 0}); }
  void acknowledged(Microseconds time_us, uint64_t number, Milliseconds rtt_ms) {
    acknowledged_.push({time_us, number, rtt_ms});
  }

  // Logs and measures all events before `until_us`; further events come later.
  void settle(Microseconds until_us);

 private:
  struct Event {
    Microseconds time_us;
    uint64_t number;
    Milliseconds rtt_ms;
  };

  double in_flight() const { return static_cast<double>(next_ - next_unacknowledged_); }

  uint32_t flow_;
  FlowLog* log_;
  FlowMeter* meter_;
  BlockQueue<Event> sent_{};
  BlockQueue<Event> acknowledged_{};
  uint64_t next_ = 0;
  uint64_t next_unacknowledged_ = 0;
};

}  // namespace kneepoint
