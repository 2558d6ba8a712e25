// The options of a program, and options that several programs have.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "algorithms/parameters.hh"
#include "apps/program.hh"
#include "common/text.hh"
#include "common/time.hh"

namespace kneepoint {

struct Option {
  // Throws std::invalid_argument for a bad value.
  std::function<void(const std::string& value, const std::string& name)> take;
  bool has_value = true;
};
using Options = std::map<std::string, Option>;

// Takes the options among the words from place `first` on, and returns their names in the order of
// the words. Throws std::invalid_argument for an unknown option, or an option without its value;
// the program's --help lists the options.
std::vector<std::string> take_options(const Words& words, size_t first, const Options& options,
                                      const std::string& program);

// Options that store their value at a place, which must outlive the option and may be a
// std::optional.
Option flag_at(bool& place);
template <class Place>
Option text_at(Place& place) {
  return {[&place](const std::string& value, const std::string&) { place = value; }};
}
template <class Place>
Option whole_at(Place& place, uint64_t min = 0,
                uint64_t max = std::numeric_limits<uint64_t>::max()) {
  return {[&place, min, max](const std::string& value, const std::string& name) {
    place = to_whole(value, name, min, max);
  }};
}
template <class Place>
Option real_at(Place& place, double min, double max) {
  return {[&place, min, max](const std::string& value, const std::string& name) {
    place = to_real(value, name, min, max);
  }};
}
// A digest: 64 digits in lower-case hexadecimal.
Option sha256_at(std::string& place);
// The option --set, given once for each parameter: PARAMETER=NUMBER.
Option parameter_at(Parameters::Values& place);
// A duration in seconds, of at least 1 ms and at most a day, kept in milliseconds.
template <class Place>
Option duration_at(Place& place_ms) {
  return {[&place_ms](const std::string& value, const std::string& name) {
    place_ms = static_cast<Milliseconds>(to_real(value, name, 0.001, longest_run_s) * 1000 + 0.5);
  }};
}

// Adds PARAMETER=NUMBER. Throws std::invalid_argument if the text has another form, or if the
// parameter was given before.
void add_parameter(Parameters::Values& parameters, const std::string& text);

}  // namespace kneepoint
