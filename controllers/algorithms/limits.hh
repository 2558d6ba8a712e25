// The range of a parameter. This header needs nothing of the standard library, so that a
// candidate's class compiles fast.
#pragma once

namespace kneepoint {

inline constexpr double infinity = __builtin_inf();

enum class Scale { linear, log };

// [low, high] is the sensible search range; [min, max] is the valid range.
struct Limits {
  double low;
  double high;
  double min = 0;
  double max = infinity;
  Scale scale = Scale::linear;
};

}  // namespace kneepoint
