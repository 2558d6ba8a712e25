// One UDP socket, and the ways to wait for it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>

#include "entries/exports.hh"

using namespace kneepoint;

namespace {

constexpr int socket_descriptor = 3;
constexpr int epoll_descriptor = 4;
constexpr in_port_t local_port = 40'000;

struct Socket {
  bool is_open = false;
  int family = AF_INET;
  int flags = O_RDWR;
  bool stamps_ns = false;
  bool stamps_us = false;
  int64_t receive_limit_ns = -1;
  sockaddr_storage peer{};
  socklen_t peer_bytes = 0;
} the_socket;

struct Epoll {
  bool is_open = false;
  bool has_socket = false;
  epoll_event wanted{};
} the_epoll;

void give_address(const void* address, socklen_t bytes, sockaddr* place, socklen_t* room) {
  if (place == nullptr or room == nullptr) return;
  std::memcpy(place, address, std::min(*room, bytes));
  *room = bytes;
}

void take_peer(const sockaddr* address, socklen_t bytes) {
  the_socket.peer_bytes = std::min<socklen_t>(bytes, sizeof the_socket.peer);
  std::memcpy(&the_socket.peer, address, the_socket.peer_bytes);
}

ssize_t send_parts(const iovec* parts, size_t count) {
  EntryMessages::Header first{};
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (bytes < first.size() and parts[i].iov_len > 0) {
      std::memcpy(first.data() + bytes, parts[i].iov_base,
                  std::min(parts[i].iov_len, first.size() - bytes));
    }
    bytes += parts[i].iov_len;
  }
  constexpr size_t max = 65'507;  // that a UDP datagram holds
  if (bytes > max) return fail(EMSGSIZE);
  virtual_host().send(first, bytes);
  return static_cast<ssize_t>(bytes);
}

void give_stamp(msghdr& message, int64_t arrived_ns) {
  const auto put = [&](int type, const auto& stamp) {
    const size_t space = CMSG_SPACE(sizeof stamp);
    if (message.msg_control == nullptr or message.msg_controllen < space) {
      message.msg_flags |= MSG_CTRUNC;
      message.msg_controllen = 0;
      return;
    }
    auto* const header = static_cast<cmsghdr*>(message.msg_control);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(sizeof stamp);
    std::memcpy(CMSG_DATA(header), &stamp, sizeof stamp);
    message.msg_controllen = space;
  };
  const int64_t date_ns = epoch_ns + arrived_ns;
  if (the_socket.stamps_ns) {
    put(SCM_TIMESTAMPNS, to_timespec(date_ns));
  } else if (the_socket.stamps_us) {
    put(SCM_TIMESTAMP, to_timeval(date_ns));
  } else {
    message.msg_controllen = 0;
  }
}

ssize_t receive_message(msghdr& message, int flags) {
  const bool waits = (flags & MSG_DONTWAIT) == 0 and (the_socket.flags & O_NONBLOCK) == 0;
  VirtualHost& host = virtual_host();
  const int64_t limit_ns = waits ? the_socket.receive_limit_ns : 0;
  if (not host.wait(true, false, limit_ns).readable) return fail(EAGAIN);
  const auto received = (flags & MSG_PEEK) != 0 ? host.peek() : host.receive(0);
  size_t copied = 0;
  for (size_t i = 0; i < message.msg_iovlen and copied < received->bytes; ++i) {
    const size_t now = std::min(message.msg_iov[i].iov_len, received->bytes - copied);
    std::memcpy(message.msg_iov[i].iov_base, received->header.data() + copied, now);
    copied += now;
  }
  message.msg_flags = copied < received->bytes ? MSG_TRUNC : 0;
  if (message.msg_name != nullptr) {
    give_address(&the_socket.peer, the_socket.peer_bytes, static_cast<sockaddr*>(message.msg_name),
                 &message.msg_namelen);
  }
  give_stamp(message, received->arrived_ns);
  return static_cast<ssize_t>((flags & MSG_TRUNC) != 0 ? received->bytes : copied);
}

int64_t limit_in_ns(const auto* limit) { return limit == nullptr ? -1 : to_ns(*limit); }

