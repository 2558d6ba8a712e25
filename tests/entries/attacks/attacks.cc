// Malicious entries, and some that are only broken; the environment names the attack.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "entries/messages.hh"
#include "entries/page.hh"

namespace {

constexpr size_t datagram_bytes = 1472;

int connected_socket() {
  const int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9090);
  inet_pton(AF_INET, "100.64.0.2", &address.sin_addr);
  connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address);
  return descriptor;
}

void send_one(int descriptor, size_t bytes = datagram_bytes) {
  const std::string content(bytes, '\0');
  send(descriptor, content.data(), content.size(), 0);
}

void wait_for_ever() {
  while (true) poll(nullptr, 0, -1);
}

[[noreturn]] void leave(const char* words) {
  std::cerr << words << std::endl;
  std::exit(9);
}

// The tests look for these words: an attack that has succeeded prints other words.
void look_at(bool is_seen) { leave(is_seen ? "seen: the secret" : "nothing to be seen"); }

bool can_read_by_system_call(const char* path) {
  const long descriptor = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
  char content[8];
  return descriptor >= 0 and syscall(SYS_read, descriptor, content, sizeof content) > 0;
}

bool can_read_by_stream(const char* path) {
  std::ifstream file(path);
  return file.get() != EOF;
}

const char* secret() { return getenv("SECRET"); }

struct stat unseen() {
  struct stat status;
  std::memset(&status, 0x5a, sizeof status);
  return status;
}

// Whether the status distinguishes one run, or one host, from another.
bool has_times(const struct stat& status) {
  return status.st_atime != 0 or status.st_mtime != 0 or status.st_ctime != 0 or
         status.st_size != 0;
}

bool is_described(long call, const char* path, int flags = 0) {
  struct stat status = unseen();
  return syscall(call, AT_FDCWD, path, &status, flags) == 0;
}

const char* own_object() {
  Dl_info information;
  dladdr(reinterpret_cast<void*>(is_described), &information);
  return information.dli_fname;
}

int opened_object() {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, own_object(), O_RDONLY));
}

// The function of the C library, which the host replaces.
template <class Function>
Function* hidden(const char* name) {
  return reinterpret_cast<Function*>(dlsym(dlopen("libc.so.6", RTLD_NOW), name));
}

int deepen(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return deepen(depth + 1) + room[0];
}

kneepoint::EntryPage& page() {
  Dl_info information;
  dladdr(reinterpret_cast<void*>(dlsym(RTLD_DEFAULT, "poll")), &information);
  const auto base = reinterpret_cast<uintptr_t>(information.dli_fbase);
  return **reinterpret_cast<kneepoint::EntryPage**>(base +
                                                    strtoull(getenv("PAGE_OFFSET"), nullptr, 0));
}

using Messages = kneepoint::EntryMessages;
constexpr int64_t long_ago_ns = INT64_MIN;

void report(const void* message, size_t bytes) {
  syscall(SYS_write, Messages::reports_descriptor, message, bytes);
}

void hear(Messages& messages) {
  syscall(SYS_read, Messages::orders_descriptor, &messages.order, sizeof messages.order);
}

// A sender that speaks to the emulator itself, with twenty datagrams in flight. It claims that all
// of them left at the start of the run, so that they leave as early as possible.
void speak(uint32_t max_claimed = Messages::max_datagrams) {
  Messages own{};
  uint32_t in_flight = 0;
  while (true) {
    own.report = {};
    own.report.wish = Messages::arrival;
    own.report.clock_ns = long_ago_ns;
    own.report.wakes_ns = Messages::never_ns;
    for (; in_flight < 20; ++in_flight) {
      own.report.departure[own.report.departures++] = {long_ago_ns, datagram_bytes, {}};
    }
    own.report.departures = std::max(own.report.departures, max_claimed - 29);
    report(&own.report, sizeof own.report);
    hear(own);
    in_flight -= std::min(in_flight, own.order.arrivals);
  }
}

