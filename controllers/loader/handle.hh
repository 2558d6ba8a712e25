// A running controller, as its sender sees it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "algorithms/controller.hh"
#include "algorithms/interface.h"

namespace kneepoint {

// The run failed because its controller misbehaved.
class ControllerFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr auto widest_window_packets = static_cast<uint64_t>(widest_window);

// The calls of a controller, and the controller, which must outlive it.
//
// Every call throws ControllerFailure if the controller misbehaves, and std::bad_alloc if the
// controller reports that memory ran out.
class ControllerHandle {
 public:
  ControllerHandle(const kneepoint_interface& calls, void* controller, uint32_t needed = 0)
      : calls_(calls), controller_(controller), needs_(needed) {}

  double window() const {
    const double packets = calls_.window(controller_);
    if (not(packets >= 0 and packets <= widest_window)) {
      refuse("window", packets, " packets; it must stay in [0, ", widest_window,
             "], because packets in flight take memory");
    }
    return packets;
  }

  double keepalive_ms() const {
    const double silence_ms = calls_.keepalive_ms(controller_);
    if (not(silence_ms >= 1)) refuse("keepalive", silence_ms, " ms; it must be at least ", 1);
    return std::min(silence_ms, longest_keepalive_ms);
  }

  bool handles_sent() const { return calls_.on_sent != nullptr; }
  bool handles_acks() const { return calls_.on_ack != nullptr; }
  bool handles_keepalives() const { return calls_.on_keepalive != nullptr; }
  bool handles_loss() const { return calls_.on_loss != nullptr; }

  // A sum of needs::...
  uint32_t needs() const { return needs_; }

  bool owns_cwnd_in_recovery() const { return calls_.governs_recovery != 0; }

  bool paces() const { return calls_.pacing_us != nullptr; }

  // Requires paces().
  double pacing_us() const {
    const double gap_us = calls_.pacing_us(controller_);
    if (not(gap_us >= 0 and gap_us <= longest_gap_us)) {
      refuse("pacing", gap_us, " us; it must stay in [0, ", longest_gap_us, "]");
    }
    return gap_us;
  }

  void on_sent(uint64_t sequence_number, int64_t now_ms) const {
    tell(calls_.on_sent, kneepoint_sent{sequence_number, now_ms});
  }
  void on_ack(const Ack& ack) const { tell(calls_.on_ack, ack); }
  void on_keepalive(const Keepalive& keepalive) const { tell(calls_.on_keepalive, keepalive); }
  void on_loss(const Loss& loss) const { tell(calls_.on_loss, loss); }
  void on_undo(const Undo& undo) const { tell(calls_.on_undo, undo); }

 private:
  static constexpr double longest_keepalive_ms = 1e9;
  static constexpr double longest_gap_us = 60e6;

  template <class Event>
  void tell(int (*call)(void*, const Event*), const Event& event) const {
    if (call != nullptr and call(controller_, &event) != 0) refuse_event();
  }

  // Throws the failure of the last call, or else ControllerFailure with the value, the rule that it
  // breaks and the rule's bound.
  [[noreturn]] void refuse(const char* what, double value, const char* rule, double bound,
                           const char* why = "") const;
  [[noreturn]] void refuse_event() const;

  kneepoint_interface calls_;
  void* controller_;
  uint32_t needs_;
};

// Throws the failure of the last call, if it failed: ControllerFailure or std::bad_alloc.
void throw_failure(const kneepoint_interface& calls);

}  // namespace kneepoint
