// The end of a process that has used its CPU time.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "check.hh"
#include "entries/sandbox.hh"

namespace {

using namespace kneepoint;

template <class Work>
int exit_status_of(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    exit_at_cpu_limit();
    work();
    _exit(EXIT_SUCCESS);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(cpu_limit_ends_a_process_and_nobody_elses_signal) {
  EXPECT_EQUAL(exit_status_of([] { kill(getpid(), SIGXCPU); }), EXIT_SUCCESS);
  EXPECT_EQUAL(exit_status_of([] {
                 set_limits({.cpu_s = 1, .memory_mb = 1000, .file_mb = 0, .descriptors = 32});
                 while (true) getppid();
               }),
               exit_status_at_cpu_limit);
}

}  // namespace
