// How many packets of a flow are in flight, where its sender shows no window.
#pragma once

#include <cstdint>

#include "common/block_queue.hh"
#include "common/time.hh"
#include "measure/flow_log.hh"
#include "measure/flow_meter.hh"

namespace kneepoint {

// What a sender does is decided ahead of its time, by more or by less: it is brought into the order
// of time before it is logged and measured.
class FlightRecord {
 public:
  // Log and meter may be null; both must outlive it.
  FlightRecord(uint32_t flow, FlowLog* log, FlowMeter* meter)
      : flow_(flow), log_(log), meter_(meter) {}

  // Each in the order of its own times.
  void sent(Microseconds time_us, uint64_t number) { sent_.push({time_us, number, 0}); }
  void acknowledged(Microseconds time_us, uint64_t number, Milliseconds rtt_ms) {
    acknowledged_.push({time_us, number, rtt_ms});
  }

  // Nothing before `until_us` is still to come.
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
