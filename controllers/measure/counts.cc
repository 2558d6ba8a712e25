#include "measure/counts.hh"

#include <algorithm>
#include <utility>

namespace kneepoint {

void Counts::add(uint64_t number) {
  const uint64_t key = number >> page_bits;
  const auto low = static_cast<uint16_t>(number);
  Page& page = pages_[key];
  ++total_;
  ++page.total;
  if (not page.counts.empty()) return count(key, page, low);
  page.list.push_back(low);
  if (page.list.size() * sizeof low < page_size) return;
  page.counts.resize(page_size);
  for (const uint16_t each : std::exchange(page.list, {})) count(key, page, each);
}

void Counts::count(uint64_t key, Page& page, uint16_t low) {
  if (++page.counts[low] == 0) carried_[key << page_bits | low] += carry;
}

uint64_t Counts::element(uint64_t rank) const {
  auto page = pages_.begin();
  uint64_t below = 0;
  for (; below + page->second.total <= rank; ++page) below += page->second.total;
  Walk walk(*this, page);
  while ((below += walk.count()) <= rank) walk.advance();
  return walk.number();
}

void Counts::Walk::advance() {
  find();
  if (count_ > 0) return;
  ++page_;
  open_page();
}

void Counts::Walk::open_page() {
  if (is_over()) return;
  sorted_ = page_->second.list;
  std::ranges::sort(sorted_);
  next_ = 0;
  find();
}

// Finds the next number of the page; the count is 0 if there is none.
void Counts::Walk::find() {
  count_ = 0;
  const std::vector<uint8_t>& counts = page_->second.counts;
  for (; next_ < sorted_.size() and (count_ == 0 or sorted_[next_] == low_); ++next_, ++count_) {
    low_ = sorted_[next_];
  }
  for (; next_ < counts.size() and count_ == 0; ++next_) {
    low_ = next_;
    count_ = counts[next_];
    const auto carried = all_.carried_.find(number());
    if (carried != all_.carried_.end()) count_ += carried->second;
  }
}

}  // namespace kneepoint
