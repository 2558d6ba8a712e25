#include "realtime/contest_sender.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "realtime/stop_signal.hh"

namespace kneepoint {

namespace {

constexpr Microseconds longest_wait_ms = 1000;  // so that a stop is never missed for long
constexpr size_t largest_datagram_bytes = 65536;

using Datagram = std::array<std::byte, ContestHeader::bytes + contest_payload_bytes>;

Datagram data_datagram(uint64_t sequence_number, Milliseconds send_timestamp_ms) {
  Datagram datagram{};
  const auto header = ContestHeader{.sequence_number = sequence_number,
                                    .send_timestamp = static_cast<uint64_t>(send_timestamp_ms)}
                          .encode();
  std::ranges::copy(header, datagram.begin());
  return datagram;
}

}  // namespace

ContestSender::ContestSender(UdpSocket& socket, const ControllerHandle& controller, FlowLog* log)
    : socket_(socket), controller_(controller), log_(log) {}

SenderReport ContestSender::run(std::optional<Microseconds> duration_us) {
  last_activity_us_ = now_us();
  const auto is_over = [&] {
    return stop_requested() or (duration_us and now_us() >= *duration_us);
  };
  while (not is_over()) {
    const auto ready = socket_.wait(window_is_open(), timeout_ms(duration_us));
    if (ready.writable) {
      while (window_is_open() and send() and not is_over()) {  // a wide window takes seconds
      }
    }
    if (ready.readable) read();
    if (ready.timed_out()) send_keepalive();
  }
  report_.read_delay_p99_us = read_delays_.p99_us();
  report_.read_delays_us = read_delays_.by_rarity_us();
  return report_;
}

bool ContestSender::window_is_open() const {
  return report_.packets_sent - next_ack_expected_ < static_cast<uint64_t>(controller_.window());
}

Microseconds ContestSender::silence_us() const {
  return static_cast<Microseconds>(controller_.keepalive_ms()) * 1000;
}

int ContestSender::timeout_ms(std::optional<Microseconds> end_us) const {
  // Counted from the last thing that happened, for a wait may have been cut short.
  const Microseconds wake_us = last_activity_us_ + silence_us();
  const Microseconds left_us = std::min(wake_us, end_us.value_or(wake_us)) - now_us();
  return static_cast<int>(std::clamp<Microseconds>((left_us + 999) / 1000, 0, longest_wait_ms));
}

bool ContestSender::send() {
  const Microseconds time_us = now_us();
  const Datagram datagram = data_datagram(report_.packets_sent, whole_ms(time_us));
  if (not socket_.send(datagram)) return false;
  controller_.on_sent(report_.packets_sent, whole_ms(time_us));
  if (log_ != nullptr) log_->sent(time_us, 0, report_.packets_sent);
  ++report_.packets_sent;
  last_activity_us_ = time_us;
  return true;
}

void ContestSender::send_keepalive() {
  const Microseconds time_us = now_us();
  if (time_us - last_activity_us_ < silence_us()) return;  // only a wait that was cut short
  controller_.on_keepalive(whole_ms(time_us));
  if (log_ != nullptr) log_->keepalive(time_us, 0, controller_.window());
  if (not send()) last_activity_us_ = time_us;
}

void ContestSender::read() {
  std::array<std::byte, largest_datagram_bytes> buffer;
  const auto received = socket_.receive(buffer);
  if (not received) return;
  const auto header = ContestHeader::decode(std::span(buffer).first(received->bytes));
  const Microseconds time_us = received->time_us - start_us_;
  const auto ack = header ? to_ack(*header, report_.packets_sent, whole_ms(time_us)) : std::nullopt;
  if (ack) {
    take(*ack, time_us);
  } else {
    ++report_.malformed;
  }
}

void ContestSender::take(const Ack& ack, Microseconds time_us) {
  last_activity_us_ = now_us();
  read_delays_.add(time_us, last_activity_us_);
  ++report_.acknowledgments;
  next_ack_expected_ = std::max(next_ack_expected_, ack.sequence_number + 1);
  controller_.on_ack(ack);
  if (log_ != nullptr) log_->acknowledged(time_us, 0, ack, controller_.window());
}

}  // namespace kneepoint
