#include "entries/confinement.hh"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <vector>

namespace kneepoint {

namespace {

constexpr uint64_t whole = ~uint64_t{0};
constexpr uint64_t as_int = 0xffffffff;

EntryPage* told = nullptr;

void tell(int call) { told->denied_call = call; }

// Calls of any program that computes and writes to its output.
void allow_computing(CallFilter& filter) {
  constexpr auto allow = CallFilter::allow;
  filter.rules(
      {SYS_futex, SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_write, SYS_writev, SYS_close,
       SYS_exit, SYS_exit_group, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_gettid, SYS_getpid,
       SYS_getppid, SYS_fstat, SYS_lseek, SYS_dup, SYS_clock_getres},
      allow);
  filter.rule(SYS_ioctl, allow, {{1, as_int, TCGETS}});
  filter.rule(SYS_fcntl, allow, {{1, as_int, F_GETFL}});
  filter.rule(SYS_fcntl, allow, {{1, as_int, F_GETFD}});
  // abort()
  const auto self = static_cast<uint64_t>(syscall(SYS_getpid));
  filter.rule(SYS_tgkill, allow, {{0, as_int, self}, {2, as_int, SIGABRT}});
}

// Files do not exist; the C library looks for some by itself.
void refuse_files(CallFilter& filter) {
  filter.rules({SYS_openat, SYS_openat2, SYS_faccessat, SYS_faccessat2, SYS_newfstatat, SYS_statx,
                SYS_readlinkat},
               CallFilter::refuse(EACCES));
#ifdef __x86_64__
  filter.rules({SYS_open, SYS_creat, SYS_access, SYS_readlink, SYS_stat, SYS_lstat},
               CallFilter::refuse(EACCES));
#endif
}

void allow_loading(CallFilter& filter) {
  constexpr auto allow = CallFilter::allow;
  filter.rule(SYS_openat, allow, {{2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY}});
  filter.rules({SYS_read, SYS_pread64, SYS_newfstatat, SYS_mmap, SYS_mprotect, SYS_getcwd,
                SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_statx},
               allow);
#ifdef __x86_64__
  filter.rules({SYS_access, SYS_readlink, SYS_stat}, allow);
#endif
  filter.rule(SYS_seccomp, allow, {{0, as_int, SECCOMP_SET_MODE_FILTER}});
  filter.rule(SYS_prctl, allow, {{0, as_int, PR_SET_TSC}});
}

void allow_socket(CallFilter& filter, const RealSocket& socket) {
  constexpr auto allow = CallFilter::allow;
  // Whole datagrams, to the receiver only.
  filter.rule(SYS_sendto, allow,
              {{0, as_int, static_cast<uint64_t>(socket.descriptor)},
               {2, whole, socket.datagram_bytes},
               {4, whole, 0}});
  for (const uint64_t option : {SO_TIMESTAMP, SO_TIMESTAMPNS, SO_RCVTIMEO, SO_RCVBUF, SO_SNDBUF}) {
    filter.rule(SYS_setsockopt, allow, {{1, as_int, SOL_SOCKET}, {2, as_int, option}});
  }
  filter.rule(SYS_fcntl, allow, {{1, as_int, F_SETFL}});
  filter.rule(SYS_ioctl, allow, {{1, as_int, FIONBIO}});
  filter.rule(SYS_ioctl, allow, {{1, as_int, FIONREAD}});
  filter.rule(SYS_ioctl, allow, {{1, as_int, TIOCOUTQ}});
  filter.rule(SYS_clone, allow, {{0, CLONE_THREAD | CLONE_NEWUSER, CLONE_THREAD}});
  filter.rule(SYS_clone3, CallFilter::refuse(ENOSYS));  // its flags are out of sight
  filter.rule(SYS_prctl, allow, {{0, as_int, PR_SET_NAME}});
  filter.rules({SYS_recvfrom,
                SYS_recvmsg,
                SYS_read,
                SYS_getsockopt,
                SYS_getsockname,
                SYS_getpeername,
                SYS_ppoll,
                SYS_pselect6,
                SYS_epoll_create1,
                SYS_epoll_ctl,
                SYS_epoll_pwait,
                SYS_timerfd_create,
                SYS_timerfd_settime,
                SYS_clock_gettime,
                SYS_clock_nanosleep,
                SYS_nanosleep,
                SYS_gettimeofday,
                SYS_getrandom,
                SYS_getrusage,
                SYS_times,
                SYS_sched_yield,
                SYS_set_robust_list,
                SYS_rseq,
                SYS_rt_sigaction,
                SYS_restart_syscall,
                SYS_sched_getaffinity},
               allow);
#ifdef __x86_64__
  filter.rules({SYS_poll, SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_time}, allow);
#endif
}

// The processor's own clock is disabled; reading it raises SIGSEGV.
void forbid_cycle_counter() { syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0); }

// Code comes from files alone.
void allow_memory(CallFilter& filter) {
  constexpr uint64_t not_run = PROT_EXEC;
  filter.rule(SYS_mmap, CallFilter::allow, {{2, not_run, 0}, {3, MAP_ANONYMOUS, MAP_ANONYMOUS}});
  filter.rule(SYS_mprotect, CallFilter::allow, {{2, not_run, 0}});
}

void deny_files_but(EntryPage& page, const std::vector<std::string>& readable,
                    const Limits& limits) {
  told = &page;
  set_limits(limits);
  drop_privileges();
  FileRules files;
  for (const char* const folder :
       {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"}) {
    files.read(folder);
  }
  for (const std::string& each : readable) files.read(each);
  files.enter();
  hear_of_trapped_calls(tell);
}

}  // namespace

void confine_loading(EntryPage& page, const std::string& object, const Limits& limits,
                     const RealSocket* socket) {
  deny_files_but(page, {object}, limits);
  CallFilter filter(CallFilter::trap);
  allow_computing(filter);
  allow_loading(filter);
  refuse_files(filter);
  if (socket != nullptr) allow_socket(filter, *socket);  // both filters are asked for ever
  filter.enter();
}

void confine_interpreter(EntryPage& page, const Interpreter& interpreter, const std::string& object,
                         const Limits& limits, const RealSocket* socket) {
  const auto prefix = std::filesystem::path(interpreter.file).parent_path().parent_path();
  deny_files_but(page, {prefix / "lib", interpreter.program, object}, limits);
  if (socket == nullptr) forbid_cycle_counter();
  CallFilter filter(CallFilter::trap);
  allow_computing(filter);
  allow_memory(filter);
  constexpr auto allow = CallFilter::allow;
  for (const uint64_t never : {PROT_WRITE, PROT_EXEC}) {  // together, of a module's file
    filter.rule(SYS_mmap, allow, {{2, never, 0}, {3, MAP_ANONYMOUS, 0}});
  }
  filter.rule(SYS_openat, allow, {{2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY}});
  for (const uint64_t command : {F_SETFD, F_DUPFD_CLOEXEC}) {
    filter.rule(SYS_fcntl, allow, {{1, as_int, command}});
  }
  filter.rule(SYS_ioctl, allow, {{1, as_int, FIOCLEX}});
  filter.rules(
      {SYS_read, SYS_pread64, SYS_newfstatat, SYS_statx, SYS_getdents64, SYS_getcwd, SYS_readlinkat,
       SYS_faccessat, SYS_faccessat2, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid},
      allow);
#ifdef __x86_64__
  filter.rules({SYS_access, SYS_readlink, SYS_stat, SYS_lstat}, allow);
#endif
  filter.rule(SYS_sysinfo, CallFilter::refuse(EPERM));  // has a clock; qsort(3) does without
  refuse_files(filter);
  if (socket != nullptr) allow_socket(filter, *socket);
  filter.enter();
}

void confine_running(const RealSocket* socket) {
  CallFilter filter(CallFilter::trap);
  allow_computing(filter);
  allow_memory(filter);
  refuse_files(filter);
  if (socket != nullptr) {
    allow_socket(filter, *socket);
  } else {
    forbid_cycle_counter();
  }
  filter.enter();
}

}  // namespace kneepoint
