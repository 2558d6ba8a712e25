#include "entries/child.hh"

#include <sched.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "common/machine_fault.hh"
#include "common/program_folder.hh"
#include "loader/handle.hh"

namespace kneepoint {

namespace {

constexpr int check_ms = 20;
constexpr int most_idle_checks = 100;
constexpr uint64_t turns_between_readings = 256;

EntryCommand command(const EntrySettings& settings, bool is_trusted, uint64_t cpu_s) {
  check_entry(settings, is_trusted);
  std::vector<std::string> words =
      words_for_entry(settings, is_trusted, cpu_s, "100.64.0.2", "9090");
  if (settings.is_python())
    return python_command(settings, is_trusted, "python_entry.so", std::move(words));
  words.insert(words.begin(), "entry");
  return {program_folder() / "entry", std::move(words), {}, is_trusted};
}

cpu_set_t processors_before;
int children = 0;

}  // namespace

OneProcessor::OneProcessor() {
  if (children++ > 0) return;
  sched_getaffinity(0, sizeof processors_before, &processors_before);
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &here);
  sched_setaffinity(0, sizeof here, &here);
}

OneProcessor::~OneProcessor() {
  if (--children == 0) sched_setaffinity(0, sizeof processors_before, &processors_before);
}

EntryChild::EntryChild(const EntrySettings& settings, bool is_trusted, uint64_t cpu_s)
    : cpu_s_(cpu_s), worker_(command(settings, is_trusted, cpu_s)) {
  take_turn();
  is_confined_ = true;
}

void EntryChild::take_turn() {
  if (++turns_ % turns_between_readings == 0) worker_.last_words();
  EntryPage& page = worker_.page();
  give_turn(page, EntryPage::entrys);
  idle_checks_ = 0;
  while (not await_turn(page, EntryPage::emulators, check_ms)) check_alive();
}

void EntryChild::check_alive() {
  if (const auto reason = worker_.end(cpu_s_)) {
    if (is_confined_) throw ControllerFailure(*reason);
    throw MachineFault("an entry cannot be started: " + *reason);
  }
  idle_checks_ = worker_.is_asleep() ? idle_checks_ + 1 : 0;
  if (idle_checks_ < most_idle_checks) return;
  throw ControllerFailure("the sender blocks forever: it sleeps outside poll");
}

}  // namespace kneepoint
