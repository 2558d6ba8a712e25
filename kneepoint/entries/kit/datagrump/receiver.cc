// Acknowledges every datagram.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "contest_message.hh"
#include "socket.hh"

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "Usage: " << argv[0] << " PORT" << std::endl;
    return EXIT_FAILURE;
  }
  try {
    UDPSocket socket;
    socket.reuse_address();
    socket.bind(Address("::", argv[1]));
    for (uint64_t acknowledged = 0;; ++acknowledged) {
      const UDPSocket::Received received = socket.receive();
      const ContestMessage message(received.payload);
      socket.send_to(received.source,
                     message.acknowledgment(acknowledged, received.timestamp).to_string());
    }
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
