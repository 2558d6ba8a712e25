// FQ-CoDel, RFC 8290: deficit round robin over hashed flows, new flows first, with CoDel in each
// flow.
#include <algorithm>
#include <deque>
#include <vector>

#include "common/random.hh"
#include "queues/codel.hh"

namespace kneepoint {
namespace {

constexpr uint64_t default_packets = 10'240;

class FqCodelQueue final : public PacketQueue {
 public:
  FqCodelQueue(const Notation& given, uint64_t seed)
      : limit_(given),
        quantum_bytes_(static_cast<int64_t>(given["quantum"])),
        seed_(seed),
        codel_(given),
        buckets_(static_cast<size_t>(given["flows"])) {
    limit_.packets = std::min(limit_.packets, default_packets);
  }

  void enqueue(const Packet& packet, Microseconds now_us) override {
    const size_t number = Random(seed_, packet.flow).next() % buckets_.size();
    Bucket& bucket = bucket_at(number);
    if (not bucket.is_active) {
      bucket.is_active = true;
      bucket.deficit_bytes = quantum_bytes_;
      new_.push_back(number);
    }
    push(bucket.fifo, packet, now_us);
    while (limit_.is_exceeded_by(packets(), bytes())) drop_from_fattest();
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
      const Packet* const packet = bucket.codel.dequeue(*this, bucket.fifo, now_us);
      if (packet != nullptr) {
        bucket.deficit_bytes -= packet->bytes;
        return packet;
      }
      list.pop_front();
      // A new flow that ran empty joins the old flows for a turn; otherwise it would soon be first
      // again (section 4.2).
      if (is_new and not old_.empty()) {
        old_.push_back(number);
      } else {
        bucket.is_active = false;
      }
    }
    return nullptr;
  }

  Microseconds oldest_us() const override {
    Microseconds oldest_us = never;
    for (const auto& bucket : buckets_) {
      if (bucket != nullptr) oldest_us = std::min(oldest_us, bucket->fifo.oldest_us());
    }
    return oldest_us;
  }

 private:
  struct Bucket {
    explicit Bucket(const Codel& rule) : codel(rule) {}

    Fifo fifo{};
    int64_t deficit_bytes = 0;
    bool is_active = false;
    Codel codel;
  };

  // Made when first needed: most buckets never see a packet.
  Bucket& bucket_at(size_t number) {
    if (buckets_[number] == nullptr) buckets_[number] = std::make_unique<Bucket>(codel_);
    return *buckets_[number];
  }

  void drop_from_fattest() {
    Bucket* fattest = nullptr;
    for (const auto& bucket : buckets_) {
      if (bucket == nullptr or bucket->fifo.empty()) continue;
      if (fattest == nullptr or bucket->fifo.bytes() > fattest->fifo.bytes()) {
        fattest = bucket.get();
      }
    }
    drop(pop(fattest->fifo));
  }

  Limit limit_;
  int64_t quantum_bytes_;
  uint64_t seed_;
  Codel codel_;
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::deque<size_t> new_{};
  std::deque<size_t> old_{};
};

const Queues::Registration<FqCodelQueue> registration{
    "fq_codel",
    {"deficit round robin over hashed flows with CoDel in each, RFC 8290",
     // Section 5.2.6: marking is on unless it is turned off.
     {target,
      interval,
      bound("packets", default_packets),
      bytes,
      quantum(1514),
      ecn(true),
      {"flows", NotationType::whole, 1, 65'536, 1024, "queues",
       "number of queues into which flows are hashed"}}}};

}  // namespace
}  // namespace kneepoint
