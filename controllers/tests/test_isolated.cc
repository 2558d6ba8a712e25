// Work in a process of its own: what it does itself, and what is done to it.
#include <unistd.h>

#include <csignal>
#include <string>

#include "check.hh"
#include "common/system_call.hh"
#include "loader/isolated.hh"

namespace {

using namespace kneepoint;

// The signal comes from the work itself, as if from somebody else.
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

}  // namespace