// Reports of many sizes, without a wait and with arbitrary bytes.
void babble() {
  std::vector<unsigned char> content(70'000);
  for (size_t i = offsetof(Messages::Report, departures); i < content.size(); ++i)
    content[i] = static_cast<unsigned char>(i * i >> 3);
  Messages own{};
  for (const size_t bytes : {1, 7, 8, 20, 23, 24, 25, 87, 88, 1880, 1881, 4096, 4097, 70'000}) {
    report(content.data(), bytes);
    hear(own);
  }
}

// The entry overwrites the emulator's orders before the host reads them: it only fools itself.
void forge_orders() {
  Messages own{};
  own.report = {};
  own.report.wish = Messages::arrival;
  own.report.wakes_ns = long_ago_ns;
  own.report.clock_ns = Messages::never_ns;
  own.report.departure[0] = {Messages::never_ns, datagram_bytes, {}};
  own.report.departures = 1;
  while (true) {
    report(&own.report, sizeof own.report);
    hear(own);
    own.order.arrivals = 29;
    own.report.wish = 77;
    own.report.clock_ns = -own.report.clock_ns;
  }
}

// System calls that reach other processes, the kernel or its clocks.
const std::map<std::string, long> calls{{"setpriority", SYS_setpriority},
                                        {"sched_setaffinity", SYS_sched_setaffinity},
                                        {"sched_setscheduler", SYS_sched_setscheduler},
                                        {"sched_setattr", SYS_sched_setattr},
                                        {"ioprio_set", SYS_ioprio_set},
                                        {"pidfd_open", SYS_pidfd_open},
                                        {"pidfd_send_signal", SYS_pidfd_send_signal},
                                        {"pidfd_getfd", SYS_pidfd_getfd},
                                        {"process_madvise", SYS_process_madvise},
                                        {"move_pages", SYS_move_pages},
                                        {"migrate_pages", SYS_migrate_pages},
                                        {"kcmp", SYS_kcmp},
                                        {"shmget", SYS_shmget},
                                        {"semget", SYS_semget},
                                        {"msgget", SYS_msgget},
                                        {"mq_open", SYS_mq_open},
                                        {"unshare", SYS_unshare},
                                        {"setns", SYS_setns},
                                        {"mount", SYS_mount},
                                        {"userfaultfd", SYS_userfaultfd},
                                        {"perf_event_open", SYS_perf_event_open},
                                        {"io_uring_setup", SYS_io_uring_setup},
                                        {"bpf", SYS_bpf},
                                        {"memfd_create", SYS_memfd_create},
                                        {"pipe2", SYS_pipe2},
                                        {"clone3", SYS_clone3},
                                        {"rt_sigaction", SYS_rt_sigaction},
                                        {"setitimer", SYS_setitimer},
                                        {"getrandom", SYS_getrandom},
                                        {"gettimeofday", SYS_gettimeofday},
                                        {"getrusage", SYS_getrusage},
                                        {"mincore", SYS_mincore},
                                        {"fadvise64", SYS_fadvise64},
                                        {"readahead", SYS_readahead},
                                        {"readv", SYS_readv},
                                        {"preadv2", SYS_preadv2},
                                        {"mlock", SYS_mlock},
                                        {"mlock2", SYS_mlock2},
                                        {"mlockall", SYS_mlockall},
                                        {"msync", SYS_msync},
                                        {"sync", SYS_sync},
                                        {"syncfs", SYS_syncfs},
                                        {"statfs", SYS_statfs},
                                        {"fstatfs", SYS_fstatfs},
                                        {"uname", SYS_uname},
                                        {"getcpu", SYS_getcpu},
                                        {"times", SYS_times},
                                        {"ppoll", SYS_ppoll},
                                        {"pselect6", SYS_pselect6},
                                        {"epoll_create1", SYS_epoll_create1},
                                        {"eventfd2", SYS_eventfd2},
                                        {"signalfd4", SYS_signalfd4},
                                        {"timerfd_create", SYS_timerfd_create},
                                        {"timer_create", SYS_timer_create},
                                        {"inotify_init1", SYS_inotify_init1},
                                        {"membarrier", SYS_membarrier},
                                        {"rseq", SYS_rseq},
                                        {"add_key", SYS_add_key},
                                        {"keyctl", SYS_keyctl},
                                        {"dup3", SYS_dup3},
                                        {"tee", SYS_tee},
                                        {"splice", SYS_splice},
                                        {"vmsplice", SYS_vmsplice}};

// In real time: all ways to send without the library, with content of another size.
struct Content {
  char text[2 * datagram_bytes] = {};
  iovec part{text, 10};
  msghdr message{.msg_name = nullptr,
                 .msg_namelen = 0,
                 .msg_iov = &part,
                 .msg_iovlen = 1,
                 .msg_control = nullptr,
                 .msg_controllen = 0,
                 .msg_flags = 0};
};

void send_otherwise(const std::string& way) {
  const int own = connected_socket();
  Content content;
  const char* const text = content.text;
  const int one = 1;
  const int segment = 100;
  if (way == "library") {
    write(own, text, 10);
  } else if (way == "write") {
    syscall(SYS_write, own, text, 10);
  } else if (way == "writev") {
    syscall(SYS_writev, own, &content.part, 1);
  } else if (way == "pwritev2") {
    syscall(SYS_pwritev2, own, &content.part, 1, -1, -1, 0);
  } else if (way == "dup") {
    syscall(SYS_write, syscall(SYS_dup, own), text, 10);
  } else if (way == "dup3") {
    syscall(SYS_dup3, own, 20, 0);
  } else if (way == "fcntl") {
    syscall(SYS_fcntl, own, F_DUPFD_CLOEXEC, 10);
  } else if (way == "sendto") {
    syscall(SYS_sendto, own, text, datagram_bytes - 1, 0, nullptr, 0);
  } else if (way == "continued") {
    for (int i = 0; i < 2; ++i) send(own, text, datagram_bytes, MSG_MORE);
  } else if (way == "elsewhere") {
    const sockaddr_in there{.sin_family = AF_INET,
                            .sin_port = htons(9),
                            .sin_addr = {htonl(INADDR_LOOPBACK)},
                            .sin_zero = {}};
    syscall(SYS_sendto, own, text, datagram_bytes, 0, &there, sizeof there);
  } else if (way == "sendmsg") {
    syscall(SYS_sendmsg, own, &content.message, 0);
  } else if (way == "sendmmsg") {
    mmsghdr several{content.message, 0};
    syscall(SYS_sendmmsg, own, &several, 1, 0);
  } else if (way == "sendfile") {
    syscall(SYS_sendfile, own, opened_object(), nullptr, 10);
  } else if (way == "splice") {
    syscall(SYS_splice, opened_object(), nullptr, own, nullptr, 10, 0);
  } else if (way == "vmsplice") {
    syscall(SYS_vmsplice, own, &content.part, 1, 0);
  } else if (way == "segments") {
    syscall(SYS_setsockopt, own, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment);
  } else if (way == "cork") {
    syscall(SYS_setsockopt, own, IPPROTO_UDP, UDP_CORK, &one, sizeof one);
  } else if (way == "bind") {
    syscall(SYS_bind, own, nullptr, 0);
  }
  leave("nothing was refused");
}

const std::map<std::string, void (*)()> attacks{
    {"fork_bomb",
     [] {
       while (true) fork();
     }},
    {"fork_by_system_call",
     [] {
       while (true) syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
     }},
    {"threads", [] { std::thread([] {}).join(); }},
    {"execve", [] { execl("/bin/sh", "sh", "-c", "true", nullptr); }},
    {"kill_parent", [] { syscall(SYS_kill, getppid(), SIGKILL); }},
    {"kill_all", [] { kill(-1, SIGKILL); }},
    {"signal_parent", [] { syscall(SYS_tgkill, getppid(), getppid(), SIGSTOP); }},
    {"ptrace", [] { ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr); }},
    {"write_parents_memory",
     [] {
       char byte = 0;
       iovec mine{&byte, 1};
       iovec theirs{reinterpret_cast<void*>(0x400000), 1};
       process_vm_writev(getppid(), &mine, 1, &theirs, 1, 0);
     }},
    {"raw_socket", [] { syscall(SYS_socket, AF_INET, SOCK_RAW, IPPROTO_ICMP); }},
    {"another_socket", [] { syscall(SYS_socket, AF_INET, SOCK_DGRAM, 0); }},
    {"tcp_socket",
     [] { leave(socket(AF_INET, SOCK_STREAM, 0) < 0 ? "nothing to be seen" : "seen"); }},
    {"open_file", [] { look_at(can_read_by_system_call(secret())); }},
    {"open_stream", [] { look_at(can_read_by_stream(secret())); }},
    {"read_memory", [] { look_at(can_read_by_system_call("/proc/self/maps")); }},
    {"dlopen", [] { look_at(dlopen(secret(), RTLD_NOW) != nullptr); }},
    {"unlink", [] { syscall(SYS_unlinkat, AT_FDCWD, secret(), 0); }},
    {"write_file",
     [] { look_at(syscall(SYS_openat, AT_FDCWD, secret(), O_WRONLY | O_TRUNC) >= 0); }},
    {"disk",
     [] {
       std::ofstream file(std::string(secret()) + ".filled");
       const std::string block(1 << 20, 'x');
       while (true) file << block << std::flush;
     }},
    {"memory",
     [] {
       // The memory is not touched: the limit is on address space, and CPU time has a limit of its
       // own.
       std::vector<std::unique_ptr<char[]>> all;
       while (true) all.emplace_back(new char[1 << 20]);
     }},
    {"stack", [] { deepen(0); }},
    {"endless_loop",
     [] {
       for (volatile unsigned i = 0;; i = i + 1) {
       }
     }},
    {"endless_prints",
     [] {
       while (true) std::cout << "cwnd " << 10 << std::endl;
     }},
    {"endless_errors",
     [] {
       while (true) std::cerr << "cwnd " << 10 << std::endl;
     }},
    {"busy_wait",
     [] {
       timespec now;
       while (true) clock_gettime(CLOCK_MONOTONIC, &now);
     }},
    {"never_returns",
     [] {
       uint32_t word = 0;
       syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
     }},
    {"naps",
     [] {
       const int descriptor = connected_socket();
       const timespec nap{.tv_sec = 0, .tv_nsec = 5'000'000};
       while (true) {
         uint32_t word = 0;
         syscall(SYS_futex, &word, FUTEX_WAIT, 0, &nap, nullptr, 0);
         send_one(descriptor);
         pollfd waits{descriptor, POLLIN, 0};
         poll(&waits, 1, 1);
       }
     }},
    {"exits_at_once", [] { std::exit(0); }},
    {"exits_as_if_faulty", [] { syscall(SYS_exit_group, 125); }},
    {"sends_nothing",
     [] {
       pollfd waits{connected_socket(), POLLIN, 0};
       while (true) poll(&waits, 1, 1000);
     }},
    {"sends_without_end",
     [] {
       const int descriptor = connected_socket();
       while (true) send_one(descriptor);
     }},
    {"small_datagrams",
     [] {
       send_one(connected_socket(), 48);
       wait_for_ever();
     }},
    {"large_datagrams",
     [] {
       send_one(connected_socket(), 9000);
       wait_for_ever();
     }},
    {"crashes_on_acknowledgment",
     [] {
       const int descriptor = connected_socket();
       send_one(descriptor);
       char content[64];
       recv(descriptor, content, sizeof content, 0);
       *reinterpret_cast<volatile int*>(8) = 1;
     }},
    {"throws", [] { throw std::runtime_error("the student's own words"); }},
    {"runs_its_own_code",
     [] {
       mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
     }},
    {"lifts_its_limits",
     [] {
       const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
       setrlimit(RLIMIT_CPU, &none);
     }},
    {"reads_the_real_clock",
     [] {
       timespec now;
       syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
     }},
    {"asks_the_c_library_for_the_clock",
     [] {
       timespec now{};
       hidden<int(clockid_t, timespec*)>("clock_gettime")(CLOCK_REALTIME, &now);
       leave(now.tv_sec > 0 ? "seen: the clock" : "seen");
     }},
    {"makes_the_kernels_code_run",
     [] {
       auto* const code = reinterpret_cast<void*>(getauxval(AT_SYSINFO_EHDR));
       look_at(mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0);
     }},
#ifdef __x86_64__
    {"counts_cycles", [] { leave(__builtin_ia32_rdtsc() > 0 ? "seen" : "seen"); }},
    {"counts_cycles_in_order",
     [] {
       unsigned processor;
       leave(__builtin_ia32_rdtscp(&processor) > 0 ? "seen" : "seen");
     }},
    {"asks_at_the_old_address",
     [] {
       timeval now{};
       reinterpret_cast<int (*)(timeval*, void*)>(0xffffffffff600000)(&now, nullptr);
       leave("seen: the clock");
     }},
#endif
    {"enables_cycle_counter", [] { prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0); }},
    {"own_filter",
     [] {
       sock_filter all[]{BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO)};
       const sock_fprog program{1, all};
       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
     }},
    {"own_filter_by_prctl",
     [] {
       sock_filter all[]{BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO)};
       const sock_fprog program{1, all};
       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
     }},
    {"turns_data_into_code",
     [] {
       void* const data =
           mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       look_at(mprotect(data, 4096, PROT_READ | PROT_EXEC) == 0);
     }},
    {"changes_its_code",
     [] {
       auto* const code =
           reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(&own_object) & ~uintptr_t{4095});
       mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
     }},
    {"maps_its_object_to_change_and_run",
     [] {
       mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, opened_object(), 0);
     }},
    {"maps_its_output_to_run",
     [] { mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, STDOUT_FILENO, 0); }},
    {"looks_up", [] { look_at(is_described(SYS_newfstatat, secret())); }},
    {"looks_up_with_an_empty_path",
     [] { look_at(is_described(SYS_newfstatat, secret(), AT_EMPTY_PATH)); }},
    {"looks_up_by_name",
     [] {
       struct stat status = unseen();
       look_at(stat(secret(), &status) == 0 or lstat(secret(), &status) == 0);
     }},
    {"looks_up_by_statx",
     [] {
       struct statx status;
       look_at(syscall(SYS_statx, AT_FDCWD, secret(), 0, STATX_ALL, &status) == 0);
     }},
    {"looks_up_by_place",
     [] {
       const long place = syscall(SYS_openat, AT_FDCWD, secret(), O_PATH);
       struct stat status = unseen();
       look_at(place >= 0 and syscall(SYS_fstat, place, &status) == 0);
     }},
    {"opens_by_a_newer_call",
     [] {
       uint64_t how[3]{};
       look_at(syscall(SYS_openat2, AT_FDCWD, secret(), how, sizeof how) >= 0);
     }},
    {"asks_for_access", [] { look_at(syscall(SYS_faccessat, AT_FDCWD, secret(), R_OK) == 0); }},
    {"which_processors",
     [] {
       unsigned long processors[16]{};
       syscall(SYS_sched_getaffinity, 0, sizeof processors, processors);
       look_at(processors[0] != 1);
     }},
    {"follows_links",
     [] {
       char target[64];
       look_at(syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", target, sizeof target) >= 0);
     }},
    {"asks_for_its_folder",
     [] {
       char folder[4096];
       look_at(syscall(SYS_getcwd, folder, sizeof folder) >= 0);
     }},
    {"opens_the_root", [] { look_at(syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY) >= 0); }},
    {"times_of_its_output",
     [] {
       bool is_seen = false;
       for (int descriptor = 0; descriptor < 3; ++descriptor) {
         struct stat status = unseen();
         fstat(descriptor, &status);
         is_seen = is_seen or has_times(status);
         status = unseen();
         syscall(SYS_fstat, descriptor, &status);
         is_seen = is_seen or has_times(status);
       }
       look_at(is_seen);
     }},
    {"times_of_its_object",
     [] {
       struct stat status = unseen();
       syscall(SYS_fstat, opened_object(), &status);
       struct stat by_name = unseen();
       const bool is_named = stat(own_object(), &by_name) == 0;
       look_at(is_named or (status.st_mode != unseen().st_mode and has_times(status)));
     }},
    {"which_process",
     [] {
       const long own[]{getpid(),
                        gettid(),
                        getppid(),
                        syscall(SYS_getpid),
                        syscall(SYS_gettid),
                        syscall(SYS_getppid)};
       std::string words = "numbers";
       for (const long number : own) words += " " + std::to_string(number);
       leave(words.c_str());
     }},
    {"which_seed",
     [] {
       const auto* const drawn = reinterpret_cast<const unsigned char*>(getauxval(AT_RANDOM));
       std::string words = "words";
       for (int i = 0; i < 16; ++i) words += " " + std::to_string(drawn[i]);
       const void* const places[]{&words, std::malloc(100), reinterpret_cast<void*>(&own_object),
                                  reinterpret_cast<void*>(&std::exit), environ};
       for (const void* const each : places) {
         words += " " + std::to_string(reinterpret_cast<uintptr_t>(each));
       }
       words += " " + std::to_string(time(nullptr)) + " " + std::to_string(getpid());
       words += std::string(" ") + own_object();
       leave(words.c_str());
     }},
    {"calls",
     [] {
       const pid_t other = getppid();
       syscall(calls.at(getenv("CALL")), other, other, 0, 0, 0, 0);
     }},
    {"sends_otherwise", [] { send_otherwise(getenv("WAY")); }},
    {"moves_pages_of_files",
     [] {
       const int advice[]{MADV_WILLNEED,  MADV_SEQUENTIAL, MADV_RANDOM,
                          MADV_COLD,      MADV_PAGEOUT,    MADV_POPULATE_READ,
                          MADV_MERGEABLE, MADV_HUGEPAGE,   MADV_REMOVE};
       const auto code = reinterpret_cast<uintptr_t>(&own_object) & ~uintptr_t{4095};
       bool is_done = false;
       for (const int each : advice) {
         is_done = is_done or madvise(reinterpret_cast<void*>(code), 4096, each) == 0;
       }
       look_at(is_done);
     }},
    {"lock_with_the_process_number",
     [] {
       uint32_t word = 0;
       syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, nullptr, nullptr, 0);
       look_at(word != 0);
     }},
    {"looks_for_holes", [] { look_at(syscall(SYS_lseek, opened_object(), 0, SEEK_HOLE) >= 0); }},
    {"takes_large_pages",
     [] {
       mmap(nullptr, 1 << 21, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1,
            0);
     }},
