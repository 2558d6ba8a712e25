// The kit's controller, with a rule that the environment names.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "controller.hh"

namespace {

double setting(const char* name, double otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atof(value);
}

const std::string rule = std::getenv("RULE") == nullptr ? "fixed_window" : std::getenv("RULE");
const double alpha = setting("ALPHA", 1);
const double beta = setting("BETA", 10);
const double limit_ms = setting("LIMIT_MS", 90);
double cwnd = setting("WINDOW", 10);

}  // namespace

Controller::Controller(bool debug) : debug_(debug) {}

unsigned int Controller::window_size() { return static_cast<unsigned>(cwnd); }

unsigned int Controller::timeout_ms() {
  return static_cast<unsigned>(setting("KEEPALIVE_MS", 1000));
}

void Controller::datagram_was_sent(uint64_t, uint64_t, bool after_timeout) {
  if (after_timeout and rule == "aimd_timeout") cwnd = std::max(1.0, cwnd / beta);
}

void Controller::ack_received(uint64_t, uint64_t sent_ms, uint64_t, uint64_t received_ms) {
  if (rule == "fixed_window") return;
  if (rule == "aimd_timeout" or received_ms - sent_ms < limit_ms) {
    cwnd += alpha / cwnd;
  } else {
    cwnd = std::max(1.0, cwnd - beta / cwnd);
  }
}
