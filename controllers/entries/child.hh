// An entry in virtual time, as the emulator sees it.
#pragma once

#include <cstdint>
#include <string>

#include "entries/messages.hh"
#include "entries/patience.hh"
#include "entries/process.hh"
#include "entries/settings.hh"

namespace kneepoint {

// While one exists, this process stays on its processor: a turn that wakes another processor takes
// several times as long. While one of a confined entry exists, this thread cannot read the
// processor's cycle counter, as such entries cannot: a switch between processes of which only one
// can costs some virtual machines microseconds. Clocks are read by system calls then, not through
// the vDSO.
class CheapTurns {
 public:
  explicit CheapTurns(bool is_confined);
  ~CheapTurns();
  CheapTurns(const CheapTurns&) = delete;
  CheapTurns& operator=(const CheapTurns&) = delete;

 private:
  bool is_confined_;
};

class EntryChild {
 public:
  // Starts the program `entry`, which stands beside this one, or the interpreter, on the entry.
  // `cpu_s`: what it may use in all. Throws as EntryWorker does, and MachineFault where no process
  // can be started and confined.
  EntryChild(const EntrySettings& settings, bool is_trusted, uint64_t cpu_s);

  EntryMessages::Order& order() { return messages_.order; }
  // Whatever the entry says; no more departures than there are.
  const EntryMessages::Report& report() { return messages_.report; }

  // Gives the entry its order, and returns with its report. Throws ControllerFailure if it
  // ends or sleeps, MachineFault if it is ended or held up from outside.
  void take_turn();

 private:
  void await_report();
  bool look_after();  // whether it prints
  void judge(Patience::Verdict verdict);
  [[noreturn]] void give_up(const std::string& reason, bool is_a_fault);
  double waited_s() const;

  CheapTurns cheap_turns_;
  EntryWorker worker_;
  EntryMessages messages_{};
  Patience patience_;
  double start_s_;
  uint64_t turns_ = 0;
  bool is_confined_ = false;  // and nothing of the entry has run before that
};

}  // namespace kneepoint
