// What a candidate's class sees of its parameters, in place of algorithms/constants.hh: no header
// of the standard library, which would take longer to compile than the class.
#pragma once

namespace kneepoint {

enum class Scale { linear, log };

struct Constant {
  const char* name;
  double fallback;
  double low;
  double high;
  double least = 0;
  double most = __builtin_inf();
  Scale scale = Scale::linear;
  const char* unit = "";
  const char* meaning = "";
};

class Constants {
 public:
  // Both throw for a value that is not valid.
  double real(const Constant& constant);
  double integer(const Constant& constant);

  bool flag(const char* name, const char* meaning, bool fallback = false) {
    return integer({.name = name,
                    .fallback = fallback ? 1.0 : 0.0,
                    .low = 0,
                    .high = 1,
                    .most = 1,
                    .unit = "0 or 1",
                    .meaning = meaning}) != 0;
  }
};

}  // namespace kneepoint
