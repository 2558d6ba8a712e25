// Failures that say nothing of a controller or an entry.
#pragma once

#include <stdexcept>

namespace kneepoint {

// The machine cannot do now what another could, or it later.
class MachineFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace kneepoint
