// The contract of a congestion controller: everything that an algorithm may know and decide.
//
// The sender queries a controller's window and notifies it of events. The controller has no clock,
// no I/O and no randomness of its own: time arrives as an argument, in whole milliseconds of the
// sender's clock, so that the same object runs in virtual time and over real UDP. Its caller uses
// it through algorithms/interface.h.
#pragma once

#include <cstdint>

#include "algorithms/interface.h"
#include "algorithms/parameters.hh"

namespace kneepoint {

// The events that a transport reports; algorithms/interface.h documents their members.
using Ack = kneepoint_ack;
using Keepalive = kneepoint_keepalive;
using Loss = kneepoint_loss;
using Undo = kneepoint_undo;

// The widest window, in packets. It bounds the memory of a run: a packet takes 40 bytes in the
// emulator until it has left the sender, 40 bytes in the link's queue, and about 2 kB in mm-link.
// With this window a run takes 100 MB, mm-link 2 GB.
inline constexpr double widest_window = 1 << 20;

inline constexpr Limits first_windows{.low = 1, .high = 50, .min = 1};

// The parameter initial_window, in packets; its default is RFC 6928's, unless a rule has its own.
inline double initial_window(Parameters& parameters, double fallback = 10,
                             const Limits& limits = first_windows) {
  return parameters.real("initial_window", fallback, limits, "packets",
                         "window before the first acknowledgment");
}

class Controller {
 public:
  virtual ~Controller() = default;

  // Whether the controller's window also bounds the sender in loss recovery, in place of the
  // transport's. on_ack is then also called for acknowledgments that report new packets only by
  // SACK.
  static constexpr bool governs_recovery = false;

  // Congestion window in packets. Its integer part bounds the datagrams in flight.
  virtual double window() const = 0;

  // How long the sender stays silent before it sends one datagram, even if the window is full.
  virtual double keepalive_ms() const { return keepalive_ms_; }

  // Microseconds between two datagrams. A controller that does not override it does not pace: it
  // sends as soon as the window allows.
  virtual double pacing_us() const { return 0; }

  // Events: a packet was sent, a packet was acknowledged, a keepalive was sent, packets were lost
  // or marked, the last losses proved spurious. By default each is ignored.
  virtual void on_sent(uint64_t /* sequence_number */, int64_t /* now_ms */) {}
  virtual void on_ack(const Ack& /* ack */) {}
  virtual void on_keepalive(const Keepalive& /* keepalive */) {}
  virtual void on_loss(const Loss& /* loss */) {}
  virtual void on_undo(const Undo& /* undo */) {}

 protected:
  // Every controller has the parameter keepalive_ms: it shapes the result as much as the rule does.
  Controller(Parameters& parameters, double default_keepalive_ms)
      : keepalive_ms_(
            parameters.integer("keepalive_ms", default_keepalive_ms,
                               {.low = 15, .high = 1000, .min = 1, .scale = Scale::log}, "ms",
                               "silence after which the sender sends one datagram regardless")) {}

 private:
  double keepalive_ms_;
};

// A controller whose window is a member, cwnd_.
class Windowed : public Controller {
 public:
  double window() const override { return cwnd_; }

 protected:
  Windowed(Parameters& parameters, double default_keepalive_ms, double initial = 10,
           const Limits& limits = first_windows)
      : Controller(parameters, default_keepalive_ms),
        cwnd_(initial_window(parameters, initial, limits)) {}

  double cwnd_;
};

// A controller that treats a silence as a retransmission timeout, on transports that do not
// retransmit.
class TimingOut : public Windowed {
 public:
  void on_keepalive(const Keepalive& keepalive) override {
    on_loss({.now_ms = keepalive.now_ms,
             .now_us = keepalive.now_us,
             .kind = Loss::Kind::timed_out,
             .in_flight = keepalive.in_flight,
             .is_repeated = keepalive.is_repeated});
  }

 protected:
  explicit TimingOut(Parameters& parameters, double initial = 10)
      : Windowed(parameters, 1000, initial) {}
};

}  // namespace kneepoint
