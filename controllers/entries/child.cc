#include "entries/child.hh"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "common/system_call.hh"
#include "loader/handle.hh"

namespace kneepoint {

namespace {

constexpr uint64_t turns_between_readings = 256;

// The time for which this process has not computed: the clock's time less its CPU time.
double idle_s() {
  const auto in_s = [](clockid_t clock) {
    timespec time{};
    syscall(SYS_clock_gettime, clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  return in_s(CLOCK_MONOTONIC) - in_s(CLOCK_PROCESS_CPUTIME_ID);
}

cpu_set_t processors_before;
int children = 0;
int confined_children = 0;

}  // namespace

CheapTurns::CheapTurns(bool is_confined) : is_confined_(is_confined) {
  if (is_confined and confined_children++ == 0) prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  if (children++ > 0) return;
  sched_getaffinity(0, sizeof processors_before, &processors_before);
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &here);
  sched_setaffinity(0, sizeof here, &here);
}

CheapTurns::~CheapTurns() {
  if (is_confined_ and --confined_children == 0) prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  if (--children == 0) sched_setaffinity(0, sizeof processors_before, &processors_before);
}

EntryChild::EntryChild(const EntrySettings& settings, bool is_trusted, uint64_t cpu_s)
    : cheap_turns_(not is_trusted),
      worker_(settings, {.is_trusted = is_trusted, .cpu_s = cpu_s}),
      patience_(cpu_s),
      start_s_(idle_s()) {
  await_report();
  is_confined_ = true;
}

void EntryChild::take_turn() {
  if (++turns_ % turns_between_readings == 0) {
    worker_.read_words();
    judge(patience_.wait(waited_s()));
  }
  if (not send_order(worker_.orders(), messages_.order)) {
    give_up("the sender reports more than was requested", false);
  }
  await_report();
}

void EntryChild::await_report() {
  bool is_printing = false;
  for (auto interval = patience_.interval(); not worker_.reports(interval, is_printing);
       interval = Patience::after(interval)) {
    is_printing = look_after();
  }
  take_report(worker_.report_pipe(), messages_.report);
}

bool EntryChild::look_after() {
  if (const auto end = worker_.end()) give_up(end->reason, end->is_a_fault);
  const char state = worker_.state();
  const auto printed = worker_.read_words();
  // The process may be asleep because it has just reported, or because its full pipe stopped its
  // output.
  if (worker_.reports({}, false)) return false;
  constexpr char awake = 'R';
  judge(patience_.look(printed == EntryWorker::Words::filled ? awake : state, waited_s()));
  return printed != EntryWorker::Words::none;
}

void EntryChild::judge(Patience::Verdict verdict) {
  switch (verdict) {
    case Patience::Verdict::wait:
      return;
    case Patience::Verdict::sleeps:
      give_up("the sender sleeps outside poll, where nothing wakes it", false);
    case Patience::Verdict::stopped:
      give_up("the sender's process was stopped", true);
    case Patience::Verdict::late:
      give_up("the sender has kept its run waiting for more than " +
                  std::to_string(patience_.max_s()) + " s: the machine is too busy",
              true);
  }
}

// A failure before the process is confined is the machine's fault: no code of the entry has run.
void EntryChild::give_up(const std::string& reason, bool is_a_fault) {
  if (not is_confined_) throw MachineFault("an entry cannot be started: " + reason);
  if (is_a_fault) throw MachineFault(reason);
  throw ControllerFailure(reason);
}

double EntryChild::waited_s() const { return idle_s() - start_s_; }

}  // namespace kneepoint
