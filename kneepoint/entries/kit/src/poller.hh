// Waits until a descriptor is ready for one of several rules, and follows the rules that are ready.
#pragma once

#include <functional>
#include <vector>

#include "file_descriptor.hh"

class Poller {
 public:
  enum class Ready : short;
  static const Ready to_read;
  static const Ready to_write;

  struct Rule {
    const FileDescriptor& descriptor;
    Ready when;
    std::function<void()> act;
    std::function<bool()> is_wanted;  // asked once before each wait
  };

  void add(const Rule& rule) { rules_.push_back(rule); }

  // Returns whether a rule was followed before the timeout. Rules are followed in the order in
  // which they were added. Throws std::runtime_error if a descriptor has an error, or a rule
  // neither reads nor writes.
  bool wait(int timeout_ms);

 private:
  std::vector<Rule> rules_{};
};
