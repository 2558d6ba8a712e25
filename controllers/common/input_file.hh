// Files that are read whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kneepoint {

// What tells that a file was replaced or written to.
struct FileState {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t changed_s = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileState&) const = default;
};

// The state of a file now; of one that cannot be looked at, that of none.
FileState state_of(const std::filesystem::path& path);

// The content of a regular file of at most `most_bytes`: a pipe would be waited for, and a device
// read, for ever. Throws std::invalid_argument, beginning with `what` and the path.
std::string read_file(const std::filesystem::path& path, const std::string& what,
                      uintmax_t most_bytes);

}  // namespace kneepoint
