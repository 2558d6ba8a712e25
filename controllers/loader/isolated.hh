// Work that may crash or hang, in a process of its own.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace kneepoint {

// Returns what `work` returns in a child of this process, whose output is discarded. Throws
// std::invalid_argument with what `work` throws; and one that says so, after `what`, where it
// crashes, ends the process, takes 2 s of CPU time or sleeps that long. A child that waits for a
// processor, as on a busy machine, or that was stopped does neither. Throws MachineFault where
// somebody else ends the child.
std::string run_isolated(const std::string& what, const std::function<std::string()>& work,
                         std::chrono::milliseconds longest_asleep = std::chrono::seconds(30));

}  // namespace kneepoint
