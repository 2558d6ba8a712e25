// Processes that hang, and processes that only take long.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <string>

#include "apps/watchdog.hh"
#include "common/progress.hh"
#include "emulation/rig.hh"
#include "queues/registry.hh"
#include "tests/check.hh"
#include "tests/running.hh"

using namespace kneepoint;

namespace {

constexpr std::chrono::milliseconds limit{50};
constexpr int exit_hangs = 3;

double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// A window of 10; a call later than 500 ms never returns.
class Endless final : public Controller {
 public:
  explicit Endless(Parameters& parameters) : Controller(parameters, 1000) {}
  double window() const override { return 10; }
  void on_ack(const Ack& ack) override {
    for (volatile bool forever = ack.ack_received_ms > 500; forever;) {
    }
  }
};

class Patient final : public Controller {
 public:
  explicit Patient(Parameters& parameters) : Controller(parameters, 1000) {}
  double window() const override { return 10; }
};

template <class Rule>
void run_for(Milliseconds duration_ms) {
  const Trace trace("t", "1\n");
  Parameters parameters;
  Rule controller(parameters);
  Scenario scenario;
  scenario.duration_ms = duration_ms;
  test::run(trace, scenario, {test::handle_of(controller)});
}

struct Ending {
  int exit_status;
  std::string output;
};

// Runs in a separate process, which prints "returned" unless it ends earlier.
Ending in_child(const std::function<void()>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw test::Failure("pipe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    body();
    const bool written = write(STDOUT_FILENO, "returned", 8) == 8;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Ending ending{};
  char byte;
  while (read(ends[0], &byte, 1) == 1) ending.output += byte;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ending.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ending;
}

}  // namespace

TEST(a_controller_that_never_returns_fails) {
  const Ending ending = in_child([] {
    const Watchdog watchdog(limit, exit_hangs);
    run_for<Endless>(1000);
  });
  EXPECT_EQUAL(ending.exit_status, exit_hangs);
  EXPECT_EQUAL(ending.output,
               "{\"status\":\"failed\",\"reason\":\"hangs: the controller used 0.05 s of CPU "
               "time in one call\"}\n");
}

TEST(a_run_that_takes_long_is_not_blamed) {
  const Ending ending = in_child([] {
    const Watchdog watchdog(limit, exit_hangs);
    const double start_s = cpu_s();
    do {
      run_for<Patient>(10'000);
    } while (cpu_s() - start_s < 6 * std::chrono::duration<double>(limit).count());
  });
  EXPECT_EQUAL(ending.output, "returned");
}

// Between two datagrams the trace repeats millions of times.
TEST(a_link_that_is_idle_for_long_is_not_blamed) {
  const Ending ending = in_child([] {
    const Watchdog watchdog(limit, exit_hangs);
    const Trace trace("t", "1\n1\n1\n1\n1\n1\n1\n1\n");
    Link link(trace, Link::AtEnd::repeat, make_packet_queue("infinite", 0));
    link.enqueue({}, longest_run_ms / 10);
  });
  EXPECT_EQUAL(ending.output, "returned");
}

TEST(a_watchdog_watches_no_longer_than_it_lives) {
  const Ending ending = in_child([] {
    {
      const Watchdog watchdog(limit, exit_hangs);
    }
    const double start_s = cpu_s();
    while (cpu_s() - start_s < 3 * std::chrono::duration<double>(limit).count()) {
    }
  });
  EXPECT_EQUAL(ending.output, "returned");
}
