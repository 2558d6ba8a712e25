// A first-in first-out queue in one block of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace kneepoint {

// Items are contiguous. When they reach the end of their block they move to its beginning, or, if
// they fill a quarter of it, to a block of twice the size, which is never freed: once a run has
// seen its longest queue it allocates no more, and a batch of runs allocates only in its first
// runs. A ring buffer would need no moves, but more work for each item.
template <class Item>
class BlockQueue {
 public:
  bool empty() const { return first_ == end_; }
  size_t size() const { return static_cast<size_t>(end_ - first_); }
  const Item& front() const { return *first_; }
  const Item& back() const { return *(end_ - 1); }

  // A new last item, for the caller to fill: its content is unspecified.
  Item& push() {
    if (end_ == block_end_) [[unlikely]]
      make_room();
    return *end_++;
  }

  void push(const Item& item) { push() = item; }

  // Takes out the first item, which is valid until the next push.
  Item& pop() { return *first_++; }

 private:
  // Grows early enough that on average at most one item in three moves.
  [[gnu::noinline]] void make_room() {
    const size_t count = size();
    const bool grows = count > capacity_ / 4;
    if (grows) {
      auto larger = std::make_unique_for_overwrite<Item[]>(2 * capacity_);
      std::copy(first_, end_, larger.get());
      items_ = std::move(larger);
      capacity_ *= 2;
    } else {
      std::copy(first_, end_, items_.get());
    }
    first_ = items_.get();
    end_ = first_ + count;
    block_end_ = first_ + capacity_;
  }

  size_t capacity_ = 64;
  std::unique_ptr<Item[]> items_ = std::make_unique_for_overwrite<Item[]>(capacity_);
  Item* first_ = items_.get();
  Item* end_ = first_;
  Item* block_end_ = first_ + capacity_;
};

}  // namespace kneepoint
