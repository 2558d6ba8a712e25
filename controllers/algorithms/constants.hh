// The constants of a controller: declared and read in one place, its constructor.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kneepoint {

enum class Scale { linear, log };
enum class ConstantType { integer, real };

// One constant as its controller declares it. [low, high] is the sensible search range;
// [least, most] is the valid range.
struct Constant {
  std::string name;
  double fallback;
  double low;
  double high;
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  Scale scale = Scale::linear;
  std::string unit;
  std::string meaning;
  ConstantType type = ConstantType::real;
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
  double real(Constant constant) { return read(std::move(constant), ConstantType::real); }
  double integer(Constant constant) { return read(std::move(constant), ConstantType::integer); }

  // A detail that a rule includes (1) or not (0).
  bool flag(const std::string& name, const std::string& meaning, bool fallback = false) {
    return integer({.name = name,
                    .fallback = fallback ? 1.0 : 0.0,
                    .low = 0,
                    .high = 1,
                    .most = 1,
                    .unit = "0 or 1",
                    .meaning = meaning}) != 0;
  }

  const std::vector<Constant>& declared() const { return declared_; }

 private:
  double read(Constant constant, ConstantType type) {
    constant.type = type;
    const auto given = values_.find(constant.name);
    const double value = given == values_.end() ? constant.fallback : given->second;
    declared_.push_back(std::move(constant));
    return value;
  }

  Values values_;
  std::vector<Constant> declared_{};
};

}  // namespace kneepoint
