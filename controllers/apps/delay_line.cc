// delay_line: a wire between two TUN devices, in real time.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <string>

#include "apps/options.hh"
#include "common/json.hh"
#include "common/system_call.hh"
#include "realtime/delayed_packets.hh"
#include "realtime/scheduling_delays.hh"
#include "realtime/stop_signal.hh"

namespace {

using namespace kneepoint;

const char* const usage =
    R"(usage: delay_line FIRST SECOND --delays-ms MS,MS --rates-mbps R,R

Forwards packets between two TUN devices, open as these file descriptors, until SIGHUP, SIGINT or
SIGTERM ends it. It delays a packet by its transmission time, at the rate R, and the propagation
delay MS; the first value of each pair is from FIRST to SECOND, the second back. At its end it
prints one JSON object: how late packets were released, element k of scheduling_delays_us what one
in 2^k was.
)";

constexpr size_t max_bytes = 1 << 16;

using Pair = std::array<double, 2>;

struct Arguments {
  std::array<int, 2> devices{};
  std::optional<Pair> delays_ms{};
  std::optional<Pair> rates_mbps{};
};

Option pair_at(std::optional<Pair>& place, double min, double max) {
  return {[&place, min, max](const std::string& value, const std::string& name) {
    const std::vector<std::string> parts = split(value, ',');
    if (parts.size() != 2) throw std::invalid_argument(name + " needs two numbers, A,B");
    place = Pair{to_real(parts[0], name, min, max), to_real(parts[1], name, min, max)};
  }};
}

int to_descriptor(const std::string& text) {
  const auto descriptor = static_cast<int>(to_whole(text, "descriptor", 0, 1 << 20));
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) throw std::invalid_argument("descriptor " + text + " is not open");
  if (fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) fail("fcntl");
  return descriptor;
}

Arguments parse(const Words& words) {
  if (words.size() < 2) throw std::invalid_argument("FIRST SECOND is missing; delay_line --help");
  Arguments arguments{.devices = {to_descriptor(words[0]), to_descriptor(words[1])}};
  take_options(words, 2,
               {{"--delays-ms", pair_at(arguments.delays_ms, 0, 60'000)},
                {"--rates-mbps", pair_at(arguments.rates_mbps, 0.001, 100'000)}},
               "delay_line");
  if (not arguments.delays_ms or not arguments.rates_mbps) {
    throw std::invalid_argument("--delays-ms or --rates-mbps is missing; delay_line --help");
  }
  return arguments;
}

Microseconds clock_us() {
  timespec now{};
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) fail("clock_gettime");
  return Microseconds{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

// A device that is down, or whose queue is full, loses packets; any other error is fatal.
bool is_passing() { return errno == EAGAIN or errno == EINTR or errno == EIO or errno == ENOBUFS; }

// One direction.
class Way {
 public:
  Way(int from, int to, double delay_ms, double rate_mbps)
      : from_(from), to_(to), packets_(static_cast<Microseconds>(delay_ms * 1000), 8 / rate_mbps) {}

  void read(std::span<std::byte> buffer) {
    while (true) {
      const ssize_t size = ::read(from_, buffer.data(), buffer.size());
      if (size < 0) {
        if (is_passing()) return;
        fail("read");
      }
      packets_.push(buffer.first(static_cast<size_t>(size)), clock_us());
    }
  }

  void release(Microseconds now_us, SchedulingDelays& delays) {
    while (packets_.next_us() <= now_us) {
      delays.add(packets_.next_us(), now_us);
      const std::vector<std::byte> packet = packets_.pop();
      if (::write(to_, packet.data(), packet.size()) < 0 and not is_passing()) fail("write");
    }
  }

  Microseconds next_us() const { return packets_.next_us(); }

 private:
  int from_;
  int to_;
  DelayedPackets packets_;
};

std::optional<timespec> wait_until(Microseconds next_us) {
  if (next_us == never) return std::nullopt;
  const Microseconds wait_us = std::max<Microseconds>(0, next_us - clock_us());
  return timespec{wait_us / 1'000'000, wait_us % 1'000'000 * 1000};
}

int run(const Words& words) {
  const Arguments arguments = parse(words);
  const auto [first, second] = arguments.devices;
  catch_stop_signals();
  prctl(PR_SET_TIMERSLACK, 1);  // ns: a release must not wait for later packets
  Way there(first, second, arguments.delays_ms->at(0), arguments.rates_mbps->at(0));
  Way back(second, first, arguments.delays_ms->at(1), arguments.rates_mbps->at(1));
  SchedulingDelays delays;
  std::vector<std::byte> buffer(max_bytes);
  while (not stop_requested()) {
    std::array<pollfd, 2> readable{{{first, POLLIN, 0}, {second, POLLIN, 0}}};
    const auto wait = wait_until(std::min(there.next_us(), back.next_us()));
    if (ppoll(readable.data(), readable.size(), wait ? &*wait : nullptr, nullptr) < 0) {
      if (errno != EINTR) fail("ppoll");
      continue;
    }
    if (readable[0].revents != 0) there.read(buffer);
    if (readable[1].revents != 0) back.read(buffer);
    const Microseconds now_us = clock_us();
    there.release(now_us, delays);
    back.release(now_us, delays);
  }
  print_line(JsonWriter()
                 .begin_object()
                 .field("scheduling_delay_p99_us", delays.p99_us())
                 .field("scheduling_delays_us", delays.by_rarity_us())
                 .end_object()
                 .text());
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
