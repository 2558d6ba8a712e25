// Files that other programs wrote, and the folder of this program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace kneepoint {

// The state by which a change of a file is detected.
struct FileState {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t changed_s = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileState&) const = default;
};

// The current state of a file; an inaccessible file counts as missing.
FileState state_of(const std::filesystem::path& path);

// Opens a regular file: reading a pipe would block, and reading a device would never end. Throws
// std::invalid_argument, beginning with `what` and the path.
std::ifstream open_file(const std::filesystem::path& path, const std::string& what);

// The content of a regular file of at most `max_bytes`; throws as `open_file`.
std::string read_file(const std::filesystem::path& path, const std::string& what,
                      uintmax_t max_bytes);

// The folder of the running program, which also holds the files built with it; empty if the kernel
// does not report it.
std::filesystem::path program_folder();

}  // namespace kneepoint
