// Failed calls of the system as exceptions.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace kneepoint {

// For what errno says. `what`: the call, or the file that it was for.
[[noreturn]] inline void fail(const std::string& what) {
  throw std::system_error(errno, std::system_category(), what);
}

}  // namespace kneepoint
