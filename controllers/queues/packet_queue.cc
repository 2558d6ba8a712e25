#include "queues/packet_queue.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "common/random.hh"
#include "common/text.hh"

namespace kneepoint {

namespace {

class InfiniteQueue final : public PacketQueue {
 public:
  void enqueue(const Packet& packet, Milliseconds now_ms) override { push(packet, now_ms); }
  const Packet* dequeue(Milliseconds) override { return empty() ? nullptr : &pop(); }
};

struct Limit {
  uint64_t packets = std::numeric_limits<uint64_t>::max();
  uint64_t bytes = std::numeric_limits<uint64_t>::max();
};

// Drops the packet that arrives at a full queue.
class DroptailQueue : public PacketQueue {
 public:
  explicit DroptailQueue(Limit limit) : limit_(limit) {}

  void enqueue(const Packet& packet, Milliseconds now_ms) override {
    if (packets() >= limit_.packets or bytes() + packet.bytes > limit_.bytes) {
      drop(packet);
    } else {
      push(packet, now_ms);
    }
  }
  const Packet* dequeue(Milliseconds) override { return empty() ? nullptr : &pop(); }

 protected:
  bool overfull() const { return packets() > limit_.packets or bytes() > limit_.bytes; }

 private:
  Limit limit_;
};

// Makes room for the packet that arrives by dropping the oldest ones.
class DropheadQueue final : public DroptailQueue {
 public:
  using DroptailQueue::DroptailQueue;

  void enqueue(const Packet& packet, Milliseconds now_ms) override {
    push(packet, now_ms);
    while (overfull()) drop(pop());
  }
};

// Controlled delay, RFC 8289 section 5: drops at the head while packets have stayed too long.
class CodelQueue final : public DroptailQueue {
 public:
  CodelQueue(Limit limit, Milliseconds target_ms, Milliseconds interval_ms)
      : DroptailQueue(limit), target_ms_(target_ms), interval_ms_(interval_ms) {}

  const Packet* dequeue(Milliseconds now_ms) override {
    auto [packet, above_target] = take(now_ms);
    if (dropping_) {
      if (not above_target) dropping_ = false;
      while (dropping_ and static_cast<double>(now_ms) >= drop_next_ms_) {
        drop(*packet);
        ++count_;
        std::tie(packet, above_target) = take(now_ms);
        if (above_target) {
          drop_next_ms_ = control_law(drop_next_ms_);
        } else {
          dropping_ = false;
        }
      }
    } else if (above_target) {
      drop(*packet);
      std::tie(packet, above_target) = take(now_ms);
      start_dropping(now_ms);
    }
    return packet;
  }

 private:
  // The packet at the head, and whether the sojourn time has been above the target for an interval.
  std::pair<const Packet*, bool> take(Milliseconds now_ms) {
    if (empty()) {
      first_above_ms_ = 0;
      return {nullptr, false};
    }
    const Packet& packet = pop();
    if (now_ms - packet.queued_ms < target_ms_ or bytes() <= datagram_bytes) {
      first_above_ms_ = 0;
      return {&packet, false};
    }
    if (first_above_ms_ == 0) {
      first_above_ms_ = now_ms + interval_ms_;
      return {&packet, false};
    }
    return {&packet, now_ms >= first_above_ms_};
  }

  void start_dropping(Milliseconds now_ms) {
    dropping_ = true;
    const uint32_t drops = count_ - last_count_;
    const bool recent =
        static_cast<double>(now_ms) - drop_next_ms_ < 16.0 * static_cast<double>(interval_ms_);
    count_ = drops > 1 and recent ? drops : 1;
    last_count_ = count_;
    drop_next_ms_ = control_law(static_cast<double>(now_ms));
  }

  double control_law(double time_ms) const {
    return time_ms + static_cast<double>(interval_ms_) / std::sqrt(count_);
  }

  Milliseconds target_ms_;
  Milliseconds interval_ms_;
  Milliseconds first_above_ms_ = 0;
  double drop_next_ms_ = 0;
  uint32_t count_ = 0;
  uint32_t last_count_ = 0;
  bool dropping_ = false;
};

// Proportional integral controller enhanced, RFC 8033, with the delay read from timestamps
// (section 5.3) and the constants of its appendix A.
class PieQueue final : public DroptailQueue {
 public:
  PieQueue(Limit limit, Milliseconds reference_ms, Milliseconds burst_ms, uint64_t seed)
      : DroptailQueue(limit),
        reference_ms_(static_cast<double>(reference_ms)),
        burst_ms_(burst_ms),
        allowance_ms_(burst_ms),
        random_(seed) {}

  void enqueue(const Packet& packet, Milliseconds now_ms) override {
    update(now_ms);
    if (drops_early(packet)) {
      drop(packet);
    } else {
      DroptailQueue::enqueue(packet, now_ms);
    }
  }

  const Packet* dequeue(Milliseconds now_ms) override {
    update(now_ms);
    const Packet* packet = DroptailQueue::dequeue(now_ms);
    delay_ms_ =
        packet != nullptr and not empty() ? static_cast<double>(now_ms - packet->queued_ms) : 0;
    return packet;
  }

 private:
  static constexpr Milliseconds update_interval_ms_ = 15;

  bool drops_early(const Packet& packet) {
    if (allowance_ms_ > 0) return false;
    if (old_delay_ms_ < reference_ms_ / 2 and probability_ < 0.2) return false;
    if (bytes() <= 2 * packet.bytes) return false;
    return random_.uniform() < probability_;
  }

