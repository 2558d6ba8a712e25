#include "entries/sandbox.hh"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace kneepoint {

namespace {

constexpr uint64_t megabyte = 1'000'000;

// Rights that the headers of older kernels lack.
constexpr uint64_t refer = 1 << 13;
constexpr uint64_t truncate_file = 1 << 14;
constexpr uint64_t device_control = 1 << 15;
constexpr uint64_t to_read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t to_run = to_read | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr uint64_t of_files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                              LANDLOCK_ACCESS_FS_WRITE_FILE | truncate_file | device_control;
constexpr uint64_t of_version_1 = (1 << 13) - 1;

struct RulesetAttributes {
  uint64_t files;
  uint64_t network;
  uint64_t scopes;
};
constexpr int version_with_network = 4;
constexpr int version_with_scopes = 6;
constexpr uint64_t all_of_network = 3;
constexpr uint64_t all_scopes = 3;

int landlock_version() {
  return static_cast<int>(
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

void limit(decltype(RLIMIT_CPU) what, uint64_t soft, uint64_t hard) {
  const rlimit limits{.rlim_cur = soft, .rlim_max = hard};
  if (setrlimit(what, &limits) != 0) refuse_sandbox("setrlimit");
}

void allow(int ruleset, const std::string& path, uint64_t access) {
  const int place =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, path.c_str(), O_PATH | O_CLOEXEC));
  if (place < 0) return;
  struct stat state{};
  const bool is_folder = fstat(place, &state) == 0 and S_ISDIR(state.st_mode);
  const landlock_path_beneath_attr rule{.allowed_access = is_folder ? access : access & of_files,
                                        .parent_fd = place};
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    refuse_sandbox("landlock_add_rule " + path);
  }
  syscall(SYS_close, place);
}

#if defined(__x86_64__)
constexpr uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "the sandbox supports x86-64 and 64-bit ARM only"
#endif

constexpr uint32_t word_at(size_t offset) { return static_cast<uint32_t>(offset); }

sock_filter load(uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }

sock_filter jump_unless(uint32_t value, uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}

