// What packets say beyond their numbers, while they are on their way.
#pragma once

#include <cstdint>
#include <deque>

namespace kneepoint {

// Of one flow in one direction. Ways keep a flow's order: what was posted before one that arrives
// never will.
template <class Content>
class Mail {
 public:
  void post(uint64_t number, const Content& content) { letters_.push_back({number, content}); }
  Content collect(uint64_t number) {
    while (letters_.front().number != number) letters_.pop_front();
    const Content content = letters_.front().content;
    letters_.pop_front();
    return content;
  }

 private:
  struct Letter {
    uint64_t number;
    Content content;
  };
  std::deque<Letter> letters_{};
};

}  // namespace kneepoint
