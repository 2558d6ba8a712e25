// An entry in virtual time, as the emulator sees it.
#pragma once

#include <cstdint>
#include <string>

#include "entries/messages.hh"
#include "entries/patience.hh"
#include "entries/process.hh"
#include "entries/settings.hh"

namespace kneepoint {

// While such an object exists, this process stays on its processor: a turn that wakes another
// processor takes several times as long. While the object of a confined entry exists, this thread
// cannot read the processor's cycle counter, just as confined entries cannot: where only one of two
// processes can read it, a switch between them costs some virtual machines microseconds. Clocks are
// then read by system calls, not through the vDSO.
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
  // Starts the program `entry` in this program's folder, or the interpreter, with the entry.
  // `cpu_s`: the CPU time that it may use in all. Throws as EntryWorker does, and MachineFault if
  // no process can be started and confined.
  EntryChild(const EntrySettings& settings, bool is_trusted, uint64_t cpu_s);

  EntryMessages::Order& order() { return messages_.order; }
  // The entry's report, which may say anything, but has no more departures than were received.
  const EntryMessages::Report& report() { return messages_.report; }

  // Gives the entry its order, and returns with its report. Throws ControllerFailure if the entry
  // ends or sleeps, MachineFault if it is ended or delayed from outside.
  void take_turn();

 private:
  void await_report();
  bool look_after();  // returns whether the entry prints
  void judge(Patience::Verdict verdict);
  [[noreturn]] void give_up(const std::string& reason, bool is_a_fault);
  double waited_s() const;

  CheapTurns cheap_turns_;
  EntryWorker worker_;
  EntryMessages messages_{};
  Patience patience_;
  double start_s_;
  uint64_t turns_ = 0;
  bool is_confined_ = false;  // before that, no code of the entry runs
};

}  // namespace kneepoint
