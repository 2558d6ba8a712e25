// The parameters of a controller: declared and read in one place, its constructor.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/limits.hh"

namespace kneepoint {

enum class ParameterType { integer, real };

// One parameter as its controller declares it.
struct Parameter {
  std::string name;
  double fallback;
  Limits limits;
  std::string unit;
  std::string meaning;
  ParameterType type;
};

// A run's values of a controller's parameters.
//
// A controller's constructor reads each of its parameters once, and that reading is the
// declaration: constructed with no values it yields the defaults and leaves the list of all
// parameters behind. The caller has checked the values against that list.
class Parameters {
 public:
  using Values = std::map<std::string, double, std::less<>>;

  explicit Parameters(Values values = {}) : values_(std::move(values)) {}

  // The value of a parameter: the given one, or its default.
  double real(std::string name, double fallback, const Limits& limits, std::string unit,
              std::string meaning) {
    return read({std::move(name), fallback, limits, std::move(unit), std::move(meaning),
                 ParameterType::real});
  }
  double integer(std::string name, double fallback, const Limits& limits, std::string unit,
                 std::string meaning) {
    return read({std::move(name), fallback, limits, std::move(unit), std::move(meaning),
                 ParameterType::integer});
  }

  // A detail that a rule includes (1) or not (0).
  bool flag(std::string name, std::string meaning, bool fallback = false) {
    return integer(std::move(name), fallback, {.low = 0, .high = 1, .most = 1}, "0 or 1",
                   std::move(meaning)) != 0;
  }

  const std::vector<Parameter>& declared() const { return declared_; }

 private:
  double read(Parameter parameter) {
    const auto given = values_.find(parameter.name);
    const double value = given == values_.end() ? parameter.fallback : given->second;
    declared_.push_back(std::move(parameter));
    return value;
  }

  Values values_;
  std::vector<Parameter> declared_{};
};

}  // namespace kneepoint
