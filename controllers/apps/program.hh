// Common parts of all programs: arguments, help, one-line errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kneepoint {

using Words = std::vector<std::string>;

inline constexpr int exit_bad_arguments = 2;

inline constexpr const char* out_of_memory = "out of memory; use a machine with more, or run less";

// Returns the result of `run` for the command line, for main to return. --help prints `usage`
// instead; an exception is printed in one line and gives exit_bad_arguments.
int run_program(int argc, const char* const argv[], const char* usage, int (*run)(const Words&));

// Writes a line to stdout at once. Programs that use this in place of std::cout are 150 kB smaller
// where the C++ library is linked statically.
void print_line(std::string_view line);

}  // namespace kneepoint
