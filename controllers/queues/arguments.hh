// A parsed description of a queue: POLICY[:NAME=VALUE,...].
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/time.hh"
#include "queues/fifo.hh"

namespace kneepoint {

// The arguments behind the colon, each to be taken exactly once. Every function throws
// std::invalid_argument, naming the description.
class QueueArguments {
 public:
  explicit QueueArguments(const std::string& description);

  const std::string& policy() const { return policy_; }

  // Whole numbers of at least 1.
  std::optional<uint64_t> take(const std::string& name);
  uint64_t require(const std::string& name);

  // Any number above 0 and up to `most`.
  std::optional<double> take_real(const std::string& name, double most);

  // 0 or 1.
  std::optional<bool> take_flag(const std::string& name);

  // A time in whole milliseconds, at most a day.
  Microseconds require_time_us(const std::string& name);

  // packets=N and bytes=N; at least one of them where a limit is required.
  Limit take_limit();
  Limit require_limit();

  void check_all_taken() const;

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  std::string description_;
  std::string policy_{};
  std::optional<std::string> take_text(const std::string& name);

  std::map<std::string, std::string> values_{};
};

}  // namespace kneepoint
