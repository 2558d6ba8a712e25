// The C library's variants of reading from a socket that check the sizes of buffers.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "entries/exports.hh"

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
