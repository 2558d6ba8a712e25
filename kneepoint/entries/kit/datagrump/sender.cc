// Sends as many datagrams as the controller allows, and reports each acknowledgment to the
// controller.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "contest_message.hh"
#include "controller.hh"
#include "poller.hh"
#include "socket.hh"

namespace {

class Sender {
 public:
  Sender(const Address& receiver, bool debug) : controller_(debug) { socket_.connect(receiver); }

  void run() {
    Poller poller;
    poller.add({socket_, Poller::to_write, [this] { fill_window(); },
                [this] { return window_is_open(); }});
    poller.add({socket_, Poller::to_read, [this] { hear(); }, [] { return true; }});
    while (true) {
      if (not poller.wait(static_cast<int>(controller_.timeout_ms()))) send(true);
    }
  }

 private:
  bool window_is_open() {
    return sequence_number_ - next_ack_expected_ < controller_.window_size();
  }

  void fill_window() {
    while (window_is_open()) send(false);
  }

  void send(bool after_timeout) {
    static const std::string payload(1424, 'x');
    const ContestMessage message(sequence_number_++, payload);
    socket_.send(message.to_string());
    controller_.datagram_was_sent(message.sequence_number, message.send_timestamp, after_timeout);
  }

  void hear() {
    const UDPSocket::Received received = socket_.receive();
    const ContestMessage ack(received.payload);
    if (not ack.is_ack()) throw std::runtime_error("the receiver sent no acknowledgment");
    next_ack_expected_ = std::max(next_ack_expected_, ack.ack_sequence_number + 1);
    controller_.ack_received(ack.ack_sequence_number, ack.ack_send_timestamp,
                             ack.ack_recv_timestamp, received.timestamp);
  }

  UDPSocket socket_{};
  Controller controller_;
  uint64_t sequence_number_ = 0;
  uint64_t next_ack_expected_ = 0;  // an acknowledgment covers all earlier datagrams
};

}  // namespace

int main(int argc, char* argv[]) {
  const bool debug = argc == 4 and std::string(argv[3]) == "debug";
  if (argc != 3 and not debug) {
    std::cerr << "Usage: " << argv[0] << " HOST PORT [debug]" << std::endl;
    return EXIT_FAILURE;
  }
  try {
    Sender(Address(argv[1], argv[2]), debug).run();
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
