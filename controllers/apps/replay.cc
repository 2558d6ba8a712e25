// replay: how closely controllers behave like the senders of flow logs, whose acknowledgments they
// receive.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/options.hh"
#include "apps/runner.hh"
#include "common/input_file.hh"
#include "common/portable_math.hh"
#include "loader/controllers.hh"
#include "transport/contest_sender.hh"

namespace {

using namespace kneepoint;

const char* const usage =
    R"(usage: replay EVENTS FLOW_LOG...

Answers each line CONTROLLER PARAMETER=VALUE... of stdin with one of JSON. The controller hears the
acknowledgments among the first EVENTS, or one, of flow 0 in each log of emulate --flow-log; `distance` compares
its window with what the logs then have in flight, and its silences with theirs: 0 is the same. `explained`
is the share of acknowledgments after which windows differ by at most a packet. `started` datagrams
left before all else, on average; `shortest_ms` is the shortest silence that a datagram ended.
)";

constexpr double shortest_keepalive_us = 10'000;  // an acknowledgment makes a sender send sooner
constexpr uintmax_t max_bytes = 1'000'000'000;

struct Event {
  Microseconds time_us;
  uint64_t sequence_number;
  Milliseconds rtt_ms;  // -1: the datagram is sent, not acknowledged
};

struct Log {
  std::vector<Event> events{};
  Milliseconds min_rtt_ms = longest_run_ms;
};

Log read_log(const std::string& path, size_t max_events) {
  std::istringstream lines(read_file(path, "flow log", max_bytes));
  std::string line, kind;
  Log log;
  uint64_t sent = 0, flow = 0;
  const auto hears = [&] { return log.min_rtt_ms < longest_run_ms; };
  while ((log.events.size() < max_events or not hears()) and std::getline(lines, line)) {
    std::istringstream words(line);
    Event event{0, 0, -1};
    const bool is_event{words >> event.time_us >> flow >> kind};
    if (line.starts_with('#') or (is_event and (flow != 0 or kind == "keepalive"))) continue;
    words >> event.sequence_number;
    if (kind == "ack") words >> event.rtt_ms;
    const bool is_late = event.time_us < 0 or event.time_us > longest_run_ms * 1000;
    const bool is_sent = kind == "sent" and event.sequence_number == sent;
    const bool is_ack = kind == "ack" and event.sequence_number < sent and event.rtt_ms >= 0;
    if (not words or is_late or not(is_sent or is_ack)) {
      throw std::invalid_argument(path + ": " + shown(line) + " is no event that may follow");
    }
    if (is_sent) ++sent;
    if (is_ack) log.min_rtt_ms = std::min(log.min_rtt_ms, event.rtt_ms);
    log.events.push_back(event);
  }
  if (hears()) return log;
  throw std::invalid_argument(path + ": flow 0 has no acknowledgment; name a log of emulate");
}

double bounded(double difference) { return std::abs(difference) / (1 + std::abs(difference)); }

// Sums over the compared events.
struct Figures {
  double windows = 0, silences = 0, acknowledgments = 0, explained = 0;
  double keepalives = 0, started = 0, shortest_ms = NAN;

  void replay(const Log& log, const ControllerHandle& controller) {
    ContestSender sender(0, controller, nullptr);
    Microseconds last_us = log.events[0].time_us;
    uint64_t expected = 0;
    bool has_started = false, has_filled = false;
    sender.start(last_us);
    for (const Event& event : log.events) {
      const auto silence_us = static_cast<double>(event.time_us - last_us);
      const auto due_us = static_cast<double>(sender.idle_deadline_us() - last_us);
      last_us = event.time_us;
      const bool is_ack = event.rtt_ms >= 0;
      const bool is_keepalive = not is_ack and silence_us >= shortest_keepalive_us;
      if (is_keepalive or due_us < silence_us)
        silences += bounded(portable::log(silence_us / due_us));
      if (is_ack or is_keepalive) {
        // A sender fills its window: where no packet was sent, the window had no room.
        const auto sent = static_cast<double>(sender.packets_sent());
        const double flight = sent - static_cast<double>(expected);
        const double window = std::floor(sender.window());
        const bool differs = has_filled or window > flight;
        if (differs) windows += bounded(portable::log((1 + window) / (1 + flight)));
        explained += not differs or std::abs(window - flight) <= 1 ? 1 : 0;
        ++acknowledgments;
        if (not has_started) started += sent;
        has_started = true;
      }
      has_filled = not is_ack and not is_keepalive;
      if (is_ack) {
        expected = std::max(expected, event.sequence_number + 1);
        const Milliseconds now_ms = whole_ms(event.time_us);
        const auto ack = [&] {  // as if the return path had no queue
          return Ack{.sequence_number = event.sequence_number,
                     .sent_ms = now_ms - event.rtt_ms,
                     .received_ms = std::max<Milliseconds>(now_ms - log.min_rtt_ms / 2, 0),
                     .ack_received_ms = now_ms};
        };
        sender.acknowledged(event.sequence_number, event.time_us, event.time_us, ack);
        continue;
      }
      if (is_keepalive) {
        ++keepalives;
        shortest_ms = std::fmin(shortest_ms, silence_us / 1000);
        sender.keepalive(event.time_us);
      }
      sender.sent(event.time_us);
    }
  }
};

std::string answer(Controllers& controllers, const std::vector<Log>& logs,
                   const std::string& line) {
  try {
    const Words words = split_words(line);
    if (words.empty()) throw std::invalid_argument("CONTROLLER PARAMETER=VALUE...");
    Parameters::Values values;
    for (size_t at = 1; at < words.size(); ++at) add_parameter(values, words[at]);
    Figures found;
    for (const Log& log : logs) found.replay(log, controllers.make(words[0], values));
    const double silence = found.silences / std::max(1.0, found.keepalives);
    JsonWriter json;
    json.begin_object().field("status", "ok");
    json.field("distance", found.windows / found.acknowledgments + std::min(1.0, silence));
    json.field("explained", found.explained / found.acknowledgments);
    json.field("started", found.started / static_cast<double>(logs.size()));
    return json.field("shortest_ms", found.shortest_ms).end_object().text();
  } catch (const std::exception& error) {
    return describe_failure("failed", error.what());
  }
}

int run(const Words& words) {
  if (words.size() < 2) throw std::invalid_argument("EVENTS FLOW_LOG...; replay --help");
  const size_t max_events = to_whole(words[0], "EVENTS", 1);
  std::vector<Log> logs;
  for (size_t at = 1; at < words.size(); ++at) logs.push_back(read_log(words[at], max_events));
  Controllers controllers;
  std::string line;
  while (std::getline(std::cin, line)) std::cout << answer(controllers, logs, line) << std::endl;
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
