// Files that are read whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kneepoint {

// The content of a regular file of at most `most_bytes`: a pipe would be waited for, and a device
// read, for ever. Throws std::invalid_argument, beginning with `what` and the path.
std::string read_file(const std::filesystem::path& path, const std::string& what,
                      uintmax_t most_bytes);

}  // namespace kneepoint
