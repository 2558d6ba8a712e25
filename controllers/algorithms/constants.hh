// The constants of a controller: declared and read in one place, its constructor.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace kneepoint {

enum class Scale { linear, log };
enum class ConstantType { integer, real };

// One constant as its controller declares it. [low, high] is the sensible search range;
// [least, most] is what the rule can bear at all.
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

// The values that a run gives to a controller's constants.
//
// A controller's constructor reads each of its constants once, and that reading is the declaration:
// constructed with no values it yields the defaults and leaves the list of all constants behind.
class Constants {
 public:
  using Values = std::map<std::string, double, std::less<>>;

  explicit Constants(Values values = {}) : values_(std::move(values)) {}

  // The value of a constant: the given one, or its default.
  // Throws std::invalid_argument when it lies outside [least, most] or, for an integer, is none.
  double real(Constant constant);
  double integer(Constant constant);

  // A detail that a rule has (1) or has not (0, the default).
  bool flag(const std::string& name, const std::string& meaning);

  const std::vector<Constant>& declared() const { return declared_; }

  // Throws std::invalid_argument when a value was given to a constant that nobody declared.
  void check_all_known(const std::string& controller) const;

 private:
  double read(Constant constant);

  Values values_;
  std::vector<Constant> declared_{};
};

}  // namespace kneepoint
