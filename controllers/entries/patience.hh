// How long an entry may keep its turn, and whose fault it is when it keeps it for too long.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace kneepoint {

// Judges by what is seen of the entry's process while the turn is the entry's. An honest entry
// never sleeps then: it computes. A process that sleeps at every look has called for it; one
// that is stopped, swapped out or waits for a processor has not, and its run can be repeated.
//
// Many short sleeps escape looks that are rare, so that looks become frequent once the emulator
// has waited for longer than most entries compute. Sleeps that are shorter still cost more CPU
// time than the limit allows before they become long in all. Within a turn looks become rare again:
// they would take the processor from an entry that computes, until the machine seems too busy.
class Patience {
 public:
  enum class Verdict { wait, sleeps, stopped, late };

  // `cpu_s`: what the entry may use, far more than an honest one needs.
  explicit Patience(uint64_t cpu_s) : cpu_s_(cpu_s) {}

  // The time until the first look in a turn.
  std::chrono::microseconds interval() const { return is_late_ ? frequent : rare; }
  // The time until the look that follows.
  static std::chrono::microseconds after(std::chrono::microseconds interval) {
    return std::min(2 * interval, rare);
  }

  // `waited_s`: for the entry, in the whole run.
  Verdict wait(double waited_s) {
    is_late_ = waited_s > static_cast<double>(std::min(cpu_s_, max_usual_s));
    return waited_s > static_cast<double>(max_s()) ? Verdict::late : Verdict::wait;
  }
  // `state`: of its process, a letter of proc(5).
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
