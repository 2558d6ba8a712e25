// The settings of a TCP connection, its segments and its acknowledgments.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "common/time.hh"
#include "transport/packet.hh"

namespace kneepoint {

// On the link: 1448 bytes of payload, 52 of IP and TCP with timestamps, 4 of TUN.
constexpr uint16_t tcp_segment_bytes = 1504;
constexpr uint16_t tcp_payload_bytes = 1448;
constexpr uint16_t tcp_acknowledgment_bytes = 56;  // without SACK blocks

struct TcpSettings {
  bool sack = true;                     // recovery by RFC 6675; otherwise NewReno, RFC 6582
  Microseconds min_rto_us = 1'000'000;  // RFC 6298; Linux has 200 ms
  // The minimum margin of the RTO above the smoothed RTT. RFC 6298: the clock's granularity G;
  // Linux: 200 ms, by which tcp_rto_min bounds rttvar.
  Microseconds min_rto_margin_us = 1000;
  Microseconds delayed_ack_us = 40'000;  // at most; 0: every segment is acknowledged at once
  uint64_t quick_acks = 0;  // first segments that are acknowledged at once; 16 in Linux
  uint64_t receive_window_packets = 1 << 20;
  // The sockets' buffers. As in Linux, data stays in the sender's buffer until it is acknowledged
  // cumulatively, and half of the receiver's buffer is for the kernel's bookkeeping
  // (tcp_adv_win_scale).
  uint64_t send_buffer_bytes = unlimited_bytes;
  uint64_t receive_buffer_bytes = unlimited_bytes;
  bool ecn = false;   // RFC 3168
  bool rack = false;  // losses are found by time, and a lost tail by a probe, RFC 8985; with SACK
  bool prr = false;   // recovery sends in proportion to deliveries, RFC 6937; with SACK
  bool undo = false;  // spurious losses are detected by timestamps and undone, RFC 3522
  bool counts_marks = false;  // in place of ecn: acknowledgments carry the count, as in RFC 9768

  // Data enters a buffer that is not full: the last segment may exceed it.
  uint64_t buffered_packets() const {
    return (send_buffer_bytes + tcp_payload_bytes - 1) / tcp_payload_bytes;
  }
  uint64_t offered_packets() const {
    return std::min(receive_window_packets, receive_buffer_bytes / 2 / tcp_payload_bytes);
  }

  static constexpr uint64_t unlimited_bytes = 1ULL << 40;
};

struct TcpSegment {
  uint64_t number;
  bool is_syn = false;
  bool is_retransmission = false;
  Ecn ecn = Ecn::not_capable;
  bool has_reduced = false;  // CWR
  Microseconds sent_us = 0;  // its timestamp (RFC 7323)
};

// Segments [begin, end) that have arrived out of order.
struct SackBlock {
  uint64_t begin;
  uint64_t end;
};

// An acknowledgment. The acknowledgment of the SYN covers no segment.
struct TcpAcknowledgment {
  uint64_t next_expected = 0;
  bool is_of_syn = false;
  size_t block_count = 0;
  std::array<SackBlock, 3> blocks{};  // the latest first (RFC 2018)
  uint64_t window_packets = 0;
  bool echoes_mark = false;  // ECE
  uint64_t marks = 0;        // marked segments so far
  Microseconds echo_us = 0;  // the timestamp of the segment that last moved next_expected
};

}  // namespace kneepoint
