// The delivery opportunities of a trace, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/time.hh"
#include "links/trace.hh"
#include "measure/link_log.hh"

namespace kneepoint {

class Opportunities {
 public:
  enum class AtEnd { stop, repeat };  // behaviour after the trace's last line

  // The trace must outlive the opportunities.
  Opportunities(const Trace& trace, AtEnd at_end) : trace_(trace), at_end_(at_end) {}

  Milliseconds first_ms() const { return trace_[0]; }
  // When the next opportunity is; never_ms after the last.
  Milliseconds next_ms() const { return next_ms_; }

  // Moves on to the opportunity after it.
  [[gnu::always_inline]] void take() {
    if (++position_ == size_) [[unlikely]] {
      begin_lap();
    } else {
      next_ms_ = lap_start_ms_ + times_ms_[position_];
    }
  }

  // The opportunities up to and including now find no packet. The log may be null.
  void lose_until(Milliseconds now_ms, LinkLog* log);

  struct Past {
    uint64_t count;
    Milliseconds last_ms;  // meaningless if the count is 0
  };
  // The opportunities up to and including a time, taken or not.
  Past until(Milliseconds time_ms) const;

 private:
  void begin_lap();

  const Trace& trace_;
  AtEnd at_end_;
  const int32_t* times_ms_ = trace_.begin();
  size_t size_ = trace_.size();
  size_t position_ = 0;  // in the trace
  Milliseconds lap_start_ms_ = 0;
  Milliseconds next_ms_ = trace_[0];
};

}  // namespace kneepoint
