// Ends a run that stands still: the one way for a controller to hang.
#pragma once

#include <chrono>

namespace kneepoint {

// While it lives, no run may use `limit` of CPU time without getting anything done (see
// progress.hh). One that does ends the process with `exit_status`, after a line on stdout that says
// that the controller failed. CPU time, so that a process that waits for the host's processor, or
// was stopped, is not blamed. There is one at a time.
class Watchdog {
 public:
  Watchdog(std::chrono::milliseconds limit, int exit_status);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace kneepoint
