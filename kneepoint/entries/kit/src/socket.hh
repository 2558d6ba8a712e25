// A UDP socket that reports when each datagram arrived.
#pragma once

#include <cstdint>
#include <string>

#include "address.hh"
#include "file_descriptor.hh"

class UDPSocket : public FileDescriptor {
 public:
  struct Received {
    Address source;
    uint64_t timestamp;  // ms, when the kernel received it
    std::string payload;
  };

  UDPSocket();

  void bind(const Address& address);
  void connect(const Address& address);
  void reuse_address();

  Address local_address() const;
  Address peer_address() const;

  // Waits for a datagram.
  Received receive();
  void send(const std::string& payload);
  void send_to(const Address& peer, const std::string& payload);
};