int wait_for(pollfd* descriptors, nfds_t count, int64_t limit_ns) {
  bool for_reading = false;
  bool for_writing = false;
  int others = 0;
  for (nfds_t i = 0; i < count; ++i) {
    pollfd& each = descriptors[i];
    each.revents = 0;
    if (is_the_socket(each.fd)) {
      for_reading = for_reading or (each.events & (POLLIN | POLLRDNORM)) != 0;
      for_writing = for_writing or (each.events & (POLLOUT | POLLWRNORM)) != 0;
    } else if (each.fd >= 0) {  // output, which is always ready; input, of which there is none
      const bool is_output = each.fd == STDOUT_FILENO or each.fd == STDERR_FILENO;
      each.revents = static_cast<short>(is_output                 ? each.events & POLLOUT
                                        : each.fd == STDIN_FILENO ? each.events & POLLHUP
                                                                  : POLLNVAL);
      others += each.revents != 0;
    }
  }
  const auto ready = virtual_host().wait(for_reading, for_writing, others > 0 ? 0 : limit_ns);
  int found = others;
  for (nfds_t i = 0; i < count; ++i) {
    pollfd& each = descriptors[i];
    if (not is_the_socket(each.fd)) continue;
    int events = 0;
    if (ready.readable) events |= each.events & (POLLIN | POLLRDNORM);
    if (ready.writable) events |= each.events & (POLLOUT | POLLWRNORM);
    each.revents = static_cast<short>(events);
    found += events != 0;
  }
  return found;
}

int select_from(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                int64_t limit_ns) {
  const bool has_socket = the_socket.is_open and count > socket_descriptor;
  const auto asks = [&](const fd_set* set) {
    return has_socket and set != nullptr and FD_ISSET(socket_descriptor, set);
  };
  const auto ready = virtual_host().wait(asks(readable), asks(writable), limit_ns);
  int found = 0;
  const auto answer = [&](fd_set* set, bool is_ready) {
    if (set == nullptr) return;
    const bool is_set = asks(set) and is_ready;
    FD_ZERO(set);
    if (is_set) FD_SET(socket_descriptor, set);
    found += is_set;
  };
  answer(readable, ready.readable);
  answer(writable, ready.writable);
  answer(exceptional, false);
  return found;
}

int wait_for_epoll(epoll_event* events, int count, int64_t limit_ns) {
  if (count <= 0) return fail(EINVAL);
  const uint32_t wanted = the_epoll.has_socket ? the_epoll.wanted.events : 0;
  const auto ready =
      virtual_host().wait((wanted & EPOLLIN) != 0, (wanted & EPOLLOUT) != 0, limit_ns);
  const uint32_t found =
      (ready.readable ? uint32_t{EPOLLIN} : 0) | (ready.writable ? uint32_t{EPOLLOUT} : 0);
  if (found == 0) return 0;
  events[0] = {.events = found, .data = the_epoll.wanted.data};
  return 1;
}

}  // namespace

namespace kneepoint {

void reserve_descriptors() {
  for (const int each : {socket_descriptor, epoll_descriptor}) dup2(STDIN_FILENO, each);
}

bool is_the_socket(int descriptor) {
  return descriptor == socket_descriptor and the_socket.is_open;
}

}  // namespace kneepoint

KNEEPOINT_EXPORT int close(int descriptor) {
  if (is_the_socket(descriptor)) {
    the_socket = {};
    the_epoll.has_socket = false;
  } else if (descriptor == epoll_descriptor and the_epoll.is_open) {
    the_epoll = {};
  } else if (descriptor == EntryMessages::reports_descriptor or
             descriptor == EntryMessages::orders_descriptor) {
    return fail(EBADF);  // programs close whatever could be open
  } else {
    return static_cast<int>(syscall(SYS_close, descriptor));
  }
  return 0;
}

KNEEPOINT_EXPORT int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const int argument = va_arg(arguments, int);
  va_end(arguments);
  if (is_the_socket(descriptor)) {
    if (command == F_GETFL) return the_socket.flags;
    if (command == F_SETFL) the_socket.flags = O_RDWR | (argument & O_NONBLOCK);
    return 0;
  }
  if (descriptor == epoll_descriptor and the_epoll.is_open) return 0;
  return static_cast<int>(syscall(SYS_fcntl, descriptor, command, argument));
}

KNEEPOINT_EXPORT int fcntl64(int, int, ...) __attribute__((alias("fcntl")));

