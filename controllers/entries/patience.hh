// How long an entry may keep its turn, and whose fault it is if it keeps its turn too long.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace kneepoint {

// Judges by the state of the entry's process during the entry's turn. An honest entry never sleeps
// during its turn: it computes. A process that sleeps at every look has asked to sleep; a process
// that is stopped, swapped out or waits for a processor has not, and its run can be repeated.
//
// Rare looks miss many short sleeps, so that looks become frequent once the emulator has waited for
// longer than most entries compute. Even shorter sleeps cannot add up to much time: each wake-up
// costs CPU time, which is limited. Within a turn looks become rare again: frequent looks would
// take the processor from an entry that computes, until the machine seems too busy.
class Patience {
 public:
  enum class Verdict { wait, sleeps, stopped, late };

  // `cpu_s`: the CPU time that the entry may use, far more than an honest entry needs.
  explicit Patience(uint64_t cpu_s) : cpu_s_(cpu_s) {}

  // The time until the first look in a turn.
  std::chrono::microseconds interval() const { return is_late_ ? frequent : rare; }
  // The time until the next look.
  static std::chrono::microseconds after(std::chrono::microseconds interval) {
    return std::min(2 * interval, rare);
  }

  // `waited_s`: the time spent waiting for the entry, in the whole run.
  Verdict wait(double waited_s) {
    is_late_ = waited_s > static_cast<double>(std::min(cpu_s_, max_usual_s));
    return waited_s > static_cast<double>(max_s()) ? Verdict::late : Verdict::wait;
  }
  // `state`: the state of its process, a letter of proc(5).
  Verdict look(char state, double waited_s) {
    if (state == 'S' and ++asleep_ >= max_looks) return Verdict::sleeps;
    if ((state == 'T' or state == 't') and ++stopped_ >= max_looks) return Verdict::stopped;
    return wait(waited_s);
  }

  uint64_t max_s() const { return 30 * cpu_s_; }

 private:
  static constexpr std::chrono::microseconds rare{20'000};
  static constexpr std::chrono::microseconds frequent{20};
  static constexpr int max_looks = 100;
  static constexpr uint64_t max_usual_s = 5;  // many times the computing time of an honest entry

  uint64_t cpu_s_;
  bool is_late_ = false;
  int asleep_ = 0;
  int stopped_ = 0;
};

}  // namespace kneepoint
