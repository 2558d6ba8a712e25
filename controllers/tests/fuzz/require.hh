// What a fuzz target finds out by itself; the rest is the sanitizers' part.
#pragma once

#include <cstdlib>

namespace kneepoint::fuzz {

inline void require(bool condition) {
  if (not condition) std::abort();
}

}  // namespace kneepoint::fuzz
