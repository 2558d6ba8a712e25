// Who acts next in virtual time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

// The next event of each of a run's processes, in a tournament tree: a change costs at most the
// tree's height, and who is next is known at once. Of simultaneous events that of the lowest place
// is first.
class Agenda {
 public:
  explicit Agenda(size_t places)
      : leaves_(std::bit_ceil(places)), times_us_(leaves_, never), winners_(2 * leaves_) {
    for (size_t place = 0; place < leaves_; ++place) {
      winners_[leaves_ + place] = static_cast<uint32_t>(place);
    }
    for (size_t node = leaves_; --node > 0;) winners_[node] = winners_[2 * node];
  }

  void plan(size_t place, Microseconds time_us) {
    times_us_[place] = time_us;
    for (size_t node = (leaves_ + place) / 2; node > 0; node /= 2) {
      const uint32_t left = winners_[2 * node];
      const uint32_t right = winners_[2 * node + 1];
      const uint32_t winner = times_us_[right] < times_us_[left] ? right : left;
      if (winner == winners_[node] and winner != place) return;  // it won before, with this time
      winners_[node] = winner;
    }
  }

  size_t next() const { return winners_[1]; }
  Microseconds next_us() const { return times_us_[winners_[1]]; }

 private:
  size_t leaves_;
  std::vector<Microseconds> times_us_;
  std::vector<uint32_t> winners_;  // of the matches: the root is element 1
};

}  // namespace kneepoint
