// What a parameter may be. Nothing of the standard library: a candidate's class, which includes it,
// compiles at once.
#pragma once

namespace kneepoint {

inline constexpr double infinity = __builtin_inf();

enum class Scale { linear, log };

// [low, high] is the sensible search range; [least, most] is the valid range.
struct Limits {
  double low;
  double high;
  double least = 0;
  double most = infinity;
  Scale scale = Scale::linear;
};

}  // namespace kneepoint
