// entry-sender: one whole sender over real UDP, confined, to this project's receiver or its kit's.
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "apps/entry_options.hh"
#include "common/json.hh"
#include "common/system_call.hh"
#include "entries/exports.hh"
#include "entries/loading.hh"
#include "entries/process.hh"
#include "realtime/stop_signal.hh"
#include "realtime/udp_socket.hh"

namespace {

using namespace kneepoint;

constexpr int exit_failed = 3;
constexpr int exit_fault = 4;
constexpr uint64_t longest_cpu_s = 3600;
constexpr std::chrono::milliseconds check_interval{20};

const char* const usage =
    R"(usage: entry-sender HOST PORT --entry OBJECT [--entry-sha256 HEX] [--argument TEXT]... [--env NAME=VALUE]...
              [--dialect NAME] [--entry-interpreter PYTHON] [--trust-entries] [--duration-s S] [--end-with-parent]

Runs a whole sender, a shared object that exports main or a file in Python, until S seconds are over or SIGHUP, SIGINT or
SIGTERM ends it; then prints one JSON object. It runs under limits, Landlock and seccomp, with one socket,
connected to HOST, a numeric address, and can send only whole datagrams of its dialect.
)";

struct Arguments {
  std::string host;
  std::string port;
  EntrySettings entry{};
  bool is_trusted = false;
  std::optional<Milliseconds> duration_ms{};
  bool ends_with_parent = false;
};

Arguments parse(const Words& words) {
  if (words.size() < 2) throw std::invalid_argument("HOST PORT is missing; entry-sender --help");
  Arguments arguments{.host = words[0], .port = words[1]};
  to_whole(arguments.port, "port", 1, 65535);
  Options options = entry_options(arguments.entry);
  options.insert({{"--duration-s", duration_at(arguments.duration_ms)},
                  {"--trust-entries", flag_at(arguments.is_trusted)},
                  {"--end-with-parent", flag_at(arguments.ends_with_parent)}});
  take_options(words, 2, options, "entry-sender");
  if (arguments.entry.object.empty()) throw std::invalid_argument("--entry OBJECT is missing");
  return arguments;
}

int connected_socket(const Arguments& arguments) {
  const Endpoint peer =
      resolve(arguments.host, static_cast<uint16_t>(to_whole(arguments.port, "port")));
  const int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto* const address = reinterpret_cast<const sockaddr*>(&peer.address);
  if (descriptor < 0 or connect(descriptor, address, sizeof peer.address) != 0) fail("socket");
  return descriptor;
}

// The confined process, which the outer process starts.
[[noreturn]] void become_entry(int argc, char* argv[]) {
  EntryLoader loader(argc, argv, 2);
  make_host(loader.page());
  loader.confine();
  loader.run();
}

int report(const std::optional<EntryEnd>& end, const EntryPage& page) {
  const uint64_t sent = page.sent.load();
  const uint64_t received = page.received.load();
  const std::string why = end             ? end->reason
                          : sent == 0     ? "the sender sent nothing"
                          : received == 0 ? "no acknowledgment arrived"
                                          : "";
  const bool is_a_fault = end and end->is_a_fault;
  std::cout << JsonWriter()
                   .begin_object()
                   .field("status", why.empty()  ? "ok"
                                    : is_a_fault ? "fault"
                                                 : "failed")
                   .field("reason", why)
                   .field("packets_sent", sent)
                   .field("acknowledgments", received)
                   .end_object()
                   .text()
            << std::endl;
  return why.empty() ? EXIT_SUCCESS : is_a_fault ? exit_fault : exit_failed;
}

int run(const Words& words) {
  const Arguments arguments = parse(words);
  const int socket = connected_socket(arguments);
  catch_stop_signals();
  if (arguments.ends_with_parent) stop_with_parent();
  EntryWorker worker(arguments.entry, {.is_trusted = arguments.is_trusted,
                                       .cpu_s = longest_cpu_s,
                                       .host = arguments.host,
                                       .port = arguments.port,
                                       .socket = socket});
  const auto start = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    const auto passed = std::chrono::steady_clock::now() - start;
    return stop_requested() or
           (arguments.duration_ms and passed >= std::chrono::milliseconds(*arguments.duration_ms));
  };
  std::optional<EntryEnd> end;
  while (not end and not is_over()) {
    std::this_thread::sleep_for(check_interval);
    end = worker.end();
    // Time passes for a stopped process: its run is spoilt at once.
    if (not end and worker.state() == 'T') end = {"the sender's process was stopped", true};
  }
  worker.stop();  // otherwise it would send more than is reported
  return report(end, worker.page());
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc > 1 and std::string(argv[1]) == "--inside") become_entry(argc, argv);
  return run_program(argc, argv, usage, run);
}
