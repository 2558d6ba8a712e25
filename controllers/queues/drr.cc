// Deficit round robin over flows, or over classes of flows (Shreedhar, Varghese: Efficient fair
// queueing using deficit round robin, SIGCOMM 1995). Either all share one buffer, which drops from
// the longest queue when it is full, as in the paper; or each class has a droptail buffer of its
// own, as the classes of Linux's HTB with a pfifo each.
#include <algorithm>
#include <deque>
#include <map>

#include "queues/registry.hh"

namespace kneepoint {
namespace {

class DrrQueue final : public PacketQueue {
 public:
  DrrQueue(const Notation& given, uint64_t)
      : limit_(given),
        is_per_class_(given["per_class"] != 0),
        quantum_bytes_(static_cast<uint64_t>(given["quantum"])),
        classes_(static_cast<size_t>(given.value_or("classes", 0))) {}

  size_t classes() const override { return classes_; }
  void classify(const std::vector<uint16_t>& class_of_flow) override {
    class_of_flow_ = class_of_flow;
  }

  void enqueue(const Packet& packet, Microseconds now_us) override {
    const uint16_t number = classes_ == 0 ? packet.flow : class_of_flow_[packet.flow];
    Share& share = shares_[number];
    if (is_per_class_ and
        limit_.is_exceeded_by(share.fifo.packets() + 1, share.fifo.bytes() + packet.bytes)) {
      return drop(packet);
    }
    if (share.fifo.empty()) {
      share.deficit_bytes = 0;
      active_.push_back(number);
      if (active_.size() == 1) is_new_turn_ = true;
    }
    push(share.fifo, packet, now_us);
    if (is_per_class_) return;
    while (limit_.is_exceeded_by(packets(), bytes())) drop_from_longest();
  }

  const Packet* dequeue(Microseconds) override {
    if (active_.empty()) return nullptr;
    while (true) {
      Share& share = shares_[active_.front()];
      if (is_new_turn_) share.deficit_bytes += quantum_bytes_;
      is_new_turn_ = share.deficit_bytes < share.fifo.front().bytes;
      if (is_new_turn_) {
        active_.push_back(active_.front());
        active_.pop_front();
        continue;
      }
      const Packet& packet = pop(share.fifo);
      share.deficit_bytes -= packet.bytes;
      if (share.fifo.empty()) {
        active_.pop_front();
        is_new_turn_ = true;
      }
      return &packet;
    }
  }

  Microseconds oldest_us() const override {
    Microseconds oldest_us = never;
    for (const auto& [number, share] : shares_) {
      oldest_us = std::min(oldest_us, share.fifo.oldest_us());
    }
    return oldest_us;
  }

 private:
  struct Share {
    Fifo fifo{};
    uint64_t deficit_bytes = 0;
  };

  void drop_from_longest() {
    const auto longest = std::ranges::max_element(
        active_, {}, [this](uint16_t number) { return shares_[number].fifo.bytes(); });
    Share& share = shares_[*longest];
    drop(pop(share.fifo));
    if (not share.fifo.empty()) return;
    if (longest == active_.begin()) is_new_turn_ = true;
    active_.erase(longest);
  }

  Limit limit_;  // of each class, or of all
  bool is_per_class_;
  uint64_t quantum_bytes_;
  size_t classes_;  // 0: each flow is a class of its own
  std::vector<uint16_t> class_of_flow_{};
  std::map<uint16_t, Share> shares_{};
  std::deque<uint16_t> active_{};  // with packets, in the order of their turns
  bool is_new_turn_ = true;        // of the first active flow
};

const Queues::Registration<DrrQueue> registration{
    "drr",
    {"deficit round robin over flows or over classes of flows",
     {quantum(datagram_bytes),
      {"classes", NotationType::whole, 1, 1000, std::nullopt, "classes",
       "number of classes that flows name"},
      flag("per_class", false, "the bound applies to each class or flow"),
      packets,
      bytes},
     true}};

}  // namespace
}  // namespace kneepoint
