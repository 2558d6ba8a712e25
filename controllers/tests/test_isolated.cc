// Work in a separate process: its own failures, and signals from other processes.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

#include "check.hh"
#include "common/system_call.hh"
#include "loader/isolated.hh"

namespace {

using namespace kneepoint;

// The work sends itself the signal, which stands for a signal from another process.
bool is_a_fault(int number) {
  try {
    run_isolated("work", [number]() -> std::string {
      kill(getpid(), number);
      return "";
    });
  } catch (const MachineFault&) {
    return true;
  } catch (const std::exception&) {
  }
  return false;
}

TEST(isolated_work_that_is_killed_is_a_fault) {
  EXPECT_EQUAL(is_a_fault(SIGKILL), true);
  EXPECT_EQUAL(is_a_fault(SIGTERM), true);
  EXPECT_EQUAL(is_a_fault(SIGXCPU), true);
  EXPECT_EQUAL(is_a_fault(SIGSEGV), false);
}

// Stops itself, as if another process had stopped it, and continues after 300 ms.
std::string stand_still() {
  const pid_t me = getpid();
  if (fork() == 0) {
    usleep(300'000);
    kill(me, SIGCONT);
    _exit(EXIT_SUCCESS);
  }
  raise(SIGSTOP);
  return "went on";
}

TEST(isolated_work_may_take_long_but_not_sleep) {
  constexpr std::chrono::milliseconds asleep{100};
  EXPECT_EQUAL(run_isolated("work", stand_still, asleep), "went on");
  const auto sleep = [] { return std::to_string(pause()); };
  test::expect_refused([&] { run_isolated("work", sleep, asleep); }, "work hangs");
}

}  // namespace
