// The agenda of a run: its event queue in virtual time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

// The next events of many processes, in a tournament tree: a change costs at most the tree's
// height, and the next process is known at once. Among simultaneous events, the event with the
// lowest place is first.
class Tournament {
 public:
  explicit Tournament(size_t places)
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
      if (winner == winners_[node] and winner != place)
        return;  // the same winner, with an unchanged time
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

// The four processes that packets cross: both links, and both delays.
enum class ShellOf : size_t { uplink, downlink, uplink_delay, downlink_delay };

// The next events of a run. All packets cross the few shells: their events are searched one by one,
// so that a change is one store. Endpoints and their outboxes, of which there may be hundreds, are
// in tournament trees.
class Agenda {
 public:
  static constexpr size_t shells = 4;

  explicit Agenda(size_t endpoints)
      : endpoints_(endpoints), outbox_events_(endpoints), endpoint_events_(endpoints) {
    times_us_.fill(never);
  }
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  // The time of a shell's next event.
  Microseconds& of_shell(ShellOf shell) { return times_us_[1 + static_cast<size_t>(shell)]; }

  void plan_outbox(size_t endpoint, Microseconds time_us) {
    outbox_events_.plan(endpoint, time_us);
    times_us_.front() = outbox_events_.next_us();
  }
  void plan_endpoint(size_t endpoint, Microseconds time_us) {
    endpoint_events_.plan(endpoint, time_us);
    times_us_.back() = endpoint_events_.next_us();
  }

  // Among simultaneous events, the event with the first place is first: outboxes come before
  // shells, and shells before endpoints.
  struct Event {
    Microseconds time_us;
    size_t slot;  // 0: an outbox's, 1 to 4: a shell's, 5: an endpoint's
  };
  Event next() const {
    size_t first = 0;
    for (size_t i = 1; i < times_us_.size(); ++i) {
      first = times_us_[i] < times_us_[first] ? i : first;
    }
    return {times_us_[first], first};
  }
  size_t place_of(Event event) const {
    if (event.slot == 0) return outbox_events_.next();
    return endpoints_ + event.slot - 1 + (event.slot <= shells ? 0 : endpoint_events_.next());
  }

 private:
  size_t endpoints_;
  std::array<Microseconds, shells + 2> times_us_;
  Tournament outbox_events_;
  Tournament endpoint_events_;
};

}  // namespace kneepoint
