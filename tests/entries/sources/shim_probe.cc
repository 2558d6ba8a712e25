// Makes the check of its host that the third argument names, and ends with status 0 if the answer
// is right.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

#define REQUIRE(condition)                               \
  do {                                                   \
    if (not(condition)) {                                \
      std::cerr << "wrong: " << #condition << std::endl; \
      std::exit(9);                                      \
    }                                                    \
  } while (false)

int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000L + now.tv_nsec;
}

int connected(int flags = 0) {
  const int descriptor = socket(AF_INET, SOCK_DGRAM | flags, 0);
  REQUIRE(descriptor >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9090);
  inet_pton(AF_INET, "100.64.0.2", &address.sin_addr);
  REQUIRE(connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return descriptor;
}

void send_one(int descriptor) {
  const std::string content(1472, '\1');
  REQUIRE(send(descriptor, content.data(), content.size(), 0) == 1472);
}

void require_late(int64_t waited_ns, int64_t asked_ns) {
  REQUIRE(waited_ns >= asked_ns);
  REQUIRE(waited_ns < asked_ns + 5'000'000);  // a timer's lateness
}

const std::map<std::string, std::function<void()>> checks{
    {"clock_gettime",
     [] {
       REQUIRE(now_ns(CLOCK_REALTIME) % 1'000'000 ==
               50);  // the clock begins on a whole millisecond
       const int64_t first = now_ns();
       REQUIRE(now_ns() - first == 50);
     }},
    {"gettimeofday",
     [] {
       timeval now;
       gettimeofday(&now, nullptr);
       REQUIRE(time(nullptr) == now.tv_sec);
     }},
    {"chrono",
     [] {
       const auto start = std::chrono::steady_clock::now();
       std::this_thread::sleep_for(20ms);
       require_late((std::chrono::steady_clock::now() - start).count(), 20'000'000);
     }},
    {"cpu_clocks",
     [] {
       const int64_t first = now_ns(CLOCK_PROCESS_CPUTIME_ID);
       const int64_t passed = now_ns(CLOCK_PROCESS_CPUTIME_ID) - first;
       REQUIRE(passed >= 1000 and passed <= 20'000);
       REQUIRE(clock() < clock());
       rusage used;
       REQUIRE(getrusage(RUSAGE_SELF, &used) == 0 and used.ru_utime.tv_usec > 0);
     }},
    {"sleeps",
     [] {
       int64_t start = now_ns();
       usleep(2500);
       require_late(now_ns() - start, 2'500'000);
       start = now_ns();
       REQUIRE(sleep(1) == 0);
       require_late(now_ns() - start, 1'000'000'000);
       start = now_ns();
       const timespec until{(start + 3'000'000) / 1'000'000'000,
                            (start + 3'000'000) % 1'000'000'000};
       REQUIRE(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == 0);
       require_late(now_ns() - start, 3'000'000 - 50);
     }},
    {"poll",
     [] {
       const int descriptor = connected();
       pollfd waits[2] = {{descriptor, POLLOUT, 0}, {descriptor, POLLIN, 0}};
       REQUIRE(poll(waits, 2, 1000) == 1 and waits[0].revents == POLLOUT);
       waits[0].events = 0;
       const int64_t start = now_ns();
       REQUIRE(poll(waits, 2, 30) == 0);
       require_late(now_ns() - start, 30'000'000);
       send_one(descriptor);
       REQUIRE(poll(waits, 2, 1000) == 1 and waits[1].revents == POLLIN);
       waits[0].events = POLLOUT;
       REQUIRE(poll(waits, 2, 1000) == 2);  // both in one turn
       pollfd none{77, POLLIN, 0};
       REQUIRE(poll(&none, 1, 0) == 1 and none.revents == POLLNVAL);
     }},
    {"select",
     [] {
       const int descriptor = connected();
       fd_set readable, writable;
       FD_ZERO(&readable);
       FD_ZERO(&writable);
       FD_SET(descriptor, &readable);
       FD_SET(descriptor, &writable);
       timeval limit{0, 10'000};
       REQUIRE(select(descriptor + 1, &readable, &writable, nullptr, &limit) == 1);
       REQUIRE(FD_ISSET(descriptor, &writable) and not FD_ISSET(descriptor, &readable));
       FD_SET(descriptor, &readable);
       REQUIRE(select(descriptor + 1, &readable, nullptr, nullptr, &limit) == 0);
       send_one(descriptor);
       FD_SET(descriptor, &readable);
       REQUIRE(select(descriptor + 1, &readable, nullptr, nullptr, nullptr) == 1);
     }},
    {"epoll",
     [] {
       const int descriptor = connected();
       const int poller = epoll_create1(0);
       epoll_event event{};
       event.events = EPOLLIN;
       event.data.u64 = 4711;
       REQUIRE(epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0);
       epoll_event found{};
       REQUIRE(epoll_wait(poller, &found, 1, 10) == 0);
       send_one(descriptor);
       REQUIRE(epoll_wait(poller, &found, 1, -1) == 1);
       REQUIRE(found.events == EPOLLIN and found.data.u64 == 4711);
     }},
    {"blocking_receive",
     [] {
       const int descriptor = connected();
       send_one(descriptor);
       const int64_t start = now_ns();
       char content[2048];
       REQUIRE(recv(descriptor, content, sizeof content, 0) == 48);
       REQUIRE(now_ns() - start > 40'000'000);  // the delay of both directions
     }},
    {"nonblocking_receive",
     [] {
       const int descriptor = connected(SOCK_NONBLOCK);
       char byte;
       REQUIRE(recv(descriptor, &byte, 1, 0) == -1 and errno == EAGAIN);
       REQUIRE(fcntl(descriptor, F_SETFL, 0) == 0);
       REQUIRE((fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0);
       REQUIRE(recv(descriptor, &byte, 1, MSG_DONTWAIT) == -1 and errno == EAGAIN);
       const timeval limit{0, 20'000};
       REQUIRE(setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
       const int64_t start = now_ns();
       REQUIRE(read(descriptor, &byte, 1) == -1 and errno == EAGAIN);
       require_late(now_ns() - start, 20'000'000);
     }},
    {"message_with_a_stamp",
     [] {
       const int descriptor = connected();
       const int yes = 1;
       setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
       const std::string header(48, '\2');
       const std::string payload(1424, 'x');
       iovec parts[2] = {{const_cast<char*>(header.data()), header.size()},
                         {const_cast<char*>(payload.data()), payload.size()}};
       REQUIRE(writev(descriptor, parts, 2) == 1472);
       char small[8];
       char control[64];
       sockaddr_storage from{};
       iovec part{small, sizeof small};
       msghdr message{};
       message.msg_name = &from;
       message.msg_namelen = sizeof from;
       message.msg_iov = &part;
       message.msg_iovlen = 1;
       message.msg_control = control;
       message.msg_controllen = sizeof control;
       REQUIRE(recvmsg(descriptor, &message, MSG_TRUNC) == 48);
       REQUIRE((message.msg_flags & MSG_TRUNC) != 0 and from.ss_family == AF_INET);
       const cmsghdr* const stamped = CMSG_FIRSTHDR(&message);
       REQUIRE(stamped != nullptr and stamped->cmsg_type == SCM_TIMESTAMPNS);
       timespec stamp;
       std::memcpy(&stamp, CMSG_DATA(stamped), sizeof stamp);
       const int64_t arrived = stamp.tv_sec * 1'000'000'000L + stamp.tv_nsec;
       REQUIRE(arrived <= now_ns(CLOCK_REALTIME) and arrived > now_ns(CLOCK_REALTIME) - 9'000'000);
     }},
    {"acknowledgment",
     [] {
       const int descriptor = connected();
       std::string content(1472, '\0');
       content[7] = 5;   // sequence_number
       content[15] = 9;  // send_timestamp
       REQUIRE(write(descriptor, content.data(), content.size()) == 1472);
       unsigned char ack[48];
       REQUIRE(recv(descriptor, ack, sizeof ack, 0) == 48);
       REQUIRE(ack[7] == 0 and ack[23] == 5 and ack[31] == 9);
       REQUIRE(ack[39] == 0);  // the receiver's clock begins with the first datagram
       REQUIRE(ack[46] == 1424 / 256 and ack[47] == 1424 % 256);
     }},
    {"socket_options",
     [] {
       const int descriptor = connected();
       int value = 0;
       socklen_t bytes = sizeof value;
       REQUIRE(getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &value, &bytes) == 0);
       REQUIRE(value == SOCK_DGRAM);
       sockaddr_in peer{};
       bytes = sizeof peer;
       REQUIRE(getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &bytes) == 0);
       REQUIRE(ntohs(peer.sin_port) == 9090);
       REQUIRE(socket(AF_INET, SOCK_STREAM, 0) == -1 and errno == EPROTONOSUPPORT);
       REQUIRE(socket(AF_INET, SOCK_DGRAM, 0) == -1 and errno == EMFILE);
       REQUIRE(close(descriptor) == 0);
       REQUIRE(send(descriptor, &value, sizeof value, 0) == -1 and errno == EBADF);
     }},
    {"names",
     [] {
       addrinfo hints{};
       hints.ai_family = AF_INET6;
       hints.ai_flags = AI_V4MAPPED;
       addrinfo* found = nullptr;
       REQUIRE(getaddrinfo("100.64.0.2", "9090", &hints, &found) == 0);
       char host[64], port[16];
       REQUIRE(getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, port, sizeof port,
                           NI_NUMERICHOST | NI_NUMERICSERV) == 0);
       REQUIRE(std::string(host) == "::ffff:100.64.0.2" and std::string(port) == "9090");
       freeaddrinfo(found);
       REQUIRE(getaddrinfo("example.org", "80", nullptr, &found) == EAI_NONAME);
     }},
    {"output_is_no_terminal",
     [] {
       REQUIRE(isatty(STDOUT_FILENO) == 0);
       termios settings;
       REQUIRE(ioctl(STDOUT_FILENO, TCGETS, &settings) == -1);
       REQUIRE(std::printf("said\n") == 5 and std::fflush(stdout) == 0);
     }},
    {"environment",
     [] {
       REQUIRE(getenv("HOME") == nullptr and getenv("PATH") == nullptr);
       REQUIRE(std::string(getenv("ALPHA")) == "0.5");
     }},
    {"files",
     [] {
       REQUIRE(not std::ifstream("/etc/passwd"));
       std::ofstream log("cwnd.log");
       log << "cwnd 10" << std::endl;
       REQUIRE(log.good());
       FILE* const file = std::fopen("cwnd.csv", "w");
       REQUIRE(file != nullptr and std::fprintf(file, "1,2\n") == 4 and std::fclose(file) == 0);
       REQUIRE(std::freopen("cwnd.txt", "w", stdout) == stdout);
       REQUIRE(not std::filesystem::exists("/etc/passwd"));
       REQUIRE(not std::filesystem::is_directory("/tmp"));
     }},
    {"memory",
     [] {
       // Above 1 KiB qsort asks for the size of the memory, in C libraries before 2.37.
       std::vector<double> values(1000);
       for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7 % 1000);
       std::qsort(values.data(), values.size(), sizeof values[0], [](const void* a, const void* b) {
         return static_cast<int>(*static_cast<const double*>(a) - *static_cast<const double*>(b));
       });
       REQUIRE(std::is_sorted(values.begin(), values.end()));
       struct sysinfo about;
       std::memset(&about, 0x5a, sizeof about);
       REQUIRE(sysinfo(&about) == 0);
       REQUIRE(about.uptime == 0 and about.loads[0] == 0 and about.procs == 1);
       REQUIRE(sysconf(_SC_PHYS_PAGES) == 1 << 18);
       rlimit files;
       REQUIRE(getrlimit(RLIMIT_NOFILE, &files) == 0 and files.rlim_cur == RLIM_INFINITY);
       REQUIRE(umask(0) == 022 and getuid() == 0);
     }},
    {"local_time",
     [] {
       const time_t now = time(nullptr);
       REQUIRE(localtime(&now) != nullptr);
     }},
};

// Prints random numbers of every source, which differ between seeds.
void tell_randomness() {
  unsigned bytes;
  getrandom(&bytes, sizeof bytes, 0);
  std::cerr << rand() << ' ' << random() << ' ' << drand48() << ' ' << bytes << ' '
            << std::random_device()() << std::endl;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 4) return 2;
  if (std::string(argv[3]) == "randomness") {
    tell_randomness();
    return 0;
  }
  checks.at(argv[3])();
}
