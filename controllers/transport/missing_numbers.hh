// The datagrams below the next expected number that have not been acknowledged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace kneepoint {

class MissingNumbers {
 public:
  // Adds [begin, end), which lies above all earlier ranges.
  void skip(uint64_t begin, uint64_t end) {
    ranges_.push_back({begin, end});
    if (ranges_.size() > max_) ranges_.pop_front();
  }

  // Removes a number; returns whether it was missing.
  bool take(uint64_t number) {
    const auto after = std::ranges::upper_bound(ranges_, number, {}, &Range::begin);
    if (after == ranges_.begin()) return false;
    Range& range = *(after - 1);
    if (number >= range.end) return false;
    const Range rest{number + 1, range.end};
    range.end = number;
    if (rest.begin < rest.end) ranges_.insert(after, rest);
    return true;
  }

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
  };

  // Ranges beyond this number are forgotten: their datagrams count as lost, even if acknowledged
  // later.
  static constexpr size_t max_ = 1 << 14;
  std::deque<Range> ranges_{};
};

}  // namespace kneepoint
