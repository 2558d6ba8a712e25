#include "entries/virtual_host.hh"

#include <algorithm>
#include <utility>

namespace kneepoint {

namespace {

constexpr int64_t clock_reading_ns = 50;
constexpr int64_t microsecond_ns = 1000;
constexpr int64_t call_in_vain_ns = 1000;  // to find that nothing can be read
constexpr int64_t min_cpu_ns = 1000;
constexpr int64_t max_cpu_ns = 20'000;

int64_t after(int64_t time_ns, int64_t span_ns) {
  return time_ns > EntryMessages::never_ns - span_ns ? EntryMessages::never_ns : time_ns + span_ns;
}

}  // namespace

VirtualHost::VirtualHost(EntryMessages& messages, std::function<void()> hand_over)
    : messages_(messages), hand_over_(std::move(hand_over)) {}

void VirtualHost::begin() {
  random_ = Random(messages_.order.seed);
  clock_ns_ = messages_.order.start_ns;
  packet_ns_ = messages_.order.packet_ns;
  end_ns_ = messages_.order.end_ns;
  take_order();
}

int64_t VirtualHost::read_clock_ns() {
  spend(clock_reading_ns);
  if (clock_ns_ >= end_ns_) end();
  return clock_ns_;
}

int64_t VirtualHost::read_cpu_clock_ns() {
  constexpr uint64_t choices = max_cpu_ns - min_cpu_ns + 1;
  cpu_ns_ += min_cpu_ns + static_cast<int64_t>(random_.next() % choices);
  read_clock_ns();
  return cpu_ns_;
}

void VirtualHost::sleep_until(int64_t time_ns) {
  if (time_ns <= clock_ns_) return;
  const int64_t wakes_ns = after(time_ns, lateness_ns_);
  ask(EntryMessages::sleep, wakes_ns);
  clock_ns_ = wakes_ns;
}

VirtualHost::Readiness VirtualHost::wait(bool for_reading, bool for_writing, int64_t limit_ns) {
  if (for_writing) return {for_reading and can_read(), true};
  if (for_reading and can_read()) return {true, false};
  if (limit_ns == 0) {
    spend(call_in_vain_ns);
    if (clock_ns_ >= end_ns_) end();
    return {false, false};
  }
  // As for the emulator's own sender, the time that the last datagram takes is part of the wait,
  // unless the sender has read an acknowledgment since.
  const bool sending_is_last =
      has_just_sent_ and clock_ns_ - sent_ns_ < packet_ns_ + microsecond_ns;
  const int64_t from_ns = sending_is_last ? sent_ns_ : clock_ns_;
  const int64_t until_ns = limit_ns < 0 ? EntryMessages::never_ns : after(from_ns, limit_ns);
  if (not for_reading) {
    sleep_until(until_ns);
    return {false, false};
  }
  const int64_t wakes_ns = after(until_ns, lateness_ns_);
  const auto arrives = [&] { return not inbox_.empty() and readable_ns_.front() <= wakes_ns; };
  if (not arrives()) ask(EntryMessages::arrival, wakes_ns);
  if (arrives()) {
    clock_ns_ = std::max(clock_ns_, readable_ns_.front());
    return {true, false};
  }
  clock_ns_ = wakes_ns;
  return {false, false};
}

void VirtualHost::send(std::span<const std::byte> first_bytes, size_t bytes) {
  EntryMessages::Departure& departure = messages_.report.departure[departures_++];
  departure.clock_ns = clock_ns_;
  departure.bytes = bytes;
  departure.header = {};
  std::copy_n(first_bytes.begin(), std::min(first_bytes.size(), departure.header.size()),
              departure.header.begin());
  // The time of a datagram includes the sender's work around it, such as reading a clock.
  has_just_sent_ = true;
  sent_ns_ = clock_ns_ / microsecond_ns * microsecond_ns;
  clock_ns_ = std::max(clock_ns_, sent_ns_ + packet_ns_);
  if (departures_ == EntryMessages::max_datagrams) ask(EntryMessages::know, clock_ns_);
}

std::optional<VirtualHost::Received> VirtualHost::receive(int64_t limit_ns) {
  if (not wait(true, false, limit_ns).readable) return std::nullopt;
  const Received received = inbox_.front();
  inbox_.pop_front();
  readable_ns_.pop_front();
  has_just_sent_ = false;
  return received;
}

std::optional<VirtualHost::Received> VirtualHost::peek() const {
  if (inbox_.empty() or readable_ns_.front() > clock_ns_) return std::nullopt;
  return inbox_.front();
}

void VirtualHost::end() { ask(EntryMessages::end, EntryMessages::never_ns); }

bool VirtualHost::can_read() {
  while (true) {
    if (not inbox_.empty() and readable_ns_.front() <= clock_ns_) return true;
    if (clock_ns_ <= known_until_ns_) return false;
    ask(EntryMessages::know, clock_ns_);
  }
}

void VirtualHost::ask(EntryMessages::Wish wish, int64_t wakes_ns) {
  messages_.report.clock_ns = clock_ns_;
  messages_.report.wakes_ns = wakes_ns;
  messages_.report.wish = wish;
  messages_.report.departures = std::exchange(departures_, 0);
  hand_over_();
  take_order();
}

void VirtualHost::take_order() {
  const EntryMessages::Order& order = messages_.order;
  known_until_ns_ = order.known_until_ns;
  lateness_ns_ = order.lateness_ns;
  for (size_t i = 0; i < order.arrivals; ++i) {
    const EntryMessages::Arrival& arrival = order.arrival[i];
    inbox_.push_back({arrival.arrived_ns, order.arrival_bytes, arrival.header});
    readable_ns_.push_back(arrival.readable_ns);
  }
}

}  // namespace kneepoint
