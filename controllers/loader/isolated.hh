// Work that may crash or hang, in a process of its own.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace kneepoint {

// Returns the result of `work`, which runs in a child of this process; the child's output is
// discarded. Throws std::invalid_argument with the message of an exception of `work`, or with
// `what` and the reason if the child crashes, ends by itself, takes 2 s of CPU time or sleeps for
// `longest_asleep`. A child that waits for a processor, as on a busy machine, or that is stopped
// does not sleep. Throws MachineFault if another process ends the child.
std::string run_isolated(const std::string& what, const std::function<std::string()>& work,
                         std::chrono::milliseconds longest_asleep = std::chrono::seconds(30));

}  // namespace kneepoint