KNEEPOINT_EXPORT int socket(int domain, int type, int) noexcept {
  constexpr int kind = ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (domain != AF_INET and domain != AF_INET6) return fail(EAFNOSUPPORT);
  if ((type & kind) != SOCK_DGRAM) return fail(EPROTONOSUPPORT);
  if (the_socket.is_open) return fail(EMFILE);
  the_socket = {};
  the_socket.is_open = true;
  the_socket.family = domain;
  if ((type & SOCK_NONBLOCK) != 0) the_socket.flags |= O_NONBLOCK;
  return socket_descriptor;
}

KNEEPOINT_EXPORT int bind(int descriptor, const sockaddr*, socklen_t) noexcept {
  return is_the_socket(descriptor) ? 0 : fail(EBADF);
}

KNEEPOINT_EXPORT int connect(int descriptor, const sockaddr* address, socklen_t bytes) {
  if (not is_the_socket(descriptor)) return fail(EBADF);
  take_peer(address, bytes);
  return 0;
}

KNEEPOINT_EXPORT int shutdown(int descriptor, int) noexcept {
  return is_the_socket(descriptor) ? 0 : fail(EBADF);
}

KNEEPOINT_EXPORT int setsockopt(int descriptor, int level, int name, const void* value,
                                socklen_t bytes) noexcept {
  if (not is_the_socket(descriptor)) return fail(EBADF);
  if (level != SOL_SOCKET) return 0;
  int number = 0;
  std::memcpy(&number, value, std::min<size_t>(bytes, sizeof number));
  if (name == SO_TIMESTAMPNS) the_socket.stamps_ns = number != 0;
  if (name == SO_TIMESTAMP) the_socket.stamps_us = number != 0;
  if (name == SO_RCVTIMEO and bytes >= sizeof(timeval)) {
    timeval limit;
    std::memcpy(&limit, value, sizeof limit);
    the_socket.receive_limit_ns = to_ns(limit) == 0 ? -1 : to_ns(limit);
  }
  return 0;
}

KNEEPOINT_EXPORT int getsockopt(int descriptor, int level, int name, void* value,
                                socklen_t* bytes) noexcept {
  if (not is_the_socket(descriptor)) return fail(EBADF);
  int number = 0;
  if (level == SOL_SOCKET) {
    constexpr int buffer_bytes = 212'992;
    if (name == SO_DOMAIN) number = the_socket.family;
    if (name == SO_TYPE) number = SOCK_DGRAM;
    if (name == SO_PROTOCOL) number = IPPROTO_UDP;
    if (name == SO_RCVBUF or name == SO_SNDBUF) number = buffer_bytes;
  }
  *bytes = static_cast<socklen_t>(std::min<size_t>(*bytes, sizeof number));
  std::memcpy(value, &number, *bytes);
  return 0;
}

KNEEPOINT_EXPORT int getpeername(int descriptor, sockaddr* place, socklen_t* room) noexcept {
  if (not is_the_socket(descriptor)) return fail(EBADF);
  if (the_socket.peer_bytes == 0) return fail(ENOTCONN);
  give_address(&the_socket.peer, the_socket.peer_bytes, place, room);
  return 0;
}

KNEEPOINT_EXPORT int getsockname(int descriptor, sockaddr* place, socklen_t* room) noexcept {
  if (not is_the_socket(descriptor)) return fail(EBADF);
  if (the_socket.family == AF_INET) {
    const sockaddr_in local{.sin_family = AF_INET,
                            .sin_port = htons(local_port),
                            .sin_addr = {htonl(INADDR_LOOPBACK)},
                            .sin_zero = {}};
    give_address(&local, sizeof local, place, room);
  } else {
    const sockaddr_in6 local{.sin6_family = AF_INET6,
                             .sin6_port = htons(local_port),
                             .sin6_flowinfo = 0,
                             .sin6_addr = IN6ADDR_LOOPBACK_INIT,
                             .sin6_scope_id = 0};
    give_address(&local, sizeof local, place, room);
  }
  return 0;
}

KNEEPOINT_EXPORT ssize_t sendmsg(int descriptor, const msghdr* message, int) {
  if (not is_the_socket(descriptor)) return fail(EBADF);
  if (message->msg_name != nullptr and the_socket.peer_bytes == 0) {
    take_peer(static_cast<const sockaddr*>(message->msg_name), message->msg_namelen);
  }
  if (the_socket.peer_bytes == 0) return fail(EDESTADDRREQ);
  return send_parts(message->msg_iov, message->msg_iovlen);
}

