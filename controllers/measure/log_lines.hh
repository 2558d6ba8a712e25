// The lines of a log of any length, in constant memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <istream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kneepoint {

// The words of an event, between single blanks.
struct EventWords {
  explicit EventWords(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (count < words.size()) {
      const size_t end = line.find(' ');
      words[count++] = line.substr(0, end);
      if (end == std::string_view::npos) return;
      line.remove_prefix(end + 1);
    }
    throw std::invalid_argument("is no event");
  }

  std::string_view operator[](size_t place) const { return words[place]; }

  std::array<std::string_view, 8> words{};
  size_t count = 0;
};

// Copies the next bytes, at most `most`, to `place`; returns the number of copied bytes.
using ReadBytes = std::function<size_t(char* place, size_t max)>;

inline ReadBytes bytes_of(std::istream& stream) {
  return [&stream](char* place, size_t max) {
    stream.read(place, static_cast<std::streamsize>(max));
    return static_cast<size_t>(stream.gcount());
  };
}
inline ReadBytes bytes_of(std::string_view text) {
  return [text](char* place, size_t max) mutable {
    const size_t bytes = text.copy(place, max);
    text.remove_prefix(bytes);
    return bytes;
  };
}

// Passes each line, without its line end, to `take`; returns whether text follows the last line
// end. Throws std::invalid_argument, naming `name` and the line, if `take` throws
// std::invalid_argument.
template <class Take>
bool read_lines(const std::string& name, const ReadBytes& read_bytes, Take take) {
  std::string block(256 * 1024, '\0');
  size_t held = 0;  // the beginning of a line
  size_t number = 1;
  try {
    while (true) {
      const size_t bytes = read_bytes(block.data() + held, block.size() - held);
      if (bytes == 0) return held > 0;
      const char* start = block.data();
      const char* const end = start + held + bytes;
      while (const void* const found = std::memchr(start, '\n', static_cast<size_t>(end - start))) {
        const char* const line_end = static_cast<const char*>(found);
        take(std::string_view(start, static_cast<size_t>(line_end - start)));
        start = line_end + 1;
        ++number;
      }
      held = static_cast<size_t>(end - start);
      if (held == block.size()) throw std::invalid_argument("is too long for an event");
      std::memmove(block.data(), start, held);
    }
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("log " + name + ", line " + std::to_string(number) + ": " +
                                error.what() + "; is it a whole log of mahimahi?");
  }
}

}  // namespace kneepoint
