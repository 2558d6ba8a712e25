#include "socket.hh"

#include <sys/socket.h>

#include <cstring>
#include <stdexcept>

#include "timestamp.hh"

namespace {

constexpr size_t longest_datagram = 65536;

void set_option(int descriptor, int option) {
  const int yes = 1;
  checked("setsockopt", setsockopt(descriptor, SOL_SOCKET, option, &yes, sizeof yes));
}

Address address_of(int descriptor, const char* call, int (*ask)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  checked(call, ask(descriptor, reinterpret_cast<sockaddr*>(&storage), &size));
  return Address(storage, size);
}

void require_all(ssize_t sent, const std::string& payload) {
  if (static_cast<size_t>(sent) != payload.size()) {
    throw std::runtime_error("part of a datagram was sent");
  }
}

}  // namespace

UDPSocket::UDPSocket() : FileDescriptor(::socket(AF_INET6, SOCK_DGRAM, 0)) {
  set_option(number(), SO_TIMESTAMPNS);
}

void UDPSocket::bind(const Address& address) {
  checked("bind", ::bind(number(), address.data(), address.size()));
}

void UDPSocket::connect(const Address& address) {
  checked("connect", ::connect(number(), address.data(), address.size()));
}

void UDPSocket::reuse_address() { set_option(number(), SO_REUSEADDR); }

Address UDPSocket::local_address() const {
  return address_of(number(), "getsockname", getsockname);
}

Address UDPSocket::peer_address() const { return address_of(number(), "getpeername", getpeername); }

UDPSocket::Received UDPSocket::receive() {
  char payload[longest_datagram];
  sockaddr_storage source{};
  alignas(cmsghdr) char control[256];
  iovec part{payload, sizeof payload};
  msghdr message{};
  message.msg_name = &source;
  message.msg_namelen = sizeof source;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const int size = checked("recvmsg", static_cast<int>(recvmsg(number(), &message, 0)));
  was_read();
  if ((message.msg_flags & MSG_TRUNC) != 0) throw std::runtime_error("recvmsg: too long");
  uint64_t arrived_ms = timestamp_ms();  // unless the kernel gives the time of arrival
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level == SOL_SOCKET and each->cmsg_type == SCM_TIMESTAMPNS) {
      timespec time;
      std::memcpy(&time, CMSG_DATA(each), sizeof time);
      arrived_ms = timestamp_ms(time);
    }
  }
  return {Address(source, message.msg_namelen), arrived_ms,
          std::string(payload, static_cast<size_t>(size))};
}

void UDPSocket::send(const std::string& payload) {
  const ssize_t sent = ::send(number(), payload.data(), payload.size(), 0);
  checked("send", static_cast<int>(sent));
  was_written();
  require_all(sent, payload);
}

void UDPSocket::send_to(const Address& peer, const std::string& payload) {
  const ssize_t sent =
      ::sendto(number(), payload.data(), payload.size(), 0, peer.data(), peer.size());
  checked("sendto", static_cast<int>(sent));
  was_written();
  require_all(sent, payload);
}
