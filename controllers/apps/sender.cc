// sender: one controller over real UDP, to this project's receiver or the public contest kit's.
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include "apps/options.hh"
#include "common/json.hh"
#include "loader/controllers.hh"
#include "measure/flow_log.hh"
#include "realtime/stop_signal.hh"
#include "realtime/udp_sender.hh"

namespace {

using namespace kneepoint;

constexpr int exit_failed = 3;

const char* const usage =
    R"(usage: sender HOST PORT --controller NAME|PATH [--set PARAMETER=VALUE]... [--duration-s S]
              [--controller-sha256 HEX] [--flow-log F] [--end-with-parent]

Sends until S seconds are over or SIGHUP, SIGINT or SIGTERM ends it; then prints one JSON object.
)";

struct Arguments {
  std::string host;
  uint16_t port = 0;
  std::string controller{};
  std::string controller_sha256{};
  Parameters::Values parameters{};
  std::optional<Milliseconds> duration_ms{};
  std::optional<std::string> flow_log{};
  bool ends_with_parent = false;
};

Arguments parse(const Words& words) {
  if (words.size() < 2) throw std::invalid_argument("HOST PORT is missing; sender --help");
  Arguments arguments{.host = words[0],
                      .port = static_cast<uint16_t>(to_whole(words[1], "port", 1, 65535))};
  take_options(words, 2,
               {{"--controller", text_at(arguments.controller)},
                {"--controller-sha256", sha256_at(arguments.controller_sha256)},
                {"--set", parameter_at(arguments.parameters)},
                {"--duration-s", duration_at(arguments.duration_ms)},
                {"--flow-log", text_at(arguments.flow_log)},
                {"--end-with-parent", flag_at(arguments.ends_with_parent)}},
               "sender");
  return arguments;
}

std::string describe(const std::string& status, const std::string& reason,
                     const SenderReport& report) {
  return JsonWriter()
      .begin_object()
      .field("status", status)
      .field("reason", reason)
      .field("packets_sent", report.packets_sent)
      .field("acknowledgments", report.acknowledgments)
      .field("malformed", report.malformed)
      .field("read_delay_p99_us", report.read_delay_p99_us)
      .field("read_delays_us", report.read_delays_us)
      .end_object()
      .text();
}

int run(const Words& words) {
  const Arguments arguments = parse(words);
  const LoadedController controller =
      Controllers().make(arguments.controller, arguments.parameters, arguments.controller_sha256,
                         offer_of_real_datagrams);
  std::optional<FlowLog> log;
  if (arguments.flow_log) log.emplace(*arguments.flow_log);
  UdpSocket socket;
  socket.connect(resolve(arguments.host, arguments.port));
  catch_stop_signals();
  if (arguments.ends_with_parent) stop_with_parent();
  UdpSender sender(socket, controller, log ? &*log : nullptr);
  try {
    const SenderReport report = sender.run(arguments.duration_ms);
    if (log) log->finish();
    const bool heard = report.acknowledgments > 0;
    const std::string reason = report.packets_sent == 0 ? "the controller sent nothing"
                               : heard                  ? ""
                                                        : "no acknowledgment arrived";
    std::cout << describe(heard ? "ok" : "failed", reason, report) << std::endl;
    return heard ? EXIT_SUCCESS : exit_failed;
  } catch (const std::runtime_error& failure) {
    std::cout << describe("failed", failure.what(), {}) << std::endl;
    return exit_failed;
  }
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
