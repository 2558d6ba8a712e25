// Where this program stands: what was built with it stands beside it.
#pragma once

#include <filesystem>
#include <system_error>

namespace kneepoint {

// The folder of the running program; empty if the kernel does not tell.
inline std::filesystem::path program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace kneepoint
