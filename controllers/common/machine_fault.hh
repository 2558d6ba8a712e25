// Failures that are not a controller's or an entry's fault.
#pragma once

#include <stdexcept>

namespace kneepoint {

// This machine cannot run it now; another one could, or this one later.
class MachineFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace kneepoint
