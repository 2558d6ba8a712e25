#include "apps/options.hh"

#include <stdexcept>

namespace kneepoint {

std::vector<std::string> take_options(const Words& words, size_t first, const Options& options,
                                      const std::string& program) {
  std::vector<std::string> taken;
  for (size_t i = first; i < words.size(); ++i) {
    const std::string& name = taken.emplace_back(words[i]);
    const auto found = options.find(name);
    if (found == options.end()) {
      throw std::invalid_argument("unknown option '" + name + "'; " + program +
                                  " --help lists them");
    }
    const auto& [take, has_value] = found->second;
    if (has_value and ++i == words.size()) throw std::invalid_argument(name + " needs a value");
    take(has_value ? words[i] : "", name);
  }
  return taken;
}

Option flag_at(bool& place) {
  return {[&place](const std::string&, const std::string&) { place = true; }, false};
}

Option sha256_at(std::string& place) {
  return {[&place](const std::string& value, const std::string& name) {
    if (value.size() != 64 or value.find_first_not_of("0123456789abcdef") != std::string::npos) {
      throw std::invalid_argument(name + " " + shown(value) + " is not 64 digits of 0-9 and a-f");
    }
    place = value;
  }};
}

Option parameter_at(Parameters::Values& place) {
  return {[&place](const std::string& value, const std::string&) { add_parameter(place, value); }};
}

void add_parameter(Parameters::Values& parameters, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw std::invalid_argument("--set " + text + " is not PARAMETER=VALUE");
  }
  const std::string name = text.substr(0, equals);
  if (not parameters.emplace(name, to_real(text.substr(equals + 1), "--set " + name)).second) {
    throw std::invalid_argument("--set " + name + " is given twice");
  }
}

}  // namespace kneepoint
