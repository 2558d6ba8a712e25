// The constants of a controller: declared and read in one place, its constructor.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/limits.hh"

namespace kneepoint {

enum class ConstantType { integer, real };

// One constant as its controller declares it.
struct Constant {
  std::string name;
  double fallback;
  Limits limits;
  std::string unit;
  std::string meaning;
  ConstantType type;
};

// A run's values of a controller's parameters.
//
// A controller's constructor reads each of its constants once, and that reading is the declaration:
// constructed with no values it yields the defaults and leaves the list of all constants behind.
// The caller has checked the values against that list.
class Constants {
 public:
  using Values = std::map<std::string, double, std::less<>>;

  explicit Constants(Values values = {}) : values_(std::move(values)) {}

  // The value of a constant: the given one, or its default.
  double real(std::string name, double fallback, const Limits& limits, std::string unit,
              std::string meaning) {
    return read({std::move(name), fallback, limits, std::move(unit), std::move(meaning),
                 ConstantType::real});
  }
  double integer(std::string name, double fallback, const Limits& limits, std::string unit,
                 std::string meaning) {
    return read({std::move(name), fallback, limits, std::move(unit), std::move(meaning),
                 ConstantType::integer});
  }

  // A detail that a rule includes (1) or not (0).
  bool flag(std::string name, std::string meaning, bool fallback = false) {
    return integer(std::move(name), fallback, {.low = 0, .high = 1, .most = 1}, "0 or 1",
                   std::move(meaning)) != 0;
  }

  const std::vector<Constant>& declared() const { return declared_; }

 private:
  double read(Constant constant) {
    const auto given = values_.find(constant.name);
    const double value = given == values_.end() ? constant.fallback : given->second;
    declared_.push_back(std::move(constant));
    return value;
  }

  Values values_;
  std::vector<Constant> declared_{};
};

}  // namespace kneepoint
