// A packet-delivery trace: when the link could have delivered a packet.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.hh"

namespace kneepoint {

// The opportunities in (from_ms, to_ms] of a trace of any length, shifted to start at 0, in memory
// that grows with the part only; nothing after the part is read. Throws std::invalid_argument,
// naming `name`, for lines up to the part's end that mahimahi refuses; and if the part ends after
// the trace, has no opportunity, or is no valid Trace.
std::vector<Milliseconds> trace_part(const std::string& name, std::istream& text,
                                     Milliseconds from_ms, Milliseconds to_ms);

// The delivery opportunities of one direction of a link, as mahimahi's mm-link reads them: a file
// with one whole number of milliseconds a line, never decreasing; several may share a millisecond.
class Trace {
 public:
  static constexpr size_t max_opportunities = 10'000'000;
  static constexpr size_t max_bytes = 16 * max_opportunities;  // of a trace's file

  // Throws std::invalid_argument, naming `name` and the line, for a text that mahimahi refuses: no
  // line at all, an empty line, a line that is no number, decreasing times, a last time of 0; and
  // for more than max_opportunities or longest_run_ms.
  Trace(std::string name, std::string_view text);

  // Reads a file. If `sha256` is not empty, it must be the digest of the content.
  static Trace load(const std::filesystem::path& path, const std::string& sha256 = "");

  const std::string& name() const { return name_; }
  size_t size() const { return opportunities_ms_.size(); }
  Milliseconds last_ms() const { return opportunities_ms_.back(); }
  const int32_t* begin() const { return opportunities_ms_.data(); }
  Milliseconds operator[](size_t index) const { return opportunities_ms_[index]; }

 private:
  std::string name_;
  std::vector<int32_t> opportunities_ms_{};  // 32 bits hold a day
};

}  // namespace kneepoint
