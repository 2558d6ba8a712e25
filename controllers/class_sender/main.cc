// A whole sender around one class: a candidate's source is linked with it. Its arguments after host
// and port are parameters, NAME=VALUE.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "algorithms/adapter.hh"
#include "algorithms/registry.hh"
#include "common/text.hh"
#include "realtime/udp_sender.hh"

namespace kneepoint {

namespace {

// Inside functions, so that they exist before the candidate's static objects.
std::optional<Registered>& registered() {
  static std::optional<Registered> one;
  return one;
}

std::map<std::string, double>& given() {
  static std::map<std::string, double> values;
  return values;
}

double take(const char* name, double fallback, const Limits& limits, bool is_whole) {
  const auto found = given().find(name);
  if (found == given().end()) return fallback;
  const double value = found->second;
  given().erase(found);
  const std::string what = std::string("parameter ") + name + " = " + to_text(value);
  if (not(value >= limits.min and value <= limits.max)) {
    throw std::invalid_argument(what + " is outside [" + to_text(limits.min) + ", " +
                                to_text(limits.max) + "]");
  }
  if (is_whole and value != std::floor(value)) {
    throw std::invalid_argument(what + " must be a whole number");
  }
  return value;
}

// The class as the adapter sees it; the adapter asks each class which events it handles.
struct Candidate {
  static constexpr bool governs_recovery = false;  // datagrams have no recovery

  std::unique_ptr<Controller> made;

  double window() const { return made->window(); }
  double keepalive_ms() const { return made->keepalive_ms(); }
  double pacing_us() const { return made->pacing_us(); }
  void on_sent(uint64_t number, int64_t now_ms) { made->on_sent(number, now_ms); }
  void on_ack(const Ack& ack) { made->on_ack(ack); }
  void on_keepalive(const Keepalive& keepalive) { made->on_keepalive(keepalive); }
  void on_loss(const Loss& loss) { made->on_loss(loss); }
  void on_undo(const Undo& undo) { made->on_undo(undo); }
};

void run(int count, char* words[]) {
  if (count < 3) throw std::invalid_argument("HOST PORT is missing");
  if (not registered()) throw std::invalid_argument("registers no class; add a Registration");
  if ((registered()->needed & ~needs::receiver_clock) != 0) {
    throw std::invalid_argument("needs marks or timeouts, which datagrams do not have");
  }
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    const size_t equals = word.find('=');
    given()[word.substr(0, equals)] = std::strtod(words[i] + equals + 1, nullptr);
  }
  Parameters parameters;
  Candidate candidate{std::unique_ptr<Controller>(registered()->create(parameters))};
  if (not given().empty()) {
    throw std::invalid_argument("has no parameter " + given().begin()->first);
  }
  kneepoint_interface calls = Adapter<Candidate>::calls();
  if (not registered()->paces) calls.pacing_us = nullptr;
  UdpSocket socket;
  socket.connect(resolve(words[1], static_cast<uint16_t>(std::atoi(words[2]))));
  UdpSender(socket, ControllerHandle(calls, &candidate), nullptr).run(std::nullopt);
}

}  // namespace

double Parameters::real(const char* name, double fallback, const Limits& limits, const char*,
                        const char*) {
  return take(name, fallback, limits, false);
}
double Parameters::integer(const char* name, double fallback, const Limits& limits, const char*,
                           const char*) {
  return take(name, fallback, limits, true);
}

void add_registered(const Registered& one) {
  if (registered()) throw std::logic_error("its file has several registrations; keep one");
  registered() = one;
}

}  // namespace kneepoint

// The program that loads this library calls it.
extern "C" __attribute__((visibility("default"))) int main(int count, char* words[]) {
  try {
    kneepoint::run(count, words);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return EXIT_FAILURE;
  }
}
