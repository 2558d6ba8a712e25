// TCP's receiver, without I/O, in units of segments: reassembly, SACK blocks, delayed ACKs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "common/time.hh"
#include "transport/tcp.hh"

namespace kneepoint {

class TcpReceiver {
 public:
  explicit TcpReceiver(const TcpSettings& settings) : settings_(settings) {}

  // A segment arrives. Returns the acknowledgment that is due at once, if any (RFC 5681, section
  // 4.2: for every second segment, and for any segment that is out of order or fills a gap). A mark
  // is echoed until the sender reports that it has reduced its window (RFC 3168, section 6.1.3).
  std::optional<TcpAcknowledgment> receive(const TcpSegment& segment, bool is_marked,
                                           Microseconds now_us);

  // When a delayed acknowledgment is due; and the acknowledgment itself.
  Microseconds timer_us() const { return timer_us_; }
  TcpAcknowledgment timer() { return acknowledge(); }

  uint64_t in_order() const { return next_expected_; }

 private:
  TcpAcknowledgment acknowledge();
  void insert(uint64_t number);

  TcpSettings settings_;
  uint64_t next_expected_ = 0;
  std::map<uint64_t, uint64_t> gathered_{};  // blocks out of order: begin to end
  std::array<uint64_t, 3> latest_{};         // segments whose blocks are reported, the newest first
  bool echoes_mark_ = false;
  uint64_t marks_ = 0;
  Microseconds echo_us_ = 0;
  bool has_unacknowledged_ = false;
  uint64_t quick_acks_ = settings_.quick_acks;
  Microseconds timer_us_ = never;
};

}  // namespace kneepoint
