#include <mach-o/dyld.h>
#include <sys/stat.h>

#include <string>
#include <system_error>

#include "common/input_file.hh"

namespace kneepoint {

FileState state_of(const std::filesystem::path& path) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return {};
  return {.device = static_cast<uint64_t>(file.st_dev),
          .inode = file.st_ino,
          .bytes = static_cast<uint64_t>(file.st_size),
          .changed_s = file.st_ctimespec.tv_sec,
          .changed_ns = file.st_ctimespec.tv_nsec};
}

std::filesystem::path program_folder() {
  uint32_t bytes = 0;
  _NSGetExecutablePath(nullptr, &bytes);  // returns the necessary size
  std::string path(bytes, '\0');
  _NSGetExecutablePath(path.data(), &bytes);
  std::error_code error;
  return std::filesystem::canonical(path.c_str(), error).parent_path();
}

}  // namespace kneepoint
