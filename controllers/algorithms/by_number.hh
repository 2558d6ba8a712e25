// A rule's records of the packets in flight, by sequence number.
#pragma once

#include <cstdint>
#include <vector>

namespace kneepoint {

template <class Record>
class ByNumber {
 public:
  // The record of a packet that is sent now.
  Record& at_new(uint64_t number) {
    if (number - first_ >= records_.size()) widen(number);
    return at(number);
  }
  // The record of a packet that was sent and not forgotten.
  Record& at(uint64_t number) { return records_[number & (records_.size() - 1)]; }
  // The record of an acknowledged packet; forgets this packet and all earlier packets.
  const Record& take(uint64_t number) {
    forget_before(number + 1);
    return at(number);
  }
  void forget_before(uint64_t number) { first_ = number; }
  // The record of the oldest packet in flight.
  const Record& first() { return at(first_); }

 private:
  void widen(uint64_t number) {
    std::vector<Record> narrow(2 * records_.size());
    narrow.swap(records_);
    for (uint64_t each = first_; each < number; ++each) {
      at(each) = narrow[each & (narrow.size() - 1)];
    }
  }

  std::vector<Record> records_ = std::vector<Record>(64);  // size: a power of two
  uint64_t first_ = 0;
};

}  // namespace kneepoint
