// Threads, which virtual time lacks: nothing determines which of two runs first.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "entries/exports.hh"

KNEEPOINT_EXPORT int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                                    void*) noexcept {
  constexpr std::string_view words = "this sender starts threads, which virtual time lacks\n";
  syscall(SYS_write, STDERR_FILENO, words.data(), words.size());
  syscall(SYS_exit_group, EXIT_FAILURE);
  return 0;
}
