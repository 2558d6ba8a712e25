// Restrictions of a process that runs untrusted code: resources, files, system calls.
//
// The processes that use this replace functions of the C library, so that nothing here calls those:
// system calls are made directly.
#pragma once

#include <linux/filter.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kneepoint {

// The kernel lacks what isolates an entry, or denies it.
class SandboxError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws SandboxError where this kernel has no Landlock or no seccomp.
void require_sandbox();

// Of one process.
struct Limits {
  uint64_t cpu_s;
  uint64_t memory_mb;
  uint64_t file_mb;
  uint64_t descriptors;
};
void set_limits(const Limits& limits);

// At its limit of CPU time the process ends by itself with this status. The kernel counts that time
// in ticks, often another time than the one it reports afterwards, and the first process of a
// namespace is deaf to the signal.
constexpr int exit_status_at_cpu_limit = 128 + SIGXCPU;
void exit_at_cpu_limit();

// No program gives privileges, neither a set-uid one nor, to root, any other.
void drop_privileges();

// Landlock: from now on only these files, no TCP, and, if the kernel supports that, no
// signals to others.
class FileRules {
 public:
  FileRules();
  ~FileRules();
  FileRules(const FileRules&) = delete;
  FileRules& operator=(const FileRules&) = delete;

  // A file, or a folder with all that is in it. One that is not there is not given.
  void read(const std::string& path);
  void run(const std::string& path);    // and read
  void write(const std::string& path);  // and read, make and remove
  void enter();

  // Whether this kernel's Landlock keeps signals from others' processes.
  bool keeps_signals() const;

 private:
  void allow(const std::string& path, uint64_t access);

  int version_;
  int ruleset_;
  uint64_t handled_ = 0;
};

// A filter of system calls (seccomp). The first matching rule decides.
class CallFilter {
 public:
  enum : uint32_t { allow = 0x7fff0000, trap = 0x00030000, notify = 0x7fc00000 };
  static constexpr uint32_t refuse(int error) { return 0x00050000 | static_cast<uint32_t>(error); }

  struct Argument {
    unsigned number;
    uint64_t mask;
    uint64_t value;  // what is left of it under the mask
  };

  // `otherwise` applies if no rule matches.
  explicit CallFilter(uint32_t otherwise);

  CallFilter& rule(long call, uint32_t action, const std::vector<Argument>& arguments = {});
  CallFilter& rules(const std::vector<long>& calls, uint32_t action);

  // Returns the descriptor that hears of calls that notify, if it is to listen; otherwise -1.
  int enter(bool listens = false);

 private:
  uint32_t otherwise_;
  std::vector<sock_filter> program_;
};

// What the process itself answers to a call that seccomp traps, as the kernel would: a result, or a
// negated errno. Without an answer the process ends. It must call no function of the C library.
using Answer = std::optional<long> (*)(int call, const std::array<uint64_t, 6>& arguments);
void answer_trapped_calls(Answer answer);

// "ptrace", or "system call 999".
std::string name_of_call(int call);

}  // namespace kneepoint
