#include <sys/stat.h>

#include <system_error>

#include "common/input_file.hh"

namespace kneepoint {

FileState state_of(const std::filesystem::path& path) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return {};
  return {.device = file.st_dev,
          .inode = file.st_ino,
          .bytes = static_cast<uint64_t>(file.st_size),
          .changed_s = file.st_ctim.tv_sec,
          .changed_ns = file.st_ctim.tv_nsec};
}

std::filesystem::path program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace kneepoint
