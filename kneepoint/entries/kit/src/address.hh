// The address of a UDP socket: a host and a port.
#pragma once

#include <sys/socket.h>

#include <string>

class Address {
 public:
  // Throws std::runtime_error if the host or the port is unknown.
  Address(const std::string& host, const std::string& port);
  Address(const sockaddr_storage& storage, socklen_t size) : storage_(storage), size_(size) {}

  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }

  // HOST:PORT
  std::string to_string() const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};
