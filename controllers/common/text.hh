// Numbers to text and back, independent of the locale.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kneepoint {

// The shortest text that reads back as the same double; "inf" for infinity.
std::string to_text(double value);

// The text in quotes for a message: invisible characters are escaped, a long text is cut.
std::string shown(std::string_view text);

// An untrusted text as one line of valid UTF-8 of at most 500 bytes; other bytes become question
// marks. Null is "".
std::string one_line(const char* text);

// Returns the texts with ", " between them.
std::string joined(const std::vector<std::string>& texts);

// Throw std::invalid_argument, naming `what`, unless the whole text is one finite number in [least,
// most].
double to_real(std::string_view text, std::string_view what,
               double min = std::numeric_limits<double>::lowest(),
               double max = std::numeric_limits<double>::max());
uint64_t to_whole(std::string_view text, std::string_view what, uint64_t min = 0,
                  uint64_t max = std::numeric_limits<uint64_t>::max());

std::vector<std::string> split(std::string_view text, char separator);

// The words of a command line: blanks separate them, double quotes hold a word together, and two
// double quotes inside a quoted word stand for one. Throws std::invalid_argument on an unclosed
// quote.
std::vector<std::string> split_words(std::string_view line);

}  // namespace kneepoint
