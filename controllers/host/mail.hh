// What packets say beyond their numbers, while they are on their way.
#pragma once

#include <cstdint>
#include <deque>
#include <stdexcept>

namespace kneepoint {

// Of one flow in one direction. Where ways keep a flow's order what was posted before one that
// arrives never will; where they do not it may, unless a million have overtaken it.
template <class Content>
class Mail {
 public:
  explicit Mail(bool keeps_order = true) : keeps_order_(keeps_order) {}

  void post(uint64_t number, const Content& content) { letters_.push_back({number, content}); }
  Content collect(uint64_t number) {
    const uint64_t most_late = keeps_order_ ? 0 : 1 << 20;
    while (letters_.front().number + most_late < number) letters_.pop_front();
    auto letter = letters_.begin();
    if (not keeps_order_) {  // among the last, and posted in any order
      letter = letters_.end();
      while (letter != letters_.begin() and (--letter)->number != number) continue;
    }
    if (letter->number != number) throw std::runtime_error("a million packets overtook another");
    const Content content = letter->content;
    letter->is_collected = true;
    while (not letters_.empty() and letters_.front().is_collected) letters_.pop_front();
    return content;
  }

 private:
  struct Letter {
    uint64_t number;
    Content content;
    bool is_collected = false;
  };
  bool keeps_order_;
  std::deque<Letter> letters_{};
};

}  // namespace kneepoint
