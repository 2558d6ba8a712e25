#include "realtime/udp_socket.hh"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <vector>

#include "common/system_call.hh"
#include "common/text.hh"

namespace kneepoint {

namespace {

Microseconds to_us(const timespec& time) {
  return static_cast<Microseconds>(time.tv_sec) * 1'000'000 + time.tv_nsec / 1000;
}

template <class Result>
Result checked(Result result, const char* call) {
  if (result < 0) fail(call);
  return result;
}

const sockaddr* as_address(const Endpoint& endpoint) {
  return reinterpret_cast<const sockaddr*>(&endpoint.address);
}

// A sender may outpace its buffers, and a receiver may not be ready yet: both are temporary.
bool is_passing() {
  return errno == EAGAIN or errno == EWOULDBLOCK or errno == ECONNREFUSED or errno == ENOBUFS;
}

bool has_sent(ssize_t result, const char* call) {
  if (result >= 0) return true;
  if (is_passing()) return false;
  fail(call);
}

}  // namespace

Microseconds system_time_us() {
  timespec now{};
  checked(clock_gettime(CLOCK_REALTIME, &now), "clock_gettime");
  return to_us(now);
}

Subnet Subnet::parse(const std::string& text) {
  const std::vector<std::string> parts = split(text, '/');
  in_addr address{};
  if (parts.size() != 2 or inet_pton(AF_INET, parts[0].c_str(), &address) != 1) {
    throw std::invalid_argument("subnet '" + text + "' is not like 100.64.0.0/10");
  }
  const uint64_t bits = to_whole(parts[1], "subnet " + text + ": bits", 0, 32);
  Subnet subnet;
  subnet.mask = bits == 0 ? 0 : ~uint32_t{0} << (32 - bits);
  subnet.first = ntohl(address.s_addr) & subnet.mask;
  return subnet;
}

bool Subnet::contains(const Endpoint& endpoint) const {
  return (ntohl(endpoint.address.sin_addr.s_addr) & mask) == first;
}

Endpoint resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (status != 0) {
    throw std::runtime_error("host " + host + ": " + gai_strerror(status) + "; check the name");
  }
  Endpoint endpoint;
  std::memcpy(&endpoint.address, found->ai_addr, sizeof endpoint.address);
  freeaddrinfo(found);
  endpoint.address.sin_port = htons(port);
  return endpoint;
}

UdpSocket::UdpSocket()
    : descriptor_(
          checked(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket")) {
  const int on = 1;
  checked(setsockopt(descriptor_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on), "setsockopt");
}

UdpSocket::~UdpSocket() { close(descriptor_); }

void UdpSocket::bind(const Endpoint& local) {
  if (::bind(descriptor_, as_address(local), sizeof local.address) == 0) return;
  if (errno == EADDRINUSE) {
    throw std::runtime_error("port " + std::to_string(ntohs(local.address.sin_port)) +
                             " is taken; choose another");
  }
  fail("bind");
}

uint16_t UdpSocket::port() const {
  sockaddr_in local{};
  socklen_t size = sizeof local;
  checked(getsockname(descriptor_, reinterpret_cast<sockaddr*>(&local), &size), "getsockname");
  return ntohs(local.sin_port);
}

void UdpSocket::connect(const Endpoint& peer) {
  checked(::connect(descriptor_, as_address(peer), sizeof peer.address), "connect");
}

bool UdpSocket::send(std::span<const std::byte> datagram) {
  return has_sent(::send(descriptor_, datagram.data(), datagram.size(), 0), "send");
}

bool UdpSocket::send_to(const Endpoint& peer, std::span<const std::byte> datagram) {
  return has_sent(sendto(descriptor_, datagram.data(), datagram.size(), 0, as_address(peer),
                         sizeof peer.address),
                  "sendto");
}

std::optional<UdpSocket::Received> UdpSocket::receive(std::span<std::byte> buffer) {
  Received received{};
  iovec block{buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec))];
  msghdr message{};
  message.msg_name = &received.from.address;
  message.msg_namelen = sizeof received.from.address;
  message.msg_iov = &block;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(descriptor_, &message, 0);
  if (size < 0) {
    if (is_passing() or errno == EINTR) return std::nullopt;
    fail("recvmsg");
  }
  received.bytes = static_cast<size_t>(size);
  received.time_us = system_time_us();
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET or part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec time{};
    std::memcpy(&time, CMSG_DATA(part), sizeof time);
    received.time_us = to_us(time);
  }
  return received;
}

UdpSocket::Readiness UdpSocket::wait(bool for_writing, Microseconds timeout_us) const {
  pollfd request{descriptor_, static_cast<short>(for_writing ? POLLIN | POLLOUT : POLLIN), 0};
  const timespec timeout{.tv_sec = timeout_us / 1'000'000,
                         .tv_nsec = timeout_us % 1'000'000 * 1000};
  const int ready = ppoll(&request, 1, &timeout, nullptr);
  if (ready < 0 and errno == EINTR) return {.interrupted = true};
  checked(ready, "ppoll");
  return {.readable = (request.revents & (POLLIN | POLLERR)) != 0,
          .writable = (request.revents & POLLOUT) != 0};
}

}  // namespace kneepoint
