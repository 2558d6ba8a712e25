// Numbers to text and back, independent of the locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kneepoint {

// The shortest text that reads back as the same double; "inf" for infinity.
std::string to_text(double value);

// Throw std::invalid_argument, naming `what`, unless the whole text is one finite number.
double to_real(std::string_view text, std::string_view what);
uint64_t to_whole(std::string_view text, std::string_view what);

std::vector<std::string> split(std::string_view text, char separator);

// The words of a command line: separated by blanks, double quotes hold a word together.
// Throws std::invalid_argument on an unclosed quote.
std::vector<std::string> split_words(std::string_view line);

}  // namespace kneepoint
