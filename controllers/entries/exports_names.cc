// Names of hosts: numeric addresses only, because there is no name server.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cstdlib>
#include <cstring>

#include "entries/exports.hh"

namespace {

// In one piece, for freeaddrinfo.
struct Answer {
  addrinfo info;
  sockaddr_storage address;
};

bool to_ipv4(const char* node, in_addr& address) {
  if (node == nullptr or std::strcmp(node, "localhost") == 0) node = "127.0.0.1";
  return inet_pton(AF_INET, node, &address) == 1;
}

bool to_ipv6(const char* node, in6_addr& address) {
  in_addr mapped;
  if (to_ipv4(node, mapped)) {
    address = {};
    address.s6_addr[10] = address.s6_addr[11] = 0xff;
    std::memcpy(address.s6_addr + 12, &mapped, sizeof mapped);
    return true;
  }
  return inet_pton(AF_INET6, node, &address) == 1;
}

}  // namespace

KNEEPOINT_EXPORT int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                                 addrinfo** result) {
  const int family = hints == nullptr ? AF_UNSPEC : hints->ai_family;
  const auto port = htons(static_cast<in_port_t>(service == nullptr ? 0 : std::atoi(service)));
  auto* const answer = static_cast<Answer*>(std::calloc(1, sizeof(Answer)));
  if (answer == nullptr) return EAI_MEMORY;
  addrinfo& info = answer->info;
  info.ai_socktype = hints == nullptr or hints->ai_socktype == 0 ? SOCK_DGRAM : hints->ai_socktype;
  info.ai_protocol = IPPROTO_UDP;
  info.ai_addr = reinterpret_cast<sockaddr*>(&answer->address);
  sockaddr_in ipv4{};
  sockaddr_in6 ipv6{};
  if (family != AF_INET6 and to_ipv4(node, ipv4.sin_addr)) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = port;
    std::memcpy(&answer->address, &ipv4, sizeof ipv4);
    info.ai_addrlen = sizeof ipv4;
  } else if (family != AF_INET and to_ipv6(node, ipv6.sin6_addr)) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = port;
    std::memcpy(&answer->address, &ipv6, sizeof ipv6);
    info.ai_addrlen = sizeof ipv6;
  } else {
    std::free(answer);
    return EAI_NONAME;
  }
  info.ai_family = answer->address.ss_family;
  *result = &info;
  return 0;
}

KNEEPOINT_EXPORT void freeaddrinfo(addrinfo* result) noexcept { std::free(result); }
