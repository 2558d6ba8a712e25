// How often each whole number was added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kneepoint {

// Exact counts, in memory that grows with the range of the numbers rather than with the additions:
// a byte for each number in the range, and no more than a few bytes for each addition. Numbers with
// the same leading bits share a page, which is a list until an array of counts is smaller, as in
// Roaring bitmaps (Chambi, Lemire, Kaser, Godin 2016).
class Counts {
 public:
  void add(uint64_t number);
  void clear() { *this = {}; }
  uint64_t total() const { return total_; }  // numbers added
  // Element `rank`, counted from 0, of the sorted numbers; `rank` must be below total().
  uint64_t element(uint64_t rank) const;

 private:
  struct Page {
    std::vector<uint16_t> list{};
    std::vector<uint8_t> counts{};
    uint64_t total = 0;
  };

 public:
  // Walks the distinct numbers in ascending order. Nothing may be added meanwhile.
  class Walk {
   public:
    explicit Walk(const Counts& all) : Walk(all, all.pages_.begin()) {}

    bool is_over() const { return page_ == all_.pages_.end(); }
    uint64_t number() const { return page_->first << page_bits | low_; }
    uint64_t count() const { return count_; }
    void advance();

   private:
    friend class Counts;
    using Place = std::map<uint64_t, Page>::const_iterator;

    Walk(const Counts& all, Place page) : all_(all), page_(page) { open_page(); }
    void open_page();
    void find();

    const Counts& all_;
    Place page_;
    std::vector<uint16_t> sorted_{};  // of a page that is a list
    size_t next_ = 0;                 // in that list, or in the counts
    uint64_t low_ = 0;
    uint64_t count_ = 0;
  };

 private:
  static constexpr int page_bits = 16;
  static constexpr size_t page_size = 1 << page_bits;
  static constexpr uint64_t carry = 256;  // at which a byte wraps around

  void count(uint64_t key, Page& page, uint16_t low);

  std::map<uint64_t, Page> pages_{};
  std::map<uint64_t, uint64_t> carried_{};  // by number: amounts lost when bytes wrapped around
  uint64_t total_ = 0;
};

}  // namespace kneepoint
