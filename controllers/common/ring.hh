// A first-in first-out queue in one block of memory.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

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
    if (end_ == full_) [[unlikely]]
      grow();
    return at(end_++);
  }

  void push(const Item& item) { push() = item; }

  // The item taken out, to be used before the next push.
  Item& pop() {
    ++full_;
    return at(first_++);
  }

 private:
  Item& at(size_t position) { return items_[position & mask_]; }
  const Item& at(size_t position) const { return items_[position & mask_]; }

  [[gnu::noinline]] void grow() {
    const size_t count = size();
    auto larger = std::make_unique_for_overwrite<Item[]>(2 * count);
    for (size_t i = 0; i < count; ++i) larger[i] = at(first_ + i);
    items_ = std::move(larger);
    mask_ = 2 * count - 1;
    first_ = 0;
    end_ = count;
    full_ = 2 * count;
  }

  static constexpr size_t first_capacity_ = 64;  // a power of two, as all are

  std::unique_ptr<Item[]> items_ = std::make_unique_for_overwrite<Item[]>(first_capacity_);
  size_t mask_ = first_capacity_ - 1;
  size_t first_ = 0;
  size_t end_ = 0;
  size_t full_ = first_capacity_;  // an item at this position has no room
};

}  // namespace kneepoint
