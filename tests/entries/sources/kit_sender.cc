// A whole sender in the structure of the public contest kit: one poll a turn for writing and
// reading, the window asked before each datagram, one datagram after a timeout. Its controller
// follows a rule of ours, named by the environment.
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <stdexcept>
#include <string>

using namespace std;

namespace {

uint64_t raw_ms(const timespec& time) { return time.tv_sec * 1000ULL + time.tv_nsec / 1000000; }

uint64_t timestamp_ms(const timespec& time) {
  static const uint64_t epoch = [] {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return raw_ms(now);
  }();
  return raw_ms(time) - epoch;
}

uint64_t timestamp_ms() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return timestamp_ms(now);
}

void put(string& text, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(number >> shift);
}

uint64_t get(const string& text, size_t place) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) number = number << 8 | static_cast<uint8_t>(text[8 * place + i]);
  return number;
}

double setting(const char* name, double otherwise) {
  const char* const value = getenv(name);
  return value == nullptr ? otherwise : atof(value);
}

struct Controller {
  const string rule = getenv("RULE") == nullptr ? "fixed_window" : getenv("RULE");
  double cwnd = setting("WINDOW", 10);
  const double alpha = setting("ALPHA", 1);
  const double beta = setting("BETA", 10);
  const double limit_ms = setting("LIMIT_MS", 90);
  const int keepalive_ms = static_cast<int>(setting("KEEPALIVE_MS", 1000));

  unsigned window_size() const { return static_cast<unsigned>(cwnd); }
  unsigned timeout_ms() const { return static_cast<unsigned>(keepalive_ms); }
  void datagram_was_sent(uint64_t, uint64_t, bool after_timeout) {
    if (after_timeout and rule == "aimd_timeout") cwnd = max(1.0, cwnd / beta);
  }
  void ack_received(uint64_t, uint64_t sent_ms, uint64_t, uint64_t received_ms) {
    if (rule == "fixed_window") return;
    if (rule == "aimd_timeout" or received_ms - sent_ms < limit_ms) {
      cwnd += alpha / cwnd;
    } else {
      cwnd = max(1.0, cwnd - beta / cwnd);
    }
  }
};

void check(const char* call, long result) {
  if (result < 0) throw runtime_error(string(call) + ": " + strerror(errno));
}

struct Sender {
  int descriptor;
  Controller controller{};
  uint64_t sequence_number = 0;
  uint64_t next_ack_expected = 0;

  Sender(const char* host, const char* port) : descriptor(socket(AF_INET6, SOCK_DGRAM, 0)) {
    check("socket", descriptor);
    const int yes = 1;
    check("setsockopt", setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes));
    addrinfo hints{};
    hints.ai_family = AF_INET6;
    hints.ai_flags = AI_V4MAPPED | AI_ALL;
    addrinfo* found = nullptr;
    if (getaddrinfo(host, port, &hints, &found) != 0) throw runtime_error("getaddrinfo");
    check("connect", connect(descriptor, found->ai_addr, found->ai_addrlen));
    freeaddrinfo(found);
    cerr << "Sending to " << host << endl;
  }

  bool window_is_open() const {
    return sequence_number - next_ack_expected < controller.window_size();
  }

  void send_datagram(bool after_timeout) {
    const uint64_t number = sequence_number++;
    const uint64_t now_ms = timestamp_ms();
    string datagram;
    put(datagram, number);
    put(datagram, now_ms);
    for (int i = 0; i < 4; ++i) put(datagram, UINT64_MAX);
    datagram += string(1424, 'x');
    check("send", send(descriptor, datagram.data(), datagram.size(), 0));
    controller.datagram_was_sent(number, now_ms, after_timeout);
  }

  void read_ack() {
    char content[2048];
    char control[256];
    iovec part{content, sizeof content};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t bytes = recvmsg(descriptor, &message, 0);
    check("recvmsg", bytes);
    if (bytes < 48) throw runtime_error("a datagram that is no acknowledgment");
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr or header->cmsg_type != SCM_TIMESTAMPNS) throw runtime_error("no stamp");
    timespec stamp;
    memcpy(&stamp, CMSG_DATA(header), sizeof stamp);
    const string ack(content, static_cast<size_t>(bytes));
    next_ack_expected = max(next_ack_expected, get(ack, 2) + 1);
    controller.ack_received(get(ack, 2), get(ack, 3), get(ack, 4), timestamp_ms(stamp));
  }

  void loop() {
    while (true) {
      pollfd waits[2] = {{descriptor, static_cast<short>(window_is_open() ? POLLOUT : 0), 0},
                         {descriptor, POLLIN, 0}};
      const int ready = poll(waits, 2, static_cast<int>(controller.timeout_ms()));
      check("poll", ready);
      if (ready == 0) send_datagram(true);
      if (waits[0].revents & POLLOUT) {
        while (window_is_open()) send_datagram(false);
      }
      if (waits[1].revents & POLLIN) read_ack();
    }
  }
};

}  // namespace

int main(int argc, char* argv[]) {
  if (argc < 3) {
    cerr << "Usage: " << argv[0] << " HOST PORT" << endl;
    return EXIT_FAILURE;
  }
  Sender(argv[1], argv[2]).loop();
}