KNEEPOINT_EXPORT ssize_t sendto(int descriptor, const void* content, size_t bytes, int flags,
                                const sockaddr* address, socklen_t address_bytes) {
  iovec part{const_cast<void*>(content), bytes};
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(address);
  message.msg_namelen = address_bytes;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return sendmsg(descriptor, &message, flags);
}

KNEEPOINT_EXPORT ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  return is_the_socket(descriptor) ? receive_message(*message, flags) : fail(EBADF);
}

KNEEPOINT_EXPORT ssize_t recvfrom(int descriptor, void* content, size_t bytes, int flags,
                                  sockaddr* address, socklen_t* address_bytes) {
  if (not is_the_socket(descriptor)) return fail(EBADF);
  iovec part{content, bytes};
  msghdr message{};
  message.msg_name = address;
  message.msg_namelen = address_bytes == nullptr ? 0 : *address_bytes;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const ssize_t received = receive_message(message, flags);
  if (received >= 0 and address_bytes != nullptr) *address_bytes = message.msg_namelen;
  return received;
}

KNEEPOINT_EXPORT ssize_t read(int descriptor, void* content, size_t bytes) {
  if (is_the_socket(descriptor)) return recv(descriptor, content, bytes, 0);
  return descriptor == STDIN_FILENO ? 0 : read_file(descriptor, content, bytes);
}

KNEEPOINT_EXPORT int poll(pollfd* descriptors, nfds_t count, int limit_ms) {
  constexpr int64_t millisecond_ns = 1'000'000;
  return wait_for(descriptors, count, limit_ms < 0 ? -1 : limit_ms * millisecond_ns);
}
KNEEPOINT_EXPORT int __poll_chk(pollfd* descriptors, nfds_t count, int limit_ms, size_t) {
  return poll(descriptors, count, limit_ms);
}
KNEEPOINT_EXPORT int ppoll(pollfd* descriptors, nfds_t count, const timespec* limit,
                           const sigset_t*) {
  return wait_for(descriptors, count, limit_in_ns(limit));
}

KNEEPOINT_EXPORT int select(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                            timeval* limit) {
  return select_from(count, readable, writable, exceptional, limit_in_ns(limit));
}
KNEEPOINT_EXPORT int pselect(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                             const timespec* limit, const sigset_t*) {
  return select_from(count, readable, writable, exceptional, limit_in_ns(limit));
}

KNEEPOINT_EXPORT int epoll_create1(int) noexcept {
  if (the_epoll.is_open) return fail(EMFILE);
  the_epoll = {};
  the_epoll.is_open = true;
  return epoll_descriptor;
}
KNEEPOINT_EXPORT int epoll_create(int) noexcept { return epoll_create1(0); }

KNEEPOINT_EXPORT int epoll_ctl(int descriptor, int operation, int wanted,
                               epoll_event* event) noexcept {
  if (descriptor != epoll_descriptor or not is_the_socket(wanted)) return fail(EPERM);
  the_epoll.has_socket = operation != EPOLL_CTL_DEL;
  if (the_epoll.has_socket) the_epoll.wanted = *event;
  return 0;
}

KNEEPOINT_EXPORT int epoll_wait(int, epoll_event* events, int count, int limit_ms) {
  constexpr int64_t millisecond_ns = 1'000'000;
  return wait_for_epoll(events, count, limit_ms < 0 ? -1 : limit_ms * millisecond_ns);
}
KNEEPOINT_EXPORT int epoll_pwait(int descriptor, epoll_event* events, int count, int limit_ms,
                                 const sigset_t*) {
  return epoll_wait(descriptor, events, count, limit_ms);
}

// Sent data has always left, and output is not a terminal.
KNEEPOINT_EXPORT int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* const place = va_arg(arguments, void*);
  va_end(arguments);
  if (not is_the_socket(descriptor)) return fail(ENOTTY);
  if (request == FIONBIO) {
    return fcntl(descriptor, F_SETFL, *static_cast<int*>(place) != 0 ? O_NONBLOCK : 0);
  }
  if (request == FIONREAD) {
    const auto waiting =
        virtual_host().wait(true, false, 0).readable ? virtual_host().peek() : std::nullopt;
    *static_cast<int*>(place) = waiting ? static_cast<int>(waiting->bytes) : 0;
    return 0;
  }
  if (request == TIOCOUTQ) *static_cast<int*>(place) = 0;
  return 0;
}
