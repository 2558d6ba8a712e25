#include "entries/patience.hh"

namespace kneepoint {

Patience::Verdict Patience::wait(double waited_s) {
  is_late_ = waited_s > static_cast<double>(cpu_s_);
  return waited_s > static_cast<double>(most_s()) ? Verdict::late : Verdict::wait;
}

Patience::Verdict Patience::look(char state, double waited_s) {
  if (state == 'S' and ++asleep_ >= most_looks) return Verdict::sleeps;
  if ((state == 'T' or state == 't') and ++stopped_ >= most_looks) return Verdict::stopped;
  return wait(waited_s);
}

}  // namespace kneepoint
