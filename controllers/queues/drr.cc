// Deficit round robin over flows, or over classes of flows (Shreedhar, Varghese: Efficient fair
// queueing using deficit round robin, SIGCOMM 1995). Either all share one buffer, with their rule
// for a full one: drop from the longest queue. Or each class has a drop-tail buffer of its own, as
// the classes of Linux's HTB with a pfifo each.
#include <algorithm>
#include <deque>
#include <map>

#include "common/block_queue.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

struct Share {
  BlockQueue<Packet> packets{};
  uint64_t bytes = 0;
  uint64_t deficit_bytes = 0;
};

class DrrQueue final : public PacketQueue {
 public:
  // With 0 classes each flow is one of its own. The limit is that of each class, or of all.
  DrrQueue(Limit limit, bool is_per_class, uint64_t quantum_bytes, size_t classes)
      : limit_(limit),
        is_per_class_(is_per_class),
        quantum_bytes_(quantum_bytes),
        classes_(classes) {}

  size_t classes() const override { return classes_; }
  void classify(const std::vector<uint16_t>& class_of_flow) override {
    class_of_flow_ = class_of_flow;
  }

  void enqueue(const Packet& packet, Microseconds now_us) override {
    const uint16_t number = classes_ == 0 ? packet.flow : class_of_flow_[packet.flow];
    Share& share = shares_[number];
    if (is_per_class_ and is_full_for(share, packet)) return drop(packet);
    if (share.packets.empty()) {
      share.deficit_bytes = 0;
      active_.push_back(number);
      if (active_.size() == 1) is_new_turn_ = true;
    }
    Packet& queued = share.packets.push();
    queued = packet;
    queued.queued_us = now_us;
    share.bytes += packet.bytes;
    count_in(packet);
    if (is_per_class_) return;
    while (packets() > limit_.packets or bytes() > limit_.bytes) drop_from_longest();
  }

  const Packet* dequeue(Microseconds) override {
    if (active_.empty()) return nullptr;
    while (true) {
      Share& share = shares_[active_.front()];
      if (is_new_turn_) share.deficit_bytes += quantum_bytes_;
      is_new_turn_ = share.deficit_bytes < share.packets.front().bytes;
      if (is_new_turn_) {
        active_.push_back(active_.front());
        active_.pop_front();
        continue;
      }
      const Packet& packet = take(share);
      share.deficit_bytes -= packet.bytes;
      if (share.packets.empty()) {
        active_.pop_front();
        is_new_turn_ = true;
      }
      return &packet;
    }
  }

 private:
  bool is_full_for(const Share& share, const Packet& packet) const {
    return share.packets.size() >= limit_.packets or share.bytes + packet.bytes > limit_.bytes;
  }

  const Packet& take(Share& share) {
    const Packet& packet = share.packets.pop();
    share.bytes -= packet.bytes;
    count_out(packet);
    return packet;
  }

  void drop_from_longest() {
    const auto longest = std::ranges::max_element(
        active_, {}, [this](uint16_t number) { return shares_[number].bytes; });
    Share& share = shares_[*longest];
    drop(take(share));
    if (not share.packets.empty()) return;
    if (longest == active_.begin()) is_new_turn_ = true;
    active_.erase(longest);
  }

  Limit limit_;
  bool is_per_class_;
  uint64_t quantum_bytes_;
  size_t classes_;
  std::vector<uint16_t> class_of_flow_{};
  std::map<uint16_t, Share> shares_{};
  std::deque<uint16_t> active_{};  // with packets, in the order of their turns
  bool is_new_turn_ = true;        // of the first of these
};

const QueueRegistration registration{
    "drr",
    {"deficit round robin over flows, or over their classes",
     {quantum(datagram_bytes),
      {"classes", ParameterType::whole, 1, 1000, std::nullopt, "classes", "that flows name"},
      flag("per_class", false, "the bound is that of each class or flow"),
      packets,
      bytes},
     true},
    [](const Notation& given, uint64_t) -> std::unique_ptr<PacketQueue> {
      return std::make_unique<DrrQueue>(limit_of(given), given["per_class"] != 0,
                                        static_cast<uint64_t>(given["quantum"]),
                                        static_cast<size_t>(given.value_or("classes", 0)));
    }};

}  // namespace
}  // namespace kneepoint