sock_filter end_with(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

Answer answers = nullptr;

void on_trap(int, siginfo_t* information, void* context) {
  const int error = errno;
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#ifdef __x86_64__
  greg_t* const words = machine.gregs;
  greg_t& result = words[REG_RAX];
  constexpr std::array<int, 6> places{REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
#else
  auto* const words = machine.regs;
  auto& result = words[0];
  constexpr std::array<int, 6> places{0, 1, 2, 3, 4, 5};
#endif
  std::array<uint64_t, places.size()> arguments;
  for (size_t i = 0; i < places.size(); ++i) {
    arguments[i] = static_cast<uint64_t>(words[places[i]]);
  }
  const std::optional<long> answer = answers(information->si_syscall, arguments);
  if (not answer) syscall(SYS_exit_group, EXIT_FAILURE);
  result = static_cast<std::remove_reference_t<decltype(result)>>(*answer);
  errno = error;
}

// Only for the kernel's own signal: nobody else knows the CPU time used.
void on_cpu_limit(int, siginfo_t* information, void*) {
  if (information->si_code == SI_KERNEL) syscall(SYS_exit_group, exit_status_at_cpu_limit);
}

// Code that reads the cycle counter raises SIGSEGV without an address.
void on_fault(int, siginfo_t* information, void* context) {
#ifdef __x86_64__
  const auto* const code = reinterpret_cast<const unsigned char*>(
      static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  const bool reads_counter =
      information->si_code == SI_KERNEL and code[0] == 0x0f and
      (code[1] == 0x31 or (code[1] == 0x01 and code[2] == 0xf9));  // rdtsc, rdtscp
  if (reads_counter and not answers(cycle_counter, {})) syscall(SYS_exit_group, EXIT_FAILURE);
#else
  static_cast<void>(information);
  static_cast<void>(context);
#endif
}

void handle(int number, void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART | flags;
  // The C library's sigaction, which this program replaces.
  void* const found = dlsym(RTLD_NEXT, "sigaction");
  if (found == nullptr) throw SandboxError("the C library has no sigaction");
  reinterpret_cast<decltype(&sigaction)>(found)(number, &action, nullptr);
}

constexpr struct {
  long number;
  const char* name;
} call_names[]{
    {SYS_socket, "socket"},
    {SYS_connect, "connect"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_kill, "kill"},
    {SYS_tkill, "tkill"},
    {SYS_tgkill, "tgkill"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_ptrace, "ptrace"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_mmap, "mmap"},
    {SYS_mprotect, "mprotect"},
    {SYS_prctl, "prctl"},
    {SYS_seccomp, "seccomp"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_mkdirat, "mkdirat"},
    {SYS_rt_sigaction, "rt_sigaction"},
    {SYS_setitimer, "setitimer"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_clock_gettime, "clock_gettime"},
    {SYS_sched_getaffinity, "sched_getaffinity"},
    {SYS_sched_setaffinity, "sched_setaffinity"},
    {SYS_sched_setscheduler, "sched_setscheduler"},
    {SYS_sched_setattr, "sched_setattr"},
    {SYS_setpriority, "setpriority"},
    {SYS_ioprio_set, "ioprio_set"},
    {SYS_setrlimit, "setrlimit"},
    {SYS_prlimit64, "prlimit64"},
    {SYS_getrusage, "getrusage"},
    {SYS_sysinfo, "sysinfo"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_pidfd_getfd, "pidfd_getfd"},
    {SYS_pidfd_send_signal, "pidfd_send_signal"},
    {SYS_process_madvise, "process_madvise"},
    {SYS_move_pages, "move_pages"},
    {SYS_migrate_pages, "migrate_pages"},
    {SYS_kcmp, "kcmp"},
    {SYS_getcwd, "getcwd"},
    {SYS_chdir, "chdir"},
    {SYS_fchdir, "fchdir"},
    {SYS_getpgid, "getpgid"},
    {SYS_getsid, "getsid"},
    {SYS_setsid, "setsid"},
    {SYS_wait4, "wait4"},
    {SYS_sigaltstack, "sigaltstack"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_rt_sigsuspend, "rt_sigsuspend"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_fsync, "fsync"},
    {SYS_renameat2, "renameat2"},
    {SYS_fchmod, "fchmod"},
    {SYS_flock, "flock"},
    {SYS_listen, "listen"},
    {SYS_timerfd_settime, "timerfd_settime"},
    {SYS_read, "read"},
    {SYS_shmget, "shmget"},
    {SYS_semget, "semget"},
    {SYS_msgget, "msgget"},
    {SYS_mq_open, "mq_open"},
    {SYS_unshare, "unshare"},
    {SYS_setns, "setns"},
    {SYS_mount, "mount"},
    {SYS_userfaultfd, "userfaultfd"},
    {SYS_perf_event_open, "perf_event_open"},
    {SYS_getrandom, "getrandom"},
    {SYS_gettimeofday, "gettimeofday"},
    {SYS_memfd_create, "memfd_create"},
    {SYS_pipe2, "pipe2"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_bpf, "bpf"},
    {SYS_ioctl, "ioctl"},
    {SYS_write, "write"},
    {SYS_writev, "writev"},
    {SYS_pwritev2, "pwritev2"},
    {SYS_dup, "dup"},
    {SYS_dup3, "dup3"},
    {SYS_fcntl, "fcntl"},
    {SYS_sendmmsg, "sendmmsg"},
    {SYS_sendfile, "sendfile"},
    {SYS_splice, "splice"},
    {SYS_vmsplice, "vmsplice"},
    {SYS_tee, "tee"},
    {SYS_setsockopt, "setsockopt"},
    {SYS_bind, "bind"},
    {SYS_futex, "futex"},
    {SYS_lseek, "lseek"},
    {SYS_openat, "openat"},
    {SYS_mincore, "mincore"},
    {SYS_fadvise64, "fadvise64"},
    {SYS_readahead, "readahead"},
    {SYS_readv, "readv"},
    {SYS_preadv2, "preadv2"},
    {SYS_mlock, "mlock"},
    {SYS_mlock2, "mlock2"},
    {SYS_mlockall, "mlockall"},
    {SYS_msync, "msync"},
    {SYS_sync, "sync"},
    {SYS_syncfs, "syncfs"},
    {SYS_statfs, "statfs"},
    {SYS_fstatfs, "fstatfs"},
    {SYS_uname, "uname"},
    {SYS_getcpu, "getcpu"},
    {SYS_times, "times"},
    {SYS_getpriority, "getpriority"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_create1, "epoll_create1"},
    {SYS_eventfd2, "eventfd2"},
    {SYS_signalfd4, "signalfd4"},
    {SYS_timerfd_create, "timerfd_create"},
    {SYS_timer_create, "timer_create"},
    {SYS_inotify_init1, "inotify_init1"},
    {SYS_membarrier, "membarrier"},
    {SYS_rseq, "rseq"},
    {SYS_add_key, "add_key"},
    {SYS_keyctl, "keyctl"},
#ifdef SYS_fork
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
    {SYS_unlink, "unlink"},
    {SYS_mkdir, "mkdir"},
    {SYS_dup2, "dup2"},
    {SYS_pipe, "pipe"},
    {SYS_getpgrp, "getpgrp"},
    {SYS_rename, "rename"},
    {SYS_rmdir, "rmdir"},
    {SYS_chmod, "chmod"},
    {SYS_alarm, "alarm"},
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_pause, "pause"},
    {SYS_time, "time"},
#endif
};

// The source code that leads to these calls, in a programmer's words.
const std::pair<std::vector<long>, const char*> meanings[]{
    {{SYS_clone, SYS_clone3, SYS_execve, SYS_execveat, SYS_pipe2, SYS_rt_sigaction, SYS_wait4,
#ifdef __x86_64__
      SYS_fork, SYS_vfork, SYS_pipe,
#endif
      SYS_waitid},
     "other processes (system, popen, fork, os.system, subprocess) are none of an entry's; do it "
     "in the sender itself"},
    {{SYS_read, SYS_readv},
     "standard input (std::cin, scanf, input) is empty; declare arguments or parameters in "
     "kneepoint.yaml"},
    {{SYS_timerfd_create, SYS_timerfd_settime, SYS_timer_create, SYS_setitimer, SYS_eventfd2,
#ifdef __x86_64__
      SYS_alarm, SYS_pause, SYS_eventfd,
#endif
      SYS_signalfd4, SYS_rt_sigtimedwait},
     "virtual time has no timers beside poll's (timerfd, alarm, setitimer); use the timeout of "
     "poll, select or epoll_wait"},
    {{SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr,
      SYS_getpriority, SYS_setpriority, SYS_mlockall},
     "an entry has one processor and no priority (nice, sched_setscheduler); leave it out"},
    {{SYS_socket, SYS_bind, SYS_connect, SYS_listen, SYS_accept4},
     "an entry has one UDP socket, to its receiver"},
    {{SYS_unlinkat, SYS_mkdirat, SYS_renameat2, SYS_ftruncate,
#ifdef __x86_64__
      SYS_unlink, SYS_mkdir, SYS_rename, SYS_rmdir,
#endif
      SYS_getdents64},
     "an entry has no folder; what it writes is discarded"},
};

}  // namespace

void refuse_sandbox(const std::string& call) {
  throw SandboxError(call + ": " + std::strerror(errno));
}

void require_sandbox() {
  if (landlock_version() < 1) {
    throw SandboxError("this kernel has no Landlock, which denies an entry files");
  }
  if (prctl(PR_GET_SECCOMP) < 0) {
    throw SandboxError("this kernel has no seccomp, which denies an entry system calls");
  }
}

void set_limits(const ResourceLimits& limits) {
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1);
  limit(RLIMIT_AS, limits.memory_mb * megabyte, limits.memory_mb * megabyte);
  limit(RLIMIT_FSIZE, limits.file_mb * megabyte, limits.file_mb * megabyte);
  limit(RLIMIT_NOFILE, limits.descriptors, limits.descriptors);
  limit(RLIMIT_MEMLOCK, 0, 0);
  limit(RLIMIT_MSGQUEUE, 0, 0);
}

