#include "entries/confinement.hh"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "entries/given_files.hh"
#include "entries/interpreter_files.hh"
#include "entries/messages.hh"
#include "entries/namespaces.hh"

namespace kneepoint {

namespace {

constexpr uint64_t whole = ~uint64_t{0};
constexpr uint64_t as_int = 0xffffffff;

constexpr int object_descriptor = 31;  // beyond the descriptors that a sender opens
constexpr long process_id = 1;         // of every entry
#ifdef __x86_64__
constexpr uint64_t large_file = 0100000;  // the kernel's value; the C library's may be 0
#else
constexpr uint64_t large_file = 0400000;
#endif

EntryPage* the_page = nullptr;
std::string the_object;

// It reveals neither the host's load nor its uptime.
constexpr struct sysinfo memory_of_all{
    .uptime = 0,
    .loads = {},
    .totalram = 1 << 18,
    .freeram = 1 << 18,
    .sharedram = 0,
    .bufferram = 0,
    .totalswap = 0,
    .freeswap = 0,
    .procs = 1,
    .pad = 0,
    .totalhigh = 0,
    .freehigh = 0,
    .mem_unit = 4096,
    ._f = {},
};

struct Status {
  int descriptor;
  struct stat* place;
};

// Without times and sizes: they differ between hosts, and some of them between runs.
long describe(Status status) {
  if (syscall(SYS_fcntl, status.descriptor, F_GETFD) < 0) return -EBADF;
  const bool is_object = status.descriptor == object_descriptor;
  *status.place = {};
  status.place->st_ino = is_object ? 2 : 1;  // by which the dynamic linker distinguishes files
  status.place->st_mode = is_object ? S_IFREG | 0444 : S_IFCHR | 0666;
  status.place->st_nlink = 1;
  status.place->st_blksize = 4096;
  return 0;
}

template <class Value>
Value* pointer(uint64_t word) {
  return reinterpret_cast<Value*>(word);  // a bad pointer ends the process, as elsewhere
}

std::optional<long> answer_anyone(int call, const std::array<uint64_t, 6>& arguments) {
  constexpr int as_shells_tell = 128;
  switch (call) {
    case SYS_getpid:
    case SYS_gettid:
      return process_id;
    case SYS_getppid:
    case SYS_getuid:
    case SYS_geteuid:
    case SYS_getgid:
    case SYS_getegid:
      return 0;
    case SYS_sched_getaffinity: {  // for hardware_concurrency and cpu_count: one
      auto* const processors = pointer<uint64_t>(arguments[2]);
      if (arguments[1] < sizeof *processors) return -EINVAL;
      *processors = 1;
      return sizeof *processors;
    }
    case SYS_prlimit64:  // for getrlimit and sysconf
      if (arguments[2] != 0 or arguments[3] == 0) break;
      *pointer<rlimit>(arguments[3]) = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
      return 0;
    case SYS_umask:
      return S_IWGRP | S_IWOTH;
    case SYS_sysinfo:  // qsort asks how much memory there is
      *pointer<struct sysinfo>(arguments[0]) = memory_of_all;
      return 0;
    case SYS_tgkill:
      // abort(), whose signal the first process of a namespace would ignore.
      if (arguments[2] == SIGABRT) syscall(SYS_exit_group, as_shells_tell + SIGABRT);
      break;
    default:
      break;
  }
  the_page->denied_call = call;
  return std::nullopt;
}

std::optional<long> answer_sender(int call, const std::array<uint64_t, 6>& arguments) {
  switch (call) {
    case SYS_openat:
      return the_object == pointer<char>(arguments[1]) ? object_descriptor : -ENOENT;
    case SYS_fstat:
      return describe({static_cast<int>(arguments[0]), pointer<struct stat>(arguments[1])});
    case SYS_newfstatat:
      if (*pointer<char>(arguments[1]) != '\0') return -ENOENT;
      return describe({static_cast<int>(arguments[0]), pointer<struct stat>(arguments[2])});
    default:
      return answer_anyone(call, arguments);
  }
}

// Describes an opened file by its kind and its size, and by nothing that depends on the host, the
// time of the run or the user. The dynamic linker distinguishes files by their numbers.
void describe_opened(int descriptor, struct stat& place) {
  static ino_t number = 2;
  const bool is_folder = syscall(SYS_getdents64, descriptor, nullptr, 0) >= 0 or errno != ENOTDIR;
  const long at = is_folder ? 0 : syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
  place = {};
  place.st_dev = 1;
  place.st_ino = ++number;
  place.st_mode = is_folder ? S_IFDIR | 0555 : at < 0 ? S_IFIFO | 0400 : S_IFREG | 0444;
  place.st_nlink = 1;
  place.st_blksize = 4096;
  if (is_folder or at < 0) return;
  place.st_size = syscall(SYS_lseek, descriptor, 0, SEEK_END);
  syscall(SYS_lseek, descriptor, at, SEEK_SET);
}

// A file that may not be opened does not exist.
long look(int folder, const char* path, struct stat* place) {
  const bool is_descriptor = path == nullptr or *path == '\0';
  const long opened = is_descriptor
                          ? folder
                          : syscall(SYS_openat, folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  if (opened < 0) return -errno;
  const auto descriptor = static_cast<int>(opened);
  long failed = 0;
  if (descriptor <= STDERR_FILENO or syscall(SYS_fcntl, descriptor, F_GETFD) < 0) {
    struct stat other;
    failed = describe({descriptor, place == nullptr ? &other : place});
  } else if (place != nullptr) {
    describe_opened(descriptor, *place);
  }
  if (not is_descriptor) syscall(SYS_close, descriptor);
  return failed;
}

std::optional<long> answer_interpreter(int call, const std::array<uint64_t, 6>& arguments) {
  const auto folder = static_cast<int>(arguments[0]);
  switch (call) {
    case SYS_fstat:
      return look(folder, nullptr, pointer<struct stat>(arguments[1]));
    case SYS_newfstatat:
      return look(folder, pointer<char>(arguments[1]), pointer<struct stat>(arguments[2]));
    case SYS_faccessat:
    case SYS_faccessat2:
      return look(folder, pointer<char>(arguments[1]), nullptr);
#ifdef __x86_64__
    case SYS_stat:
    case SYS_lstat:
      return look(AT_FDCWD, pointer<char>(arguments[0]), pointer<struct stat>(arguments[1]));
    case SYS_access:
      return look(AT_FDCWD, pointer<char>(arguments[0]), nullptr);
#endif
    default:
      return answer_anyone(call, arguments);
  }
}

// Calls of any program that computes and writes to its output.
void allow_computing(CallFilter& filter) {
  constexpr auto allow = CallFilter::allow;
  filter.rules({SYS_brk, SYS_munmap, SYS_mremap, SYS_write, SYS_writev, SYS_close, SYS_exit,
                SYS_exit_group, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_dup, SYS_clock_getres},
               allow);
  // Priority-inheriting futexes, which contain the process's number, are not allowed.
  constexpr uint64_t operation = as_int & ~uint64_t{FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME};
  for (const uint64_t each : {FUTEX_WAIT, FUTEX_WAKE, FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET}) {
    filter.rule(SYS_futex, allow, {{1, operation, each}});
  }
  // No advice that moves pages of files into or out of memory, where a later run could notice it.
  for (const uint64_t advice : {MADV_DONTNEED, MADV_FREE}) {
    filter.rule(SYS_madvise, allow, {{2, as_int, advice}});
  }
  filter.rule(SYS_madvise, CallFilter::refuse(EINVAL));
  for (const uint64_t from : {SEEK_SET, SEEK_CUR, SEEK_END}) {
    filter.rule(SYS_lseek, allow, {{2, as_int, from}});
  }
  filter.rule(SYS_ioctl, allow, {{1, as_int, TCGETS}});
  for (const uint64_t command : {F_GETFL, F_GETFD}) {
    filter.rule(SYS_fcntl, allow, {{1, as_int, command}});
  }
}

// Files do not exist; the C library looks for some by itself.
void refuse_files(CallFilter& filter) {
  filter.rules({SYS_openat2, SYS_faccessat, SYS_faccessat2, SYS_statx, SYS_readlinkat, SYS_getcwd},
               CallFilter::refuse(ENOENT));
#ifdef __x86_64__
  filter.rules({SYS_open, SYS_creat, SYS_access, SYS_readlink, SYS_stat, SYS_lstat},
               CallFilter::refuse(ENOENT));
#endif
}

// The socket has one descriptor, and one call sends, whose arguments show the size. This rule comes
// before the rules that allow these calls on other descriptors.
void deny_other_sends(CallFilter& filter) {
  for (const long call : {SYS_write, SYS_writev, SYS_dup, SYS_fcntl}) {
    std::vector<CallFilter::Argument> on_socket{{0, as_int, EntryPage::socket_descriptor}};
    if (call == SYS_fcntl) on_socket.push_back({1, as_int, F_DUPFD_CLOEXEC});
    filter.rule(call, CallFilter::trap, on_socket);
  }
}

void allow_socket(CallFilter& filter, uint64_t datagram_bytes) {
  constexpr auto allow = CallFilter::allow;
  // Only whole datagrams to the receiver, without MSG_MORE.
  constexpr uint64_t other_flags = as_int & ~uint64_t{MSG_DONTWAIT | MSG_NOSIGNAL | MSG_CONFIRM};
  filter.rule(SYS_sendto, allow,
              {{0, as_int, EntryPage::socket_descriptor},
               {2, whole, datagram_bytes},
               {3, other_flags, 0},
               {4, whole, 0}});
  for (const uint64_t option : {SO_TIMESTAMP, SO_TIMESTAMPNS, SO_RCVTIMEO, SO_RCVBUF, SO_SNDBUF}) {
    filter.rule(SYS_setsockopt, allow, {{1, as_int, SOL_SOCKET}, {2, as_int, option}});
  }
  filter.rule(SYS_fcntl, allow, {{1, as_int, F_SETFL}});
  filter.rule(SYS_ioctl, allow, {{1, as_int, FIONBIO}});
  filter.rule(SYS_ioctl, allow, {{1, as_int, FIONREAD}});
  filter.rule(SYS_ioctl, allow, {{1, as_int, TIOCOUTQ}});
  filter.rule(SYS_clone, allow, {{0, CLONE_THREAD | CLONE_NEWUSER, CLONE_THREAD}});
  filter.rule(SYS_clone3, CallFilter::refuse(ENOSYS));  // a filter cannot see its flags
  filter.rule(SYS_prctl, allow, {{0, as_int, PR_SET_NAME}});
  filter.rules({SYS_recvfrom, SYS_recvmsg, SYS_read, SYS_fstat, SYS_getsockopt, SYS_getsockname,
                SYS_getpeername},
               allow);
  filter.rules({SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait,
                SYS_timerfd_create, SYS_timerfd_settime, SYS_clock_nanosleep, SYS_nanosleep,
                SYS_restart_syscall},
               allow);
  filter.rules({SYS_clock_gettime, SYS_gettimeofday, SYS_getrandom, SYS_getrusage, SYS_times,
                SYS_getpid, SYS_gettid, SYS_getppid},
               allow);
  // Threads.
  filter.rules(
      {SYS_sched_yield, SYS_sched_getaffinity, SYS_set_robust_list, SYS_rseq, SYS_rt_sigaction},
      allow);
#ifdef __x86_64__
  filter.rules({SYS_poll, SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_time}, allow);
#endif
}

// Calls `act` with each mapping of this process: its place, its size and its line of proc(5).
void for_each_mapping(const auto& act) {
  const long file = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  std::string text;
  std::array<char, 4096> part;
  for (long bytes; (bytes = syscall(SYS_read, file, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<size_t>(bytes));
  }
  syscall(SYS_close, file);
  size_t begin = 0;
  for (size_t newline; (newline = text.find('\n', begin)) != std::string::npos;) {
    const std::string line = text.substr(begin, newline - begin);
    begin = newline + 1;
    char* end = nullptr;
    const uint64_t from = std::strtoull(line.c_str(), &end, 16);
    act(from, std::strtoull(end + 1, nullptr, 16) - from, line);
  }
}

// In virtual time there is no other clock: reading the cycle counter raises SIGSEGV, the kernel's
// pages with the time are gone, and the kernel's code that reads these pages, in which the dynamic
// linker looks up names, cannot run.
void hide_clocks() {
  syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  for_each_mapping([](uint64_t from, uint64_t bytes, const std::string& line) {
    const bool is_code = line.ends_with("[vdso]");
    if (not is_code and line.find("[vvar") == std::string::npos) return;
    const long failed =
        is_code ? syscall(SYS_mprotect, from, bytes, PROT_READ) : syscall(SYS_munmap, from, bytes);
    if (failed != 0) refuse_sandbox(line);
  });
}

// Clears the random bytes that the kernel gives each program; the C library has used them already.
void forget_random_bytes() {
  constexpr size_t bytes = 16;
  std::memset(reinterpret_cast<void*>(getauxval(AT_RANDOM)), 0, bytes);
}

// Reads all mapped pages of files: until they are read, it depends on earlier runs which pages are
// in memory.
void read_through_mappings() {
  for_each_mapping([](uint64_t from, uint64_t bytes, const std::string& line) {
    constexpr uint64_t page_bytes = 4096;
    const size_t rights = line.find(' ') + 1;
    if (line[rights] != 'r' or line.find('/') == std::string::npos) return;
    for (uint64_t at = from; at < from + bytes; at += page_bytes) {
      static_cast<void>(*reinterpret_cast<const volatile char*>(at));
    }
  });
}

// Only files provide code: other memory cannot be executed.
void allow_memory(CallFilter& filter) {
  constexpr uint64_t not_run = PROT_EXEC;
  constexpr uint64_t of_the_host = MAP_HUGETLB | MAP_LOCKED;
  filter.rule(SYS_mmap, CallFilter::allow,
              {{2, not_run, 0}, {3, MAP_ANONYMOUS | of_the_host, MAP_ANONYMOUS}});
  filter.rule(SYS_mprotect, CallFilter::allow, {{2, not_run, 0}});
}

// Mappings of this file, or of any file: as data that may change, or as code that may not.
void allow_mapping(CallFilter& filter, std::optional<int> descriptor) {
  for (const uint64_t never : {PROT_WRITE, PROT_EXEC}) {
    std::vector<CallFilter::Argument> arguments{{2, never, 0}, {3, MAP_ANONYMOUS, 0}};
    if (descriptor) arguments.push_back({4, as_int, static_cast<uint64_t>(*descriptor)});
    filter.rule(SYS_mmap, CallFilter::allow, arguments);
  }
}

// All restrictions except the filter of calls. Only the files `shown` exist, and only the files
// `allowed` may be used.
void deny_all_but(EntryPage& page, const Files& shown, const Files& allowed,
                  const ResourceLimits& limits, Answer answer) {
  the_page = &page;
  if (page.datagram_bytes == 0) hide_clocks();
  forget_random_bytes();
  read_through_mappings();
  if (is_first_process()) show_only(shown);
  syscall(SYS_chdir, "/");
  set_limits(limits);
  drop_privileges();
  allow_only(allowed);
  answer_trapped_calls(answer);
  if (page.datagram_bytes == 0) answer_cycle_counter();
}

void open_object() {
  const long opened = syscall(SYS_openat, AT_FDCWD, the_object.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0 or syscall(SYS_dup3, opened, object_descriptor, O_CLOEXEC) < 0) {
    refuse_sandbox(the_object);
  }
  syscall(SYS_close, opened);
}

}  // namespace

void confine_sender(EntryPage& page, const std::string& object, const ResourceLimits& limits) {
  the_object = object;
  open_object();
  deny_all_but(page, {}, {}, limits, answer_sender);
  CallFilter filter(CallFilter::trap);
  if (page.datagram_bytes != 0) deny_other_sends(filter);
  allow_computing(filter);
  allow_memory(filter);
  allow_mapping(filter, object_descriptor);
  for (const long call : {SYS_read, SYS_pread64}) {
    filter.rule(call, CallFilter::allow, {{0, as_int, object_descriptor}});
    filter.rule(call, CallFilter::allow,
                {{0, as_int & ~uint64_t{given_descriptors - 1}, first_given}});
  }
  filter.rule(SYS_read, CallFilter::allow, {{0, as_int, EntryMessages::orders_descriptor}});
  refuse_files(filter);
  if (page.datagram_bytes != 0) allow_socket(filter, page.datagram_bytes);
  filter.enter();
}

void confine_interpreter(EntryPage& page, const Interpreter& interpreter, const std::string& object,
                         const ResourceLimits& limits) {
  Files shown{.copied = files_of_interpreter(interpreter.file)};
  for (const std::string& path : {std::string("/etc/ld.so.cache"), interpreter.program, object}) {
    shown.copied[path] = path;
  }
  deny_all_but(page, shown, {.readable = {"/"}}, limits, answer_interpreter);
  CallFilter filter(CallFilter::trap);
  if (page.datagram_bytes != 0) deny_other_sends(filter);
  allow_computing(filter);
  allow_memory(filter);
  allow_mapping(filter, std::nullopt);
  constexpr auto allow = CallFilter::allow;
  constexpr uint64_t harmless = O_CLOEXEC | O_NONBLOCK | O_DIRECTORY | O_NOFOLLOW | O_NOCTTY;
  filter.rule(SYS_openat, allow, {{2, as_int & ~(harmless | large_file), O_RDONLY}});
  filter.rule(SYS_openat, CallFilter::refuse(EACCES));
  for (const uint64_t command : {F_SETFD, F_DUPFD_CLOEXEC}) {
    filter.rule(SYS_fcntl, allow, {{1, as_int, command}});
  }
  filter.rule(SYS_ioctl, allow, {{1, as_int, FIOCLEX}});
  filter.rule(SYS_fstat, CallFilter::trap);
  filter.rules({SYS_read, SYS_pread64, SYS_getdents64, SYS_getcwd}, allow);
  filter.rule(SYS_readlinkat, CallFilter::refuse(EINVAL));  // nothing is a link
#ifdef __x86_64__
  filter.rule(SYS_readlink, CallFilter::refuse(EINVAL));
#endif
  for (const long call : {SYS_newfstatat, SYS_faccessat, SYS_faccessat2}) {
    filter.rule(call, CallFilter::trap);
  }
#ifdef __x86_64__
  filter.rules({SYS_stat, SYS_lstat, SYS_access}, CallFilter::trap);
#endif
  refuse_files(filter);
  if (page.datagram_bytes != 0) allow_socket(filter, page.datagram_bytes);
  filter.enter();
}

}  // namespace kneepoint
