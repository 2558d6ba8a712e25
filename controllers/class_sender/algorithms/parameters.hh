// The parameters as a candidate's class sees them, in place of algorithms/parameters.hh: without
// headers of the standard library, which would take longer to compile than the class.
#pragma once

#include "algorithms/limits.hh"

namespace kneepoint {

class Parameters {
 public:
  // Both throw for an invalid value.
  double real(const char* name, double fallback, const Limits& limits, const char* unit,
              const char* meaning);
  double integer(const char* name, double fallback, const Limits& limits, const char* unit,
                 const char* meaning);

  bool flag(const char* name, const char* meaning, bool fallback = false) {
    return integer(name, fallback, {.low = 0, .high = 1, .max = 1}, "0 or 1", meaning) != 0;
  }
};

}  // namespace kneepoint
