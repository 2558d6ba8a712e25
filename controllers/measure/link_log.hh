// The log of one direction of a link, in the format of mahimahi's mm-link.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/block_queue.hh"
#include "common/output_file.hh"
#include "common/time.hh"

namespace kneepoint {

// Lines after the header, T in milliseconds:
//   T + BYTES         a packet arrived          T # 1504           a delivery opportunity
//   T - BYTES DELAY   a packet departed         T d PACKETS BYTES  packets were dropped
// mm-throughput-graph and mm-delay-graph read it. mm-link itself logs no drop at a dequeue; this
// log does, so that every packet's fate is on record.
class LinkLog {
 public:
  // Throws std::runtime_error when the file cannot be opened.
  LinkLog(const std::filesystem::path& path, const std::string& trace_name,
          const std::string& command_line, const std::string& queue_description);

  // Opportunities and departures are reported in their order, as soon as they are known; arrivals
  // and drops when they happen.
  void arrival(Milliseconds time_ms, uint32_t bytes);
  void opportunity(Milliseconds time_ms);
  void departure(Milliseconds time_ms, uint32_t bytes, Milliseconds delay_ms);
  void drop(Milliseconds time_ms, uint64_t packets, uint64_t bytes);

  // Writes the opportunities and departures up to and including `time_ms`.
  void write_until(Milliseconds time_ms);

  // Flushes. Throws std::runtime_error when anything could not be written.
  void finish();

 private:
  OutputFile file_;
  struct Line {
    Milliseconds time_ms;
    uint32_t bytes;  // of a departure; 0: an opportunity
    Milliseconds delay_ms;
  };
  BlockQueue<Line> to_come_{};
};

}  // namespace kneepoint
