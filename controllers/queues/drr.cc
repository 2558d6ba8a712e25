// Deficit round robin over flows (Shreedhar, Varghese: Efficient fair queueing using deficit round
// robin, SIGCOMM 1995), with their rule for full buffers: drop from the longest queue.
#include <algorithm>
#include <deque>
#include <map>

#include "common/ring.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

struct Flow {
  Ring<Packet> packets{};
  uint64_t bytes = 0;
  uint64_t deficit_bytes = 0;
};

class DrrQueue final : public PacketQueue {
 public:
  DrrQueue(Limit limit, uint64_t quantum_bytes) : limit_(limit), quantum_bytes_(quantum_bytes) {}

  void enqueue(const Packet& packet, Microseconds now_us) override {
    Flow& flow = flows_[packet.flow];
    if (flow.packets.empty()) {
      flow.deficit_bytes = 0;
      active_.push_back(packet.flow);
      if (active_.size() == 1) is_new_turn_ = true;
    }
    Packet& queued = flow.packets.push();
    queued = packet;
    queued.queued_us = now_us;
    flow.bytes += packet.bytes;
    count_in(packet);
    while (packets() > limit_.packets or bytes() > limit_.bytes) drop_from_longest();
  }

  const Packet* dequeue(Microseconds) override {
    if (active_.empty()) return nullptr;
    while (true) {
      Flow& flow = flows_[active_.front()];
      if (is_new_turn_) flow.deficit_bytes += quantum_bytes_;
      is_new_turn_ = flow.deficit_bytes < flow.packets.front().bytes;
      if (is_new_turn_) {
        active_.push_back(active_.front());
        active_.pop_front();
        continue;
      }
      const Packet& packet = take(flow);
      flow.deficit_bytes -= packet.bytes;
      if (flow.packets.empty()) {
        active_.pop_front();
        is_new_turn_ = true;
      }
      return &packet;
    }
  }

 private:
  const Packet& take(Flow& flow) {
    const Packet& packet = flow.packets.pop();
    flow.bytes -= packet.bytes;
    count_out(packet);
    return packet;
  }

  void drop_from_longest() {
    const auto longest =
        std::ranges::max_element(active_, {}, [this](uint16_t flow) { return flows_[flow].bytes; });
    Flow& flow = flows_[*longest];
    drop(take(flow));
    if (not flow.packets.empty()) return;
    if (longest == active_.begin()) is_new_turn_ = true;
    active_.erase(longest);
  }

  Limit limit_;
  uint64_t quantum_bytes_;
  std::map<uint16_t, Flow> flows_{};
  std::deque<uint16_t> active_{};  // with packets, in the order of their turns
  bool is_new_turn_ = true;        // of the first of these
};

const QueueRegistration registration{
    "drr", [](QueueArguments& arguments, uint64_t) -> std::unique_ptr<PacketQueue> {
      const uint64_t quantum_bytes = arguments.take("quantum").value_or(datagram_bytes);
      return std::make_unique<DrrQueue>(arguments.require_limit(), quantum_bytes);
    }};

}  // namespace
}  // namespace kneepoint
