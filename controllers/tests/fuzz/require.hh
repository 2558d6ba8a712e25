// The checks of the fuzz targets; sanitizers find the other errors.
#pragma once

#include <cstdlib>

namespace kneepoint::fuzz {

inline void require(bool condition) {
  if (not condition) std::abort();
}

}  // namespace kneepoint::fuzz
