// Restrictions of a process that runs untrusted code: resources, files, system calls.
//
// The processes that use this replace functions of the C library, so that nothing here calls those:
// system calls are made directly.
#pragma once

#include <linux/filter.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kneepoint {

// The kernel lacks what isolates an entry, or denies it.
class SandboxError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws it for what errno says of a call.
[[noreturn]] void refuse_sandbox(const std::string& call);

// Throws SandboxError where this kernel has no Landlock or no seccomp.
void require_sandbox();

// Of one process.
struct ResourceLimits {
  uint64_t cpu_s;
  uint64_t memory_mb;
  uint64_t file_mb;
  uint64_t descriptors;
};
void set_limits(const ResourceLimits& limits);

// At its limit of CPU time the process ends by itself with this status. The kernel counts that time
// in ticks, often another time than the one it reports afterwards, and the first process of a
// namespace is deaf to the signal.
constexpr int exit_status_at_cpu_limit = 128 + SIGXCPU;
void exit_at_cpu_limit();

// No program gives privileges, neither a set-uid one nor, to root, any other.
void drop_privileges();

// What a process may use: files, and folders with all that is in them. One that is not there is not
// given.
struct Files {
  std::vector<std::string> readable{};
  std::vector<std::string> runnable{};  // and readable
  std::vector<std::string> writable{};  // and readable; files can be made and removed
  // Readable files that are copied: what they are called then, and which they are.
  std::map<std::string, std::string> copied{};
};

// Landlock: from now on only these files, no TCP, and, if the kernel supports that, no signals to
// others. Returns whether it does.
bool allow_only(const Files& files);

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

// Has a reading of the processor's cycle counter that is refused answered as a call of this number;
// every other SIGSEGV ends the process.
constexpr int cycle_counter = 1 << 20;
void answer_cycle_counter();

// What a sender did that made a call, in its programmer's words, and what to do instead.
std::string named_call(int call);

}  // namespace kneepoint