void drop_privileges() {
  constexpr unsigned long no_root = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED;
  prctl(PR_SET_SECUREBITS, no_root);  // only for root; other users have nothing to lose
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[2]{};
  if (syscall(SYS_capset, &header, none) != 0) refuse_sandbox("capset");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refuse_sandbox("no_new_privs");
}

bool allow_only(const Files& files) {
  const int version = landlock_version();
  uint64_t handled = of_version_1;
  if (version >= 2) handled |= refer;
  if (version >= 3) handled |= truncate_file;
  if (version >= 5) handled |= device_control;
  const bool has_scopes = version >= version_with_scopes;
  const RulesetAttributes attributes{handled, all_of_network, all_scopes};
  const size_t bytes = has_scopes                        ? sizeof attributes
                       : version >= version_with_network ? offsetof(RulesetAttributes, scopes)
                                                         : offsetof(RulesetAttributes, network);
  const auto ruleset =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, bytes, 0));
  if (ruleset < 0) refuse_sandbox("landlock_create_ruleset");
  constexpr uint64_t never_written =
      LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
  for (const std::string& path : files.readable) allow(ruleset, path, handled & to_read);
  for (const std::string& path : files.runnable) allow(ruleset, path, handled & to_run);
  for (const std::string& path : files.writable) {
    allow(ruleset, path, handled & ~(never_written | device_control));
  }
  if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) {
    refuse_sandbox("landlock_restrict_self");
  }
  syscall(SYS_close, ruleset);
  return has_scopes;
}

