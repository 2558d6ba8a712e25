// Ends a run whose controller hangs.
#pragma once

#include <chrono>

namespace kneepoint {

// While a watchdog exists, no run may use `limit` of CPU time without progress (see progress.hh). A
// run that does so ends the process with `exit_status`, after a line on stdout that says that the
// controller failed. It counts CPU time, so that a process that waits for the processor, or was
// stopped, is not blamed. There is at most one watchdog at a time.
class Watchdog {
 public:
  Watchdog(std::chrono::milliseconds limit, int exit_status);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace kneepoint
