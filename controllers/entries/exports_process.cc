// The process itself: its number, its signals, its threads.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "entries/exports.hh"

// The processes of all entries have the same numbers.
KNEEPOINT_EXPORT pid_t getpid() noexcept { return 1; }
KNEEPOINT_EXPORT pid_t gettid() noexcept { return 1; }
KNEEPOINT_EXPORT pid_t getppid() noexcept { return 0; }

// No signals come except signals that end the process.
KNEEPOINT_EXPORT int sigaction(int, const struct sigaction*, struct sigaction* previous) noexcept {
  if (previous != nullptr) *previous = {};
  return 0;
}
KNEEPOINT_EXPORT sighandler_t signal(int, sighandler_t) noexcept { return SIG_DFL; }

// Virtual time has no threads: nothing determines which of two runs first.
KNEEPOINT_EXPORT int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                                    void*) noexcept {
  constexpr std::string_view words =
      "this sender starts threads, which virtual time lacks (std::thread, std::async, "
      "pthread_create, threading.Thread): do their work in the loop that sends\n";
  syscall(SYS_write, STDERR_FILENO, words.data(), words.size());
  syscall(SYS_exit_group, EXIT_FAILURE);
  return 0;
}
