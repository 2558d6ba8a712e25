// Failures of the system as exceptions.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace kneepoint {

// A failure that is neither a controller's nor an entry's fault: this machine cannot run it now;
// another one could, or this one later.
class MachineFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// For what errno says. `what`: the call, or the file that it was for.
[[noreturn]] inline void fail(const std::string& what) {
  throw std::system_error(errno, std::system_category(), what);
}

}  // namespace kneepoint