#ifdef __x86_64__
    {"calls_as_32_bits",
     [] {
       long result = 20;  // getpid
       asm volatile("int $0x80" : "+a"(result));
       look_at(result >= 0);
     }},
    {"calls_as_x32", [] { look_at(syscall(0x40000000 | SYS_getpid) >= 0); }},
#endif
    {"scribbles_over_page",
     [] {
       std::memset(static_cast<void*>(&page()), 0xff, 4096);
       std::exit(0);
     }},
    {"blames_a_call",
     [] {
       page().denied_call = SYS_kill;
       std::exit(0);
     }},
    {"unmaps_page",
     [] {
       munmap(&page(), 4096);
       syscall(SYS_kill, 1, SIGKILL);
     }},
    {"speaks_itself", [] { speak(); }},
    {"claims_more_than_it_says", [] { speak(UINT32_MAX); }},
    {"babbles", babble},
    {"forges_orders", forge_orders},
    {"reports_without_hearing",
     [] {
       Messages::Report own{};
       while (true) report(&own, sizeof own);
     }},
    {"hears_without_reporting",
     [] {
       Messages own;
       hear(own);
     }},
    {"closes_its_reports",
     [] {
       syscall(SYS_close, Messages::reports_descriptor);
       wait_for_ever();
     }},
    {"closes_its_orders",
     [] {
       syscall(SYS_close, Messages::orders_descriptor);
       usleep(1000);
       wait_for_ever();
     }},
    {"closes_everything",
     [] {
       for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);
       send_one(connected_socket());
       leave("it goes on");
     }},
    // An entry that sees an answer without waiting for it has a clock: it counts until the answer
    // arrives.
    {"peeks_at_orders_by_their_size",
     [] {
       int bytes;
       syscall(SYS_ioctl, Messages::orders_descriptor, FIONREAD, &bytes);
     }},
    {"peeks_at_orders_without_waiting",
     [] { syscall(SYS_fcntl, Messages::orders_descriptor, F_SETFL, O_NONBLOCK); }},
    {"peeks_at_orders_by_a_copy",
     [] { syscall(SYS_tee, Messages::orders_descriptor, 1, 1, SPLICE_F_NONBLOCK); }},
    {"peeks_at_orders_by_a_newer_read",
     [] {
       Messages::Order order;
       iovec part{&order, sizeof order};
       syscall(SYS_preadv2, Messages::orders_descriptor, &part, 1, -1, -1, RWF_NOWAIT);
     }},
    {"sees_a_reader_of_its_words",
     [] {
       const std::string words(4096, '\n');
       bool is_refused = false;
       for (int i = 0; i < 2000; ++i) {
         is_refused = is_refused or syscall(SYS_write, STDERR_FILENO, words.data(), words.size()) !=
                                        static_cast<long>(words.size());
       }
       look_at(is_refused);
     }},
    {"counts_how_often_it_is_interrupted",
     [] {
       // Where the kernel reports the processor's number to the C library, restartable sequences
       // reveal each interruption.
       const auto* const area =
           static_cast<const char*>(__builtin_thread_pointer()) + __rseq_offset;
       look_at(__rseq_size != 0 and *reinterpret_cast<const int*>(area + 4) >= 0);
     }},
};

}  // namespace

int main() {
  attacks.at(getenv("ATTACK"))();
  wait_for_ever();
}

namespace {

// Constructed last, after everything that the attacks need.
const bool is_early = [] {
  if (getenv("WHILE_LOADING") != nullptr) attacks.at(getenv("ATTACK"))();
  return true;
}();

}  // namespace
