#include "loader/handle.hh"

#include <new>
#include <string>

#include "common/text.hh"

namespace kneepoint {

void throw_failure(const kneepoint_interface& calls) {
  const kneepoint_failure* const failure = calls.failure();
  if (failure == nullptr) return;
  if (failure->kind == KNEEPOINT_OUT_OF_MEMORY) throw std::bad_alloc();
  throw ControllerFailure("the controller failed: " + one_line(failure->text));
}

void ControllerHandle::refuse_window(double packets) const {
  throw_failure(calls_);
  throw ControllerFailure("the window became " + to_text(packets) +
                          " packets; it must stay in [0, " + std::to_string(widest_window_packets) +
                          "], because packets in flight take memory");
}

void ControllerHandle::refuse_keepalive(double silence_ms) const {
  throw_failure(calls_);
  throw ControllerFailure("the keepalive became " + to_text(silence_ms) +
                          " ms; it must be at least 1");
}

void ControllerHandle::refuse_pacing(double gap_us) const {
  throw_failure(calls_);
  throw ControllerFailure("the pacing became " + to_text(gap_us) + " us; it must stay in [0, " +
                          to_text(longest_gap_us) + "]");
}

void ControllerHandle::refuse_event() const {
  throw_failure(calls_);
  throw ControllerFailure("the controller failed without a reason");
}

}  // namespace kneepoint