CallFilter::CallFilter(uint32_t otherwise) : otherwise_(otherwise), program_() {
  program_ = {load(word_at(offsetof(seccomp_data, arch))), jump_unless(architecture, 1),
              BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), end_with(SECCOMP_RET_KILL_PROCESS)};
#ifdef __x86_64__
  constexpr uint32_t first_of_x32 = 0x40000000;
  program_.push_back(load(word_at(offsetof(seccomp_data, nr))));
  program_.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first_of_x32, 0, 1));
  program_.push_back(end_with(SECCOMP_RET_KILL_PROCESS));
#endif
}

CallFilter& CallFilter::rule(long call, uint32_t action, const std::vector<Argument>& arguments) {
  constexpr size_t words_an_argument = 6;
  const size_t to_end = words_an_argument * arguments.size() + 1;
  program_.push_back(load(word_at(offsetof(seccomp_data, nr))));
  program_.push_back(jump_unless(static_cast<uint32_t>(call), static_cast<uint8_t>(to_end)));
  size_t left = to_end;
  for (const Argument& argument : arguments) {
    const size_t offset = offsetof(seccomp_data, args) + 8 * argument.number;
    for (const size_t half : {size_t{0}, size_t{4}}) {  // little-endian
      const auto part = [half](uint64_t whole) {
        return static_cast<uint32_t>(whole >> (8 * half));
      };
      program_.push_back(load(word_at(offset + half)));
      program_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, part(argument.mask)));
      left -= 3;
      program_.push_back(jump_unless(part(argument.value), static_cast<uint8_t>(left)));
    }
  }
  program_.push_back(end_with(action));
  return *this;
}

CallFilter& CallFilter::rules(const std::vector<long>& calls, uint32_t action) {
  for (const long call : calls) rule(call, action);
  return *this;
}

int CallFilter::enter(bool listens) {
  std::vector<sock_filter> program = program_;
  program.push_back(end_with(otherwise_));
  const sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  const unsigned flags = listens ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
  const long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &whole);
  if (result < 0) refuse_sandbox("seccomp");
  return listens ? static_cast<int>(result) : -1;
}

void answer_trapped_calls(Answer answer) {
  answers = answer;
  handle(SIGSYS, on_trap);
}

void exit_at_cpu_limit() { handle(SIGXCPU, on_cpu_limit); }

void answer_cycle_counter() { handle(SIGSEGV, on_fault, SA_RESETHAND); }

std::string named_call(int call) {
  if (call == cycle_counter) {
    return "read the processor's cycle counter (rdtsc, __builtin_ia32_rdtsc), which has no place "
           "in a run's time: use clock_gettime or std::chrono";
  }
  std::string name = "number " + std::to_string(call);
  for (const auto& each : call_names) {
    if (each.number == call) name = each.name;
  }
  std::string text = "made the system call " + name + ", which entries may not make";
  for (const auto& [calls, words] : meanings) {
    if (std::ranges::find(calls, call) != calls.end()) return text + ": " + words;
  }
  return text + ": an entry has its socket, its clock and its memory; do without the rest";
}

}  // namespace kneepoint
