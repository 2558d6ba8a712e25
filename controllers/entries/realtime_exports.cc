// The functions that are replaced in real time.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "entries/exports.hh"

using namespace kneepoint;

namespace {

int the_socket = -1;
EntryPage* the_counts = nullptr;

ssize_t counted(int descriptor, ssize_t received) {
  if (is_the_socket(descriptor) and received >= 0) {
    the_counts->received.fetch_add(1, std::memory_order_relaxed);
  }
  return received;
}

// Sends in one call whose argument is the datagram's size, which the filter checks.
ssize_t send_whole(const void* content, size_t bytes, int flags) {
  // Counted before the call, because the sender may be ended before the call returns.
  the_counts->sent.fetch_add(1, std::memory_order_relaxed);
  const ssize_t sent = syscall(SYS_sendto, the_socket, content, bytes, flags, nullptr, 0);
  if (sent < 0) the_counts->sent.fetch_sub(1, std::memory_order_relaxed);
  return sent;
}

ssize_t send_parts(const iovec* parts, size_t count, int flags) {
  constexpr size_t max = 65'507;  // that a UDP datagram holds
  char content[max];
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (parts[i].iov_len > max - bytes) return fail(EMSGSIZE);
    std::memcpy(content + bytes, parts[i].iov_base, parts[i].iov_len);
    bytes += parts[i].iov_len;
  }
  return send_whole(content, bytes, flags);
}

}  // namespace

void kneepoint::make_host(EntryPage& page) {
  the_socket = EntryPage::socket_descriptor;
  the_counts = &page;
}

void kneepoint::begin_run_with(const char*) {}

bool kneepoint::is_the_socket(int descriptor) { return descriptor == the_socket; }

KNEEPOINT_EXPORT int socket(int domain, int type, int protocol) noexcept {
  if (the_socket < 0) return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
  if ((type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_DGRAM) return fail(EPROTONOSUPPORT);
  return the_socket;
}

KNEEPOINT_EXPORT int connect(int descriptor, const sockaddr* address, socklen_t bytes) {
  if (is_the_socket(descriptor)) return 0;
  return static_cast<int>(syscall(SYS_connect, descriptor, address, bytes));
}

KNEEPOINT_EXPORT int bind(int descriptor, const sockaddr* address, socklen_t bytes) noexcept {
  if (is_the_socket(descriptor)) return 0;
  return static_cast<int>(syscall(SYS_bind, descriptor, address, bytes));
}

KNEEPOINT_EXPORT int shutdown(int descriptor, int how) noexcept {
  if (is_the_socket(descriptor)) return 0;
  return static_cast<int>(syscall(SYS_shutdown, descriptor, how));
}

KNEEPOINT_EXPORT int setsockopt(int descriptor, int level, int name, const void* value,
                                socklen_t bytes) noexcept {
  const bool is_harmless =
      level == SOL_SOCKET and (name == SO_TIMESTAMP or name == SO_TIMESTAMPNS or
                               name == SO_RCVTIMEO or name == SO_RCVBUF or name == SO_SNDBUF);
  if (is_the_socket(descriptor) and not is_harmless) return 0;
  return static_cast<int>(syscall(SYS_setsockopt, descriptor, level, name, value, bytes));
}

KNEEPOINT_EXPORT ssize_t sendto(int descriptor, const void* content, size_t bytes, int flags,
                                const sockaddr* address, socklen_t address_bytes) {
  if (is_the_socket(descriptor)) return send_whole(content, bytes, flags);
  return syscall(SYS_sendto, descriptor, content, bytes, flags, address, address_bytes);
}

KNEEPOINT_EXPORT ssize_t sendmsg(int descriptor, const msghdr* message, int flags) {
  if (not is_the_socket(descriptor)) return syscall(SYS_sendmsg, descriptor, message, flags);
  return send_parts(message->msg_iov, message->msg_iovlen, flags);
}

KNEEPOINT_EXPORT ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  return counted(descriptor, syscall(SYS_recvmsg, descriptor, message, flags));
}

KNEEPOINT_EXPORT ssize_t recvfrom(int descriptor, void* content, size_t bytes, int flags,
                                  sockaddr* address, socklen_t* address_bytes) {
  return counted(descriptor,
                 syscall(SYS_recvfrom, descriptor, content, bytes, flags, address, address_bytes));
}

KNEEPOINT_EXPORT ssize_t read(int descriptor, void* content, size_t bytes) {
  return counted(descriptor, syscall(SYS_read, descriptor, content, bytes));
}
