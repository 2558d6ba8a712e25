// keep_awake: keeps the host's processors from idling while it runs in real time.
//
// An idle processor is slow to wake up: the host of a virtual machine reassigns an idle virtual
// processor, which then returns milliseconds later. Work of the class SCHED_IDLE keeps the
// processor, and yields at once to all other work.
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "apps/program.hh"
#include "common/system_call.hh"
#include "realtime/stop_signal.hh"

namespace {

using namespace kneepoint;

const char* const usage =
    R"(usage: keep_awake LOCK [--end-with-parent]

Keeps every processor that it may use from idling, below all other work, until SIGHUP, SIGINT
or SIGTERM ends it. One process does so per file LOCK; others wait to take over.
)";

// Waits for an exclusive lock, which ends with this process; false if a stop was requested first.
bool take_lock(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) fail(path);
  while (not stop_requested()) {
    if (flock(file, LOCK_EX) == 0) return true;
    if (errno != EINTR) fail(path);
  }
  return false;
}

std::vector<int> usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) fail("sched_getaffinity");
  std::vector<int> processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &set)) processors.push_back(processor);
  }
  return processors;
}

void bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

// For this thread and its children.
void give_way_to_everything() {
  const sched_param none{};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) fail("SCHED_IDLE");
}

void keep_awake(int processor) {
  bind_to(processor);
  // No pause instruction, for which a host may reassign the processor.
  while (not stop_requested()) {
  }
}

int run(const Words& words) {
  const bool ends_with_parent = words.size() == 2 and words[1] == "--end-with-parent";
  if (words.empty() or words.size() > 2 or (words.size() == 2 and not ends_with_parent)) {
    throw std::invalid_argument("LOCK alone, or with --end-with-parent; keep_awake --help");
  }
  if (ends_with_parent) stop_with_parent();
  catch_stop_signals();
  give_way_to_everything();
  if (not take_lock(words[0])) return EXIT_SUCCESS;
  std::vector<std::thread> threads;
  for (const int processor : usable_processors()) threads.emplace_back(keep_awake, processor);
  for (std::thread& thread : threads) thread.join();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
