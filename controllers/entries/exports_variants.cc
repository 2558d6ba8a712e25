// Socket functions that follow from others, in either kind of time. Functions with _chk check the
// sizes of buffers.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "entries/exports.hh"

using namespace kneepoint;

KNEEPOINT_EXPORT ssize_t send(int descriptor, const void* content, size_t bytes, int flags) {
  return sendto(descriptor, content, bytes, flags, nullptr, 0);
}
KNEEPOINT_EXPORT ssize_t write(int descriptor, const void* content, size_t bytes) {
  if (is_the_socket(descriptor)) return send(descriptor, content, bytes, 0);
  return syscall(SYS_write, descriptor, content, bytes);
}
KNEEPOINT_EXPORT ssize_t writev(int descriptor, const iovec* parts, int count) {
  if (not is_the_socket(descriptor)) return syscall(SYS_writev, descriptor, parts, count);
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = static_cast<size_t>(count);
  return sendmsg(descriptor, &message, 0);
}

KNEEPOINT_EXPORT ssize_t recv(int descriptor, void* content, size_t bytes, int flags) {
  return recvfrom(descriptor, content, bytes, flags, nullptr, nullptr);
}
KNEEPOINT_EXPORT ssize_t __recv_chk(int descriptor, void* content, size_t bytes, size_t room,
                                    int flags) {
  return recv(descriptor, content, std::min(bytes, room), flags);
}
KNEEPOINT_EXPORT ssize_t __recvfrom_chk(int descriptor, void* content, size_t bytes, size_t room,
                                        int flags, sockaddr* address, socklen_t* address_bytes) {
  return recvfrom(descriptor, content, std::min(bytes, room), flags, address, address_bytes);
}
KNEEPOINT_EXPORT ssize_t __read_chk(int descriptor, void* content, size_t bytes, size_t room) {
  return read(descriptor, content, std::min(bytes, room));
}
