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

// The values of a controller's parameters in a run.
//
// A controller's constructor reads each of its parameters once, and this reading declares the
// parameter: a controller constructed without values has the defaults, and declared() then lists
// all parameters. The caller has checked the values against this list.
class Parameters {
 public:
  using Values = std::map<std::string, double, std::less<>>;

  explicit Parameters(Values values = {}) : values_(std::move(values)) {}

  // The given value of a parameter, or its default.
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

  // A switch for a detail of a rule: 1 includes the detail, 0 does not.
  bool flag(std::string name, std::string meaning, bool fallback = false) {
    return integer(std::move(name), fallback, {.low = 0, .high = 1, .max = 1}, "0 or 1",
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
