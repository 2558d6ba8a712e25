// A UDP socket that knows when the kernel received each datagram.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/time.hh"

namespace kneepoint {

// The system's real-time clock, to which the kernel's timestamps refer.
Microseconds system_time_us();

struct Endpoint {
  sockaddr_in address{};
};

// The addresses that share their first bits: "100.64.0.0/10".
struct Subnet {
  uint32_t first = 0;
  uint32_t mask = 0;  // none: every address

  // Throws std::invalid_argument.
  static Subnet parse(const std::string& text);
  bool contains(const Endpoint& endpoint) const;
};

// Resolves a host's IPv4 address. Throws std::runtime_error.
Endpoint resolve(const std::string& host, uint16_t port);

class UdpSocket {
 public:
  // Throws std::system_error, like all functions here that call the system.
  UdpSocket();
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  // Throws std::runtime_error when the port is taken.
  void bind(const Endpoint& local);
  // The port to which the socket is bound.
  uint16_t port() const;
  void connect(const Endpoint& peer);

  // False if the datagram cannot be sent now, because buffers are full or nobody listens.
  bool send(std::span<const std::byte> datagram);
  bool send_to(const Endpoint& peer, std::span<const std::byte> datagram);

  struct Received {
    size_t bytes;          // of the datagram; at most the buffer's size
    Microseconds time_us;  // when the kernel received it
    Endpoint from;
  };
  // Nothing if no datagram waits.
  std::optional<Received> receive(std::span<std::byte> buffer);

  // Waits until the socket can be read, or written if that is asked for, for at most `timeout_us`.
  struct Readiness {
    bool readable = false;
    bool writable = false;
    bool interrupted = false;  // by a signal
    bool timed_out() const { return not(readable or writable or interrupted); }
  };
  Readiness wait(bool for_writing, Microseconds timeout_us) const;

 private:
  int descriptor_;
};

}  // namespace kneepoint
