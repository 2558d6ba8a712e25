// The senders' events, one per line, in virtual microseconds.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/output_file.hh"
#include "common/time.hh"

namespace kneepoint {

// Lines after the header:
//   T_US FLOW sent SEQUENCE
//   T_US FLOW ack SEQUENCE RTT_MS WINDOW
//   T_US FLOW keepalive WINDOW
class FlowLog {
 public:
  // Throws std::runtime_error when the file cannot be opened.
  explicit FlowLog(const std::filesystem::path& path);

  void sent(Microseconds time_us, uint32_t flow, uint64_t sequence_number);
  void acknowledged(Microseconds time_us, uint32_t flow, uint64_t sequence_number,
                    Milliseconds rtt_ms, double window);
  void keepalive(Microseconds time_us, uint32_t flow, double window);

  // Flushes. Throws std::runtime_error when anything could not be written.
  void finish();

 private:
  OutputFile file_;
};

}  // namespace kneepoint
