// An entry's process, as the emulator sees it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "entries/page.hh"
#include "entries/settings.hh"

namespace kneepoint {

// While one lives, this process stays on the processor that it is on: a turn that wakes another
// processor takes several times as long.
class OneProcessor {
 public:
  OneProcessor();
  ~OneProcessor();
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;
};

class EntryChild {
 public:
  // Starts the program `entry`, which stands beside this one, on the entry. `is_trusted`: without
  // Landlock and seccomp. `cpu_s`: what it may use in all.
  // Throws std::invalid_argument for an object that is not there or has another digest,
  // MachineFault where no process can be started and confined.
  EntryChild(const EntrySettings& settings, bool is_trusted, uint64_t cpu_s);
  // Ends the process.
  ~EntryChild();
  EntryChild(const EntryChild&) = delete;
  EntryChild& operator=(const EntryChild&) = delete;

  EntryPage::Order& order() { return page_->order; }
  // As it writes this page, so it may while it is read: copy first, look afterwards.
  const EntryPage::Report& report() const { return page_->report; }

  // Gives the entry its turn, and returns when it gives it back. Throws ControllerFailure where it
  // ends or hangs.
  void take_turn();

 private:
  void start(const EntrySettings& settings, bool is_trusted);
  void check_alive();
  [[noreturn]] void explain(int status);
  std::string last_words();

  OneProcessor one_processor_{};
  uint64_t cpu_s_;
  EntryPage* page_ = nullptr;
  pid_t process_ = -1;
  int errors_ = -1;  // what it writes to stderr
  std::string said_{};
  uint64_t turns_ = 0;
  int idle_checks_ = 0;
  bool is_confined_ = false;  // and nothing of the entry has run before that
};

}  // namespace kneepoint
