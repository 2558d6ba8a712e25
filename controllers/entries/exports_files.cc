// Files: an entry has none but its output, which is discarded. What it opens to write is discarded
// as well, for many a student keeps a log; what it opens to read is not there.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>

#include "entries/exports.hh"

using namespace kneepoint;

namespace {

int open_file(int flags) {
  if ((flags & O_ACCMODE) == O_RDONLY) {
    errno = ENOENT;
    return -1;
  }
  return static_cast<int>(syscall(SYS_dup, STDOUT_FILENO));
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

KNEEPOINT_EXPORT int close(int descriptor) {
  if (is_virtual(descriptor)) return close_virtual(descriptor);
  return static_cast<int>(syscall(SYS_close, descriptor));
}

KNEEPOINT_EXPORT int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const int argument = va_arg(arguments, int);
  va_end(arguments);
  if (is_virtual(descriptor)) return control_virtual(descriptor, command, argument);
  return static_cast<int>(syscall(SYS_fcntl, descriptor, command, argument));
}

KNEEPOINT_EXPORT int fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const int argument = va_arg(arguments, int);
  va_end(arguments);
  return fcntl(descriptor, command, argument);
}

// No signal comes but those that end the process.
KNEEPOINT_EXPORT int sigaction(int, const struct sigaction*, struct sigaction* previous) noexcept {
  if (previous != nullptr) *previous = {};
  return 0;
}

KNEEPOINT_EXPORT sighandler_t signal(int, sighandler_t) noexcept { return SIG_DFL; }
