#include "apps/watchdog.hh"

#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "apps/runner.hh"
#include "common/progress.hh"
#include "common/system_call.hh"
#include "common/text.hh"

namespace kneepoint {

namespace {

constexpr int ticks_in_limit = 10;

// The state of the signal handler.
std::string last_words;
int status_of_exit = 0;
int ticks_without_progress = 0;
uint64_t last_progress = 0;

// Calls only async-signal-safe functions.
void tick(int) {
  const int saved_errno = errno;
  const uint64_t now = progress.load(std::memory_order_relaxed);
  ticks_without_progress = now == last_progress ? ticks_without_progress + 1 : 0;
  last_progress = now;
  if (ticks_without_progress >= ticks_in_limit) {
    [[maybe_unused]] const ssize_t written =
        write(STDOUT_FILENO, last_words.data(), last_words.size());
    _exit(status_of_exit);
  }
  errno = saved_errno;
}

void set_timer(std::chrono::microseconds interval) {
  constexpr int64_t second_us = 1'000'000;
  const timeval time{.tv_sec = interval.count() / second_us,
                     .tv_usec = static_cast<suseconds_t>(interval.count() % second_us)};
  const itimerval timer{.it_interval = time, .it_value = time};
  if (setitimer(ITIMER_PROF, &timer, nullptr) != 0) fail("setitimer");
}

}  // namespace

Watchdog::Watchdog(std::chrono::milliseconds limit, int exit_status) {
  const double limit_s = std::chrono::duration<double>(limit).count();
  last_words = describe_failure("failed", "hangs: the controller used " + to_text(limit_s) +
                                              " s of CPU time in one call") +
               "\n";
  status_of_exit = exit_status;
  ticks_without_progress = 0;
  last_progress = progress.load(std::memory_order_relaxed);
  struct sigaction action{};
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  set_timer(std::chrono::microseconds(limit) / ticks_in_limit);
}

Watchdog::~Watchdog() {
  const itimerval none{};
  setitimer(ITIMER_PROF, &none, nullptr);
}

}  // namespace kneepoint
