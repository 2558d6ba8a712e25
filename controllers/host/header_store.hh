// The headers of packets, without their numbers, while the packets are on their way.
#pragma once

#include <cstdint>
#include <deque>
#include <stdexcept>

namespace kneepoint {

// The headers of one flow in one direction. If links keep a flow's order, packets sent before an
// arriving packet are lost; otherwise they may still arrive, unless a million packets have
// overtaken them.
template <class Header>
class HeaderStore {
 public:
  explicit HeaderStore(bool keeps_order = true) : keeps_order_(keeps_order) {}

  void put(uint64_t number, const Header& header) { entries_.push_back({number, header}); }
  Header take(uint64_t number) {
    const uint64_t max_late = keeps_order_ ? 0 : 1 << 20;
    while (entries_.front().number + max_late < number) entries_.pop_front();
    auto entry = entries_.begin();
    if (not keeps_order_) {  // entries are in any order, and this entry is among the last
      entry = entries_.end();
      while (entry != entries_.begin() and (--entry)->number != number) continue;
    }
    if (entry->number != number) throw std::runtime_error("a million packets overtook another");
    const Header header = entry->header;
    entry->is_taken = true;
    while (not entries_.empty() and entries_.front().is_taken) entries_.pop_front();
    return header;
  }

 private:
  struct Entry {
    uint64_t number;
    Header header;
    bool is_taken = false;
  };
  bool keeps_order_;
  std::deque<Entry> entries_{};
};

}  // namespace kneepoint
