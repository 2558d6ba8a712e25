#include "algorithms/constants.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "network/text.hh"

namespace kneepoint {

double Constants::real(Constant constant) {
  constant.type = ConstantType::real;
  return read(std::move(constant));
}

double Constants::integer(Constant constant) {
  constant.type = ConstantType::integer;
  return read(std::move(constant));
}

bool Constants::flag(const std::string& name, const std::string& meaning) {
  return integer({.name = name,
                  .fallback = 0,
                  .low = 0,
                  .high = 1,
                  .most = 1,
                  .unit = "0 or 1",
                  .meaning = meaning}) != 0;
}

double Constants::read(Constant constant) {
  const auto given = values_.find(constant.name);
  const double value = given == values_.end() ? constant.fallback : given->second;
  if (not(value >= constant.least and value <= constant.most)) {
    throw std::invalid_argument("constant " + constant.name + " = " + to_text(value) +
                                " is outside [" + to_text(constant.least) + ", " +
                                to_text(constant.most) + "]");
  }
  if (constant.type == ConstantType::integer and value != std::floor(value)) {
    throw std::invalid_argument("constant " + constant.name + " = " + to_text(value) +
                                " must be a whole number");
  }
  declared_.push_back(std::move(constant));
  return value;
}

void Constants::check_all_known(const std::string& controller) const {
  for (const auto& [name, value] : values_) {
    const auto has_name = [&name = name](const Constant& constant) {
      return constant.name == name;
    };
    if (std::ranges::any_of(declared_, has_name)) continue;
    std::string known;
    for (const Constant& constant : declared_) {
      known += (known.empty() ? "" : ", ") + constant.name;
    }
    throw std::invalid_argument("controller " + controller + " has no constant " + name +
                                "; it has: " + known);
  }
}

}  // namespace kneepoint
