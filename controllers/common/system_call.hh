// Failures of the system as exceptions.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace kneepoint {

// A failure that is neither a controller's nor an entry's fault: this machine cannot do the run
// now; another machine could, or this machine later.
class MachineFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws the error of errno. `what`: the call, or its file.
[[noreturn]] inline void fail(const std::string& what) {
  throw std::system_error(errno, std::system_category(), what);
}

}  // namespace kneepoint
