// receiver: acknowledges every datagram of a sender of ours or of the public contest kit.
#include <array>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "network/contest_datagram.hh"
#include "network/json.hh"
#include "network/text.hh"
#include "network/time.hh"
#include "realtime/stop_signal.hh"
#include "realtime/udp_socket.hh"

namespace {

using namespace kneepoint;

constexpr int exit_bad_arguments = 2;
constexpr int wait_ms = 1000;  // so that a stop is never missed for long
constexpr size_t largest_datagram_bytes = 65536;

const char* const usage =
    R"(usage: receiver PORT [--address 127.0.0.1]

Acknowledges until SIGHUP, SIGINT or SIGTERM ends it; then prints one JSON object. A sender inside
mahimahi's shells is not on this host's loopback: give --address 0.0.0.0.
)";

struct Counts {
  uint64_t packets_received = 0;
  uint64_t malformed = 0;
};

Counts serve(UdpSocket& socket) {
  const Microseconds start_us = system_time_us() / 1000 * 1000;
  Counts counts;
  std::array<std::byte, largest_datagram_bytes> buffer;
  while (not stop_requested()) {
    if (not socket.wait(false, wait_ms).readable) continue;
    const auto received = socket.receive(buffer);
    if (not received) continue;
    const auto header = ContestHeader::decode(std::span(buffer).first(received->bytes));
    if (not header or header->is_ack()) {
      ++counts.malformed;
      continue;
    }
    const auto received_ms = static_cast<uint64_t>(whole_ms(received->time_us - start_us));
    const ContestHeader answer = acknowledge(*header, counts.packets_received++, received_ms,
                                             received->bytes - ContestHeader::bytes);
    socket.send_to(received->from, answer.encode());
  }
  return counts;
}

int run(const std::vector<std::string>& words) {
  const bool has_address = words.size() == 3 and words[1] == "--address";
  if (words.size() != 1 and not has_address) {
    throw std::invalid_argument("expected PORT [--address ADDRESS]; receiver --help");
  }
  const uint64_t port = to_whole(words[0], "port");
  if (port < 1 or port > 65535) {
    throw std::invalid_argument("port " + words[0] + " is outside [1, 65535]");
  }
  UdpSocket socket;
  socket.bind(resolve(has_address ? words[2] : "127.0.0.1", static_cast<uint16_t>(port)));
  catch_stop_signals();
  std::cerr << "listening on port " << port << std::endl;
  const Counts counts = serve(socket);
  std::cout << JsonWriter()
                   .begin_object()
                   .field("packets_received", counts.packets_received)
                   .field("malformed", counts.malformed)
                   .end_object()
                   .text()
            << std::endl;
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words == std::vector<std::string>{"--help"}) {
      std::cout << usage;
      return EXIT_SUCCESS;
    }
    return run(words);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return exit_bad_arguments;
  }
}
