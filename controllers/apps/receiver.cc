// receiver: acknowledges every datagram of this project's sender or the public contest kit's.
#include <array>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "apps/options.hh"
#include "common/json.hh"
#include "entries/date.hh"
#include "realtime/scheduling_delays.hh"
#include "realtime/stop_signal.hh"
#include "realtime/udp_socket.hh"
#include "transport/contest_datagram.hh"

namespace {

using namespace kneepoint;

constexpr Microseconds wait_us = 1'000'000;  // so that a stop is never missed for long
constexpr size_t largest_datagram_bytes = 65536;

const char* const usage =
    R"(usage: receiver PORT [--address 127.0.0.1] [--peers 0.0.0.0/0] [--clock-epoch-ms N] [--end-with-parent]

Acknowledges until SIGHUP, SIGINT or SIGTERM ends it; then prints one JSON object. Port 0 is any free
port; the first line on stdout names it. A sender inside mahimahi's shells is not on this host's
loopback: give --address 0.0.0.0 --peers 100.64.0.0/10, so that no other host is answered. Its clock begins
with itself; with --clock-epoch-ms it shows the date, in milliseconds since that one, as the kit of 2013 does.
)";

struct Arguments {
  uint16_t port = 0;
  std::string address = "127.0.0.1";
  Subnet peers{};
  std::optional<uint64_t> clock_epoch_ms{};
  bool ends_with_parent = false;
};

struct Report {
  uint64_t packets_received = 0;
  uint64_t malformed = 0;
  uint64_t foreign = 0;  // not from a peer
  SchedulingDelays read_delays{};
};

Report serve(UdpSocket& socket, const Subnet& peers, Microseconds start_us) {
  Report report;
  std::array<std::byte, largest_datagram_bytes> buffer;
  while (not stop_requested()) {
    if (not socket.wait(false, wait_us).readable) continue;
    const auto received = socket.receive(buffer);
    if (not received) continue;
    report.read_delays.add(received->time_us, system_time_us());
    if (not peers.contains(received->from)) {
      ++report.foreign;
      continue;
    }
    const auto header = ContestHeader::decode(std::span(buffer).first(received->bytes));
    if (not header or header->is_ack()) {
      ++report.malformed;
      continue;
    }
    const auto received_ms = static_cast<uint64_t>(whole_ms(received->time_us - start_us));
    const ContestHeader answer = acknowledge(*header, report.packets_received++, received_ms,
                                             received->bytes - ContestHeader::bytes);
    socket.send_to(received->from, answer.encode());
  }
  return report;
}

Arguments parse(const Words& words) {
  if (words.empty()) throw std::invalid_argument("PORT is missing; receiver --help");
  Arguments arguments{.port = static_cast<uint16_t>(to_whole(words[0], "port", 0, 65535))};
  const auto take_peers = [&arguments](const std::string& value, const std::string&) {
    arguments.peers = Subnet::parse(value);
  };
  take_options(words, 1,
               {{"--address", text_at(arguments.address)},
                {"--peers", {take_peers}},
                {"--clock-epoch-ms", whole_at(arguments.clock_epoch_ms, 0, date_s * 1000)},
                {"--end-with-parent", flag_at(arguments.ends_with_parent)}},
               "receiver");
  return arguments;
}

int run(const Words& words) {
  const Arguments arguments = parse(words);
  // The kernel receives no datagram earlier than this: the socket is not bound yet.
  const Microseconds start_us = arguments.clock_epoch_ms
                                    ? static_cast<Microseconds>(*arguments.clock_epoch_ms) * 1000
                                    : system_time_us() / 1000 * 1000;
  UdpSocket socket;
  socket.bind(resolve(arguments.address, arguments.port));
  catch_stop_signals();
  if (arguments.ends_with_parent) stop_with_parent();
  print_line("listening on port " + std::to_string(socket.port()));
  Report report = serve(socket, arguments.peers, start_us);
  print_line(JsonWriter()
                 .begin_object()
                 .field("packets_received", report.packets_received)
                 .field("malformed", report.malformed)
                 .field("foreign", report.foreign)
                 .field("read_delay_p99_us", report.read_delays.p99_us())
                 .field("read_delays_us", report.read_delays.by_rarity_us())
                 .end_object()
                 .text());
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
