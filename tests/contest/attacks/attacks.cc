// Entries that mean harm, and some that are only broken: the environment names
// the attack.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

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

// Words that the tests look for: an attack that got what it wanted says
// something else.
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

bool seen_while_loading = false;
const bool has_looked = [] {
  const char* const attack = getenv("ATTACK");
  if (attack == nullptr) return false;
  if (std::string(attack) == "static_constructor") {
    seen_while_loading = can_read_by_system_call(secret());
  }
  if (std::string(attack) == "fork_while_loading") syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  return true;
}();

int deepen(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return deepen(depth + 1) + room[0];
}

// The page, as far as an attacker can know its layout.
struct Departure {
  int64_t clock_ns;
  uint64_t bytes;
  char header[48];
};
constexpr size_t page_bytes = 4096;

char* page() {
  Dl_info information;
  dladdr(reinterpret_cast<void*>(dlsym(RTLD_DEFAULT, "poll")), &information);
  const auto base = reinterpret_cast<uintptr_t>(information.dli_fbase);
  auto*** const host =
      reinterpret_cast<char***>(base + strtoull(getenv("HOST_OFFSET"), nullptr, 0));
  return **host;  // a host's first member refers to the page
}

template <class Value>
Value& at(size_t offset) {
  return *reinterpret_cast<Value*>(page() + offset);
}

size_t offset_of_report() { return strtoull(getenv("REPORT_OFFSET"), nullptr, 0); }

void give_turn_and_run_on() {
  __atomic_store_n(&at<uint32_t>(0), 0, __ATOMIC_RELEASE);
  syscall(SYS_futex, page(), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void race_for_page() {
  const int descriptor = connected_socket();
  send_one(descriptor);
  auto& wish = at<uint32_t>(offset_of_report() + 16);
  auto& count = at<uint32_t>(offset_of_report() + 20);
  auto& first = at<Departure>(offset_of_report() + 24);
  for (uint32_t round = 0;; ++round) {
    wish = round;
    count = round % 2 == 0 ? 1 : 4'000'000'000;
    first.bytes = round % 3 == 0 ? 40 : datagram_bytes;
    first.clock_ns = static_cast<int64_t>(round) << 40;
    if (round % 64 == 0) give_turn_and_run_on();
  }
}

// Every departure is claimed to have been at the run's beginning.
void forge_times() {
  const int descriptor = connected_socket();
  uint64_t in_flight = 0;
  while (true) {
    while (in_flight < 20) {
      send_one(descriptor);
      ++in_flight;
      auto* const departures = &at<Departure>(offset_of_report() + 24);
      for (size_t i = 0; i < 29; ++i) departures[i].clock_ns = INT64_MIN;
    }
    char content[64];
    recv(descriptor, content, sizeof content, 0);
    --in_flight;
  }
}

// What the emulator has to say is written over before the host reads it: it
// only fools itself.
void forge_acknowledgments() {
  const int descriptor = connected_socket();
  send_one(descriptor);
  pollfd waits{descriptor, POLLIN, 0};
  while (true) {
    poll(&waits, 1, 10);
    at<uint32_t>(offset_of_report() - 29 * 64 - 8) = 29;
    send_one(descriptor);
  }
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
    {"fork_while_loading", [] {}},
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
    {"static_constructor", [] { look_at(seen_while_loading); }},
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
       // Untouched: the limit is of space, and CPU time has its own.
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
#ifdef __x86_64__
    {"counts_cycles", [] { leave(__builtin_ia32_rdtsc() > 0 ? "seen" : "seen"); }},
#endif
    {"scribbles_over_page",
     [] {
       const int descriptor = connected_socket();
       send_one(descriptor);
       std::memset(page() + 8, 0xff, page_bytes - 8);
       pollfd waits{descriptor, POLLIN, 0};
       poll(&waits, 1, 1000);
     }},
    {"unmaps_page",
     [] {
       munmap(page(), page_bytes);
       send_one(connected_socket());
     }},
    {"races_for_page", race_for_page},
    {"forges_times", forge_times},
    {"forges_acknowledgments", forge_acknowledgments},
};

}  // namespace

int main() {
  attacks.at(getenv("ATTACK"))();
  wait_for_ever();
}
