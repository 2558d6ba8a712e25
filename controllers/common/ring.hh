// A first-in first-out queue in one block of memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace kneepoint {

// Doubles its block when it is full and never gives it back: once a run has seen its longest queue
// it allocates no more, and a batch of runs allocates only in its first ones.
template <class Item>
class Ring {
 public:
  bool empty() const { return first_ == end_; }
  size_t size() const { return end_ - first_; }
  const Item& front() const { return at(first_); }
  const Item& back() const { return at(end_ - 1); }

  // A new last item, for the caller to fill: its content is whatever was there before.
  Item& push() {
    if (size() == mask_ + 1) grow();
    return at(end_++);
  }

  void push(const Item& item) { push() = item; }

  // The item taken out, to be used before the next push.
  const Item& pop() { return at(first_++); }
  void clear() { first_ = end_ = 0; }

 private:
  Item& at(size_t position) { return items_[position & mask_]; }
  const Item& at(size_t position) const { return items_[position & mask_]; }

  void grow() {
    std::vector<Item> larger(2 * items_.size());
    const size_t count = size();
    for (size_t i = 0; i < count; ++i) larger[i] = at(first_ + i);
    items_ = std::move(larger);
    mask_ = items_.size() - 1;
    first_ = 0;
    end_ = count;
  }

  std::vector<Item> items_ = std::vector<Item>(64);  // a power of two of them
  size_t mask_ = items_.size() - 1;
  size_t first_ = 0;
  size_t end_ = 0;
};

}  // namespace kneepoint