  void update(Milliseconds now_ms) {
    for (; next_update_ms_ <= now_ms; next_update_ms_ += update_interval_ms_) update_probability();
  }

  void update_probability() {
    const double error_s = (delay_ms_ - reference_ms_) / 1000;
    const double trend_s = (delay_ms_ - old_delay_ms_) / 1000;
    double step = (0.125 * error_s + 1.25 * trend_s) * scale();
    if (probability_ >= 0.1) step = std::min(step, 0.02);
    probability_ += step;
    if (delay_ms_ == 0 and old_delay_ms_ == 0) probability_ *= 0.98;
    probability_ = std::clamp(probability_, 0.0, 1.0);
    const bool calm =
        probability_ == 0 and delay_ms_ < reference_ms_ / 2 and old_delay_ms_ < reference_ms_ / 2;
    allowance_ms_ =
        calm ? burst_ms_ : std::max<Milliseconds>(0, allowance_ms_ - update_interval_ms_);
    old_delay_ms_ = delay_ms_;
  }

  // Small probabilities move in small steps (RFC 8033 section 4.2).
  double scale() const {
    static constexpr std::pair<double, double> steps[] = {
        {0.000001, 1.0 / 2048}, {0.00001, 1.0 / 512}, {0.0001, 1.0 / 128},
        {0.001, 1.0 / 32},      {0.01, 1.0 / 8},      {0.1, 1.0 / 2}};
    for (const auto& [below, factor] : steps) {
      if (probability_ < below) return factor;
    }
    return 1;
  }

  double reference_ms_;
  Milliseconds burst_ms_;
  Milliseconds allowance_ms_;
  Random random_;
  Milliseconds next_update_ms_ = 0;
  double delay_ms_ = 0;
  double old_delay_ms_ = 0;
  double probability_ = 0;
};

// The arguments behind the colon of a queue's description, each to be taken exactly once.
class QueueArguments {
 public:
  explicit QueueArguments(const std::string& description) : description_(description) {
    const size_t colon = description.find(':');
    policy_ = description.substr(0, colon);
    if (colon == std::string::npos) return;
    for (const std::string& argument : split(description.substr(colon + 1), ',')) {
      const size_t equals = argument.find('=');
      if (equals == std::string::npos) refuse("'" + argument + "' is not NAME=NUMBER");
      const uint64_t value = to_whole(argument.substr(equals + 1), "queue " + description);
      if (value == 0) refuse(argument.substr(0, equals) + " must be at least 1");
      if (not values_.emplace(argument.substr(0, equals), value).second) {
        refuse(argument.substr(0, equals) + " is given twice");
      }
    }
  }

  const std::string& policy() const { return policy_; }

  std::optional<uint64_t> take(const std::string& name) {
    const auto node = values_.extract(name);
    return node.empty() ? std::nullopt : std::optional(node.mapped());
  }

  uint64_t require(const std::string& name) {
    const auto value = take(name);
    if (not value) refuse(policy_ + " needs " + name + "=NUMBER");
    return *value;
  }

  Limit take_limit() {
    Limit limit;
    limit.packets = take("packets").value_or(limit.packets);
    limit.bytes = take("bytes").value_or(limit.bytes);
    return limit;
  }

  Limit require_limit() {
    if (not values_.contains("packets") and not values_.contains("bytes")) {
      refuse(policy_ + " needs packets=NUMBER or bytes=NUMBER");
    }
    return take_limit();
  }

  void check_all_taken() const {
    if (not values_.empty()) refuse(policy_ + " has no argument " + values_.begin()->first);
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw std::invalid_argument("queue " + description_ + ": " + reason);
  }

 private:
  std::string description_;
  std::string policy_{};
  std::map<std::string, uint64_t> values_{};
};

std::unique_ptr<PacketQueue> make_by_policy(QueueArguments& arguments, uint64_t seed) {
  const std::string& policy = arguments.policy();
  const auto time_ms = [&](const char* name) {
    const uint64_t value = arguments.require(name);
    if (value > longest_run_ms) arguments.refuse(std::string(name) + " must be at most a day");
    return static_cast<Milliseconds>(value);
  };
  if (policy == "infinite") return std::make_unique<InfiniteQueue>();
  if (policy == "droptail") return std::make_unique<DroptailQueue>(arguments.require_limit());
  if (policy == "drophead") return std::make_unique<DropheadQueue>(arguments.require_limit());
  if (policy == "codel") {
    const Milliseconds target_ms = time_ms("target");
    const Milliseconds interval_ms = time_ms("interval");
    return std::make_unique<CodelQueue>(arguments.take_limit(), target_ms, interval_ms);
  }
  if (policy == "pie") {
    const Milliseconds reference_ms = time_ms("qdelay_ref");
    const Milliseconds burst_ms = time_ms("max_burst");
    return std::make_unique<PieQueue>(arguments.take_limit(), reference_ms, burst_ms, seed);
  }
  arguments.refuse("unknown policy; there are infinite, droptail, drophead, codel, pie");
}

}  // namespace

std::unique_ptr<PacketQueue> make_packet_queue(const std::string& description, uint64_t seed) {
  QueueArguments arguments(description);
  auto queue = make_by_policy(arguments, seed);
  arguments.check_all_taken();
  return queue;
}

}  // namespace kneepoint
