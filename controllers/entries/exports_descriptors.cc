// Descriptors, of which some are virtual, and signals.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdarg>

#include "entries/exports.hh"

using namespace kneepoint;

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
