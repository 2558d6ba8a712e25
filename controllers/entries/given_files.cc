#include "entries/given_files.hh"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace kneepoint {

namespace {

constexpr unsigned copies = 4;

struct Given {
  std::string name;
  int first;
  unsigned taken = 0;
};

std::vector<Given> files;

}  // namespace

bool give_file(const std::string& name, const std::string& path) {
  const int first = static_cast<int>(first_given + copies * files.size());
  if (not is_given(first + static_cast<int>(copies) - 1)) return false;
  for (unsigned i = 0; i < copies; ++i) {
    const long opened = syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) return false;
    const long moved = syscall(SYS_dup3, opened, first + static_cast<int>(i), O_CLOEXEC);
    syscall(SYS_close, opened);
    if (moved < 0) return false;
  }
  files.push_back({name, first});
  return true;
}

int open_given(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  const std::string_view name = slash == nullptr ? path : slash + 1;
  for (Given& file : files) {
    if (file.name != name) continue;
    // Copies are used in turn; a copy that the entry has closed is gone.
    for (unsigned i = 0; i < copies; ++i) {
      const int descriptor = file.first + static_cast<int>(file.taken++ % copies);
      if (syscall(SYS_lseek, descriptor, 0, SEEK_SET) == 0) return descriptor;
    }
  }
  return -1;
}

}  // namespace kneepoint
