// FQ-CoDel, RFC 8290: deficit round robin over hashed flows, new ones first, CoDel in each.
#include <algorithm>
#include <deque>
#include <vector>

#include "common/block_queue.hh"
#include "common/random.hh"
#include "queues/codel.hh"
#include "queues/registry.hh"

namespace kneepoint {
namespace {

class FqCodelQueue final : public PacketQueue {
 public:
  FqCodelQueue(Limit limit, uint64_t quantum_bytes, size_t buckets, const Codel& codel,
               uint64_t seed)
      : limit_(limit),
        quantum_bytes_(static_cast<int64_t>(quantum_bytes)),
        seed_(seed),
        codel_(codel),
        buckets_(buckets) {}

  void enqueue(const Packet& packet, Microseconds now_us) override {
    const size_t number = Random(seed_, packet.flow).next() % buckets_.size();
    Bucket& bucket = bucket_at(number);
    if (not bucket.is_active) {
      bucket.is_active = true;
      bucket.deficit_bytes = quantum_bytes_;
      new_.push_back(number);
    }
    Packet& queued = bucket.packets.push();
    queued = packet;
    queued.queued_us = now_us;
    bucket.backlog_bytes += packet.bytes;
    count_in(packet);
    while (packets() > limit_.packets or bytes() > limit_.bytes) drop_from_fattest();
  }

  const Packet* dequeue(Microseconds now_us) override {
    while (not new_.empty() or not old_.empty()) {
      const bool is_new = not new_.empty();
      std::deque<size_t>& list = is_new ? new_ : old_;
      const size_t number = list.front();
      Bucket& bucket = bucket_at(number);
      if (bucket.deficit_bytes <= 0) {
        bucket.deficit_bytes += quantum_bytes_;
        list.pop_front();
        old_.push_back(number);
        continue;
      }
      Head head{*this, bucket};
      const Packet* const packet = bucket.codel.dequeue(head, now_us);
      if (packet != nullptr) {
        bucket.deficit_bytes -= packet->bytes;
        return packet;
      }
      list.pop_front();
      // A new flow that ran empty waits for a turn, or it would come back first (section 4.2).
      if (is_new and not old_.empty()) {
        old_.push_back(number);
      } else {
        bucket.is_active = false;
      }
    }
    return nullptr;
  }

 private:
  struct Bucket {
    explicit Bucket(const Codel& rule) : codel(rule) {}

    BlockQueue<Packet> packets{};
    uint64_t backlog_bytes = 0;
    int64_t deficit_bytes = 0;
    bool is_active = false;
    Codel codel;
  };

  // A bucket, as CoDel sees it.
  struct Head {
    FqCodelQueue& queue;
    Bucket& bucket;

    bool empty() const { return bucket.packets.empty(); }
    uint64_t bytes() const { return bucket.backlog_bytes; }
    Packet& pop() { return queue.take(bucket); }
    void drop(const Packet& packet) { queue.drop(packet); }
    bool mark(Packet& packet) { return queue.mark(packet); }
  };

  // Most buckets never see a packet.
  Bucket& bucket_at(size_t number) {
    if (buckets_[number] == nullptr) buckets_[number] = std::make_unique<Bucket>(codel_);
    return *buckets_[number];
  }

  Packet& take(Bucket& bucket) {
    Packet& packet = bucket.packets.pop();
    bucket.backlog_bytes -= packet.bytes;
    count_out(packet);
    return packet;
  }

  void drop_from_fattest() {
    Bucket* fattest = nullptr;
    for (const auto& bucket : buckets_) {
      if (bucket == nullptr or bucket->packets.empty()) continue;
      if (fattest == nullptr or bucket->backlog_bytes > fattest->backlog_bytes) {
        fattest = bucket.get();
      }
    }
    drop(take(*fattest));
  }

  Limit limit_;
  int64_t quantum_bytes_;
  uint64_t seed_;
  Codel codel_;
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::deque<size_t> new_{};
  std::deque<size_t> old_{};
};

constexpr uint64_t default_packets = 10'240;

const QueueRegistration registration{
    "fq_codel",
    {"deficit round robin over hashed flows with CoDel in each, RFC 8290",
     // Section 5.2.6: marking is on unless it is turned off.
     {target,
      interval,
      bound("packets", default_packets),
      bytes,
      quantum(1514),
      ecn(true),
      {"flows", ParameterType::whole, 1, 65'536, 1024, "queues", "into which flows are hashed"}}},
    [](const Notation& given, uint64_t seed) -> std::unique_ptr<PacketQueue> {
      const Codel codel(time_us(given, "target"), time_us(given, "interval"), given["ecn"] != 0);
      Limit limit = limit_of(given);
      limit.packets = std::min(limit.packets, default_packets);
      return std::make_unique<FqCodelQueue>(limit, static_cast<uint64_t>(given["quantum"]),
                                            static_cast<size_t>(given["flows"]), codel, seed);
    }};

}  // namespace
}  // namespace kneepoint
