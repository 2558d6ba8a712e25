// Options that several programs have.
#pragma once

#include <string>

#include "algorithms/constants.hh"
#include "common/time.hh"

namespace kneepoint {

// Adds the value of --set. Throws std::invalid_argument unless it is CONSTANT=NUMBER, given once.
void add_constant(Constants::Values& constants, const std::string& text);

// The value of --duration-s: at least 1 ms, at most a day. Throws std::invalid_argument.
Milliseconds to_duration_ms(const std::string& text);

// The value of an option that is a SHA-256. Throws std::invalid_argument, naming the option.
std::string to_sha256(const std::string& text, const std::string& option);

}  // namespace kneepoint
