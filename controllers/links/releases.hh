// Packets whose release times are known in advance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "transport/packet.hh"

namespace kneepoint {

// They lie one behind the other, as in a BlockQueue, in the order of their arrivals and of their
// releases. Behind the last one there is always one that never arrives and never goes on, so that
// nobody need ask whether there are any.
//
// Packets may be pushed before their arrival: it has yet to be seen.
class Releases {
 public:
  Releases() { end_with_nobody(); }

  // Returns the packet as it waits.
  [[gnu::always_inline]] Packet& push(const Packet& packet, Microseconds arrival_us,
                                      Microseconds release_us) {
    Item& item = *end_;
    item.packet = packet;
    item.packet.queued_us = arrival_us;
    item.release_us = release_us;
    if (++end_ == block_end_) [[unlikely]]
      make_room();
    end_with_nobody();
    return (end_ - 1)->packet;
  }

  // When the next one goes on; beyond_us without any.
  Microseconds next_us() const { return first_->release_us; }

  // Passes all up to and including now, whose arrivals have been seen, to deliver(packet), in
  // order.
  template <class Deliver>
  [[gnu::always_inline]] void release(Microseconds now_us, const Deliver& deliver) {
    while (first_->release_us <= now_us) deliver((first_++)->packet);
  }

  // The first arrival that has not been seen; beyond_us, if all have.
  Microseconds next_arrival_us() const { return unseen_->packet.queued_us; }
  void see_arrival() { ++unseen_; }
  // Sees all before `until_us`, and returns when the last of them was; without any, `otherwise`.
  Microseconds see_until(Microseconds until_us, Microseconds otherwise) {
    Item* item = unseen_;
    while (item->packet.queued_us < until_us) otherwise = (item++)->packet.queued_us;
    unseen_ = item;
    return otherwise;
  }

  // Without packets: the next one is not known yet, but when it goes on is; beyond_us: none does.
  void expect(Microseconds release_us) { first_->release_us = release_us; }

 private:
  struct Item {
    Packet packet{};  // queued_us: its arrival
    Microseconds release_us = 0;
  };

  void end_with_nobody() {
    end_->packet.queued_us = beyond_us;
    end_->release_us = beyond_us;
  }

  [[gnu::noinline]] void make_room() {
    const auto count = end_ - first_;
    const auto unseen = end_ - unseen_;
    if (static_cast<size_t>(count) > capacity_ / 4 * 3) {
      capacity_ *= 2;
      auto larger = std::make_unique_for_overwrite<Item[]>(capacity_);
      std::copy(first_, end_, larger.get());
      items_ = std::move(larger);
    } else {
      std::copy(first_, end_, items_.get());
    }
    first_ = items_.get();
    end_ = first_ + count;
    unseen_ = end_ - unseen;
    block_end_ = first_ + capacity_;
  }

  size_t capacity_ = 256;
  std::unique_ptr<Item[]> items_ = std::make_unique<Item[]>(capacity_);
  Item* first_ = items_.get();
  Item* unseen_ = first_;
  Item* end_ = first_;
  Item* block_end_ = first_ + capacity_;
};

}  // namespace kneepoint
