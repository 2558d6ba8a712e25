#include "realtime/udp_sender.hh"

#include <algorithm>
#include <array>
#include <span>

#include "realtime/stop_signal.hh"
#include "transport/contest_datagram.hh"

namespace kneepoint {

namespace {

constexpr Microseconds longest_wait_us = 1'000'000;  // so that a stop is never missed for long
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

SenderReport UdpSender::run(std::optional<Milliseconds> duration_ms) {
  const Microseconds end_us = duration_ms ? *duration_ms * 1000 : never;
  sender_.start(now_us());
  const auto is_over = [&] { return stop_requested() or now_us() >= end_us; };
  while (not is_over()) {
    sender_.release(now_us());
    const auto ready = socket_.wait(sender_.window_is_open(), timeout_us(end_us));
    if (ready.writable) {
      // Filling a wide window takes seconds.
      while (sender_.window_is_open() and send() and not is_over()) {
      }
    }
    if (ready.readable) read();
    if (ready.timed_out()) send_keepalive();
  }
  report_.packets_sent = sender_.packets_sent();
  report_.read_delay_p99_us = read_delays_.p99_us();
  report_.read_delays_us = read_delays_.by_rarity_us();
  return report_;
}

Microseconds UdpSender::timeout_us(Microseconds end_us) const {
  // Counted from the last event, because a wait may have been cut short.
  const Microseconds left_us = std::min(sender_.wakes_us(), end_us) - now_us();
  return std::clamp<Microseconds>(left_us, 0, longest_wait_us);
}

bool UdpSender::send(bool is_heartbeat) {
  const Microseconds time_us = now_us();
  const Datagram datagram = data_datagram(sender_.packets_sent(), whole_ms(time_us));
  const size_t bytes = is_heartbeat ? ContestHeader::bytes : datagram.size();
  if (not socket_.send(std::span(datagram).first(bytes))) return false;
  sender_.sent(time_us);
  return true;
}

void UdpSender::send_keepalive() {
  const Microseconds time_us = now_us();
  if (time_us < sender_.idle_deadline_us()) return;  // the wait was only cut short
  sender_.keepalive(time_us);
  send(sender_.has_heartbeats());
}

void UdpSender::read() {
  std::array<std::byte, largest_datagram_bytes> buffer;
  const auto received = socket_.receive(buffer);
  if (not received) return;
  const auto header = ContestHeader::decode(std::span(buffer).first(received->bytes));
  const Microseconds arrived_us = received->time_us - start_us_;
  if (not header or not header->is_ack()) {
    ++report_.malformed;
    return;
  }
  const Ack ack = to_ack(*header, sender_.packets_sent(), whole_ms(arrived_us));
  const Microseconds read_us = now_us();
  read_delays_.add(arrived_us, read_us);
  ++report_.acknowledgments;
  sender_.acknowledged(ack.sequence_number, arrived_us, read_us, [&] { return ack; });
}

}  // namespace kneepoint
