#include "address.hh"

#include <netdb.h>

#include <cstring>
#include <stdexcept>

namespace {

void require(int status, const std::string& what) {
  if (status != 0) throw std::runtime_error(what + ": " + gai_strerror(status));
}

}  // namespace

Address::Address(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_family = AF_INET6;
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_V4MAPPED | AI_ALL;
  addrinfo* found = nullptr;
  require(getaddrinfo(host.c_str(), port.c_str(), &hints, &found), host + ":" + port);
  size_ = found->ai_addrlen;
  std::memcpy(&storage_, found->ai_addr, size_);
  freeaddrinfo(found);
}

std::string Address::to_string() const {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  require(getnameinfo(data(), size_, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV),
          "getnameinfo");
  return std::string(host) + ":" + port;
}
