// An entry's own files, which it may read: they are opened before it is confined, and found by
// their names.
#pragma once

#include <string>

namespace kneepoint {

// Descriptors that only given files have: reading these is allowed.
constexpr unsigned first_given = 64;
constexpr unsigned given_descriptors = 64;
inline bool is_given(int descriptor) {
  return static_cast<unsigned>(descriptor) - first_given < given_descriptors;
}

// Opens a file several times, so that it can be read several times; returns false if it cannot be
// opened.
bool give_file(const std::string& name, const std::string& path);

// A descriptor at the beginning of the file with a path's name, whatever its folder; -1: there is
// none.
int open_given(const char* path);

}  // namespace kneepoint
