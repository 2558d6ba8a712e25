// Work that may crash or hang, in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace kneepoint {

// Returns what `work` returns in a child of this process, whose output is discarded. Throws
// std::invalid_argument with what `work` throws; and one that says so, after `what`, where it
// crashes, ends the process, or does not end within 2 s of CPU time or half a minute. Throws
// MachineFault where somebody else ends the child.
std::string run_isolated(const std::string& what, const std::function<std::string()>& work);

}  // namespace kneepoint
