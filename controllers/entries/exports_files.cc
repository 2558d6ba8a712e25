// Files: an entry has none but its output, which is discarded. What it opens to write is discarded
// as well, because many students keep a log; what it opens to read does not exist.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "entries/exports.hh"

using namespace kneepoint;

namespace {

int open_file(int flags) {
  if ((flags & O_ACCMODE) == O_RDONLY) {
    errno = ENOENT;
    return -1;
  }
  return static_cast<int>(syscall(SYS_dup, STDIN_FILENO));
}

FILE* open_stream(const char* mode) {
  if (mode[0] == 'r') {
    errno = ENOENT;
    return nullptr;
  }
  const int descriptor = open_file(O_WRONLY);
  return descriptor < 0 ? nullptr : fdopen(descriptor, "w");
}

}  // namespace

KNEEPOINT_EXPORT int open(const char*, int flags, ...) { return open_file(flags); }
KNEEPOINT_EXPORT int open64(const char*, int flags, ...) { return open_file(flags); }
KNEEPOINT_EXPORT int openat(int, const char*, int flags, ...) { return open_file(flags); }
KNEEPOINT_EXPORT int openat64(int, const char*, int flags, ...) { return open_file(flags); }
KNEEPOINT_EXPORT int __open_2(const char*, int flags) { return open_file(flags); }
KNEEPOINT_EXPORT int __open64_2(const char*, int flags) { return open_file(flags); }
KNEEPOINT_EXPORT int creat(const char*, mode_t) { return open_file(O_WRONLY); }
KNEEPOINT_EXPORT FILE* fopen(const char*, const char* mode) { return open_stream(mode); }
KNEEPOINT_EXPORT FILE* fopen64(const char*, const char* mode) { return open_stream(mode); }

ssize_t kneepoint::read_file(int, void*, size_t) {
  errno = EBADF;
  return -1;
}
