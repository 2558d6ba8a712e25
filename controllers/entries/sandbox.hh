// Restrictions of a process that runs untrusted code: resources, files, system calls.
//
// The processes that use this code replace functions of the C library, so that no code here calls
// such functions: system calls are made directly.
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

// The kernel cannot isolate an entry, or refuses to.
class SandboxError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws SandboxError for a call, with the error of errno.
[[noreturn]] void refuse_sandbox(const std::string& call);

// Throws SandboxError if this kernel has no Landlock or no seccomp.
void require_sandbox();

// The limits of one process.
struct ResourceLimits {
  uint64_t cpu_s;
  uint64_t memory_mb;
  uint64_t file_mb;
  uint64_t descriptors;
};
void set_limits(const ResourceLimits& limits);

// At its limit of CPU time the process ends by itself with this status. The kernel counts this time
// in ticks, which often differs from the time that it reports afterwards, and the first process of
// a namespace ignores the signal.
constexpr int exit_status_at_cpu_limit = 128 + SIGXCPU;
void exit_at_cpu_limit();

// From now on no program gives privileges: neither a set-uid program nor, to root, any other
// program.
void drop_privileges();

// The files that a process may use, and folders with all their content. Missing files are skipped.
struct Files {
  std::vector<std::string> readable{};
  std::vector<std::string> runnable{};  // and readable
  std::vector<std::string> writable{};  // and readable; files can be made and removed
  // Readable files that are copied: the paths of the copies, and the paths of the originals.
  std::map<std::string, std::string> copied{};
};

// Landlock: from now on only these files, no TCP and, if the kernel supports it, no signals to
// other processes. Returns whether signals are denied.
bool allow_only(const Files& files);

// A filter of system calls (seccomp). The first matching rule decides.
class CallFilter {
 public:
  enum : uint32_t { allow = 0x7fff0000, trap = 0x00030000, notify = 0x7fc00000 };
  static constexpr uint32_t refuse(int error) { return 0x00050000 | static_cast<uint32_t>(error); }

  struct Argument {
    unsigned number;
    uint64_t mask;
    uint64_t value;  // of the argument, under the mask
  };

  // `otherwise` applies if no rule matches.
  explicit CallFilter(uint32_t otherwise);

  CallFilter& rule(long call, uint32_t action, const std::vector<Argument>& arguments = {});
  CallFilter& rules(const std::vector<long>& calls, uint32_t action);

  // With `listens`, returns the descriptor that reports the calls to notify; otherwise -1.
  int enter(bool listens = false);

 private:
  uint32_t otherwise_;
  std::vector<sock_filter> program_;
};

// The process's own answer to a call that seccomp traps, as the kernel's: a result, or a negated
// errno. Without an answer the process ends. The function must not call the C library.
using Answer = std::optional<long> (*)(int call, const std::array<uint64_t, 6>& arguments);
void answer_trapped_calls(Answer answer);

// Answers a refused reading of the processor's cycle counter as a call with this number; every
// other SIGSEGV ends the process.
constexpr int cycle_counter = 1 << 20;
void answer_cycle_counter();

// Describes a call that a sender made, in its programmer's words, with an alternative.
std::string named_call(int call);

}  // namespace kneepoint
