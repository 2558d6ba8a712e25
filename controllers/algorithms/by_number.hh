// What a rule remembers of each packet in flight, by its number.
#pragma once

#include <cstdint>
#include <vector>

namespace kneepoint {

template <class Record>
class ByNumber {
 public:
  // Of a packet that leaves.
  Record& at_new(uint64_t number) {
    if (number - first_ >= records_.size()) widen(number);
    return at(number);
  }
  // Of one that has left, and was not forgotten.
  Record& at(uint64_t number) { return records_[number & (records_.size() - 1)]; }
  // Of one that is acknowledged, and all before it.
  const Record& take(uint64_t number) {
    forget_before(number + 1);
    return at(number);
  }
  void forget_before(uint64_t number) { first_ = number; }
  // Of the first in flight.
  const Record& first() { return at(first_); }

 private:
  void widen(uint64_t number) {
    std::vector<Record> narrow(2 * records_.size());
    narrow.swap(records_);
    for (uint64_t each = first_; each < number; ++each) {
      at(each) = narrow[each & (narrow.size() - 1)];
    }
  }

  std::vector<Record> records_ = std::vector<Record>(64);  // a power of two of them
  uint64_t first_ = 0;
};

}  // namespace kneepoint
