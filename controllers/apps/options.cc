#include "apps/options.hh"

#include <stdexcept>

#include "common/text.hh"

namespace kneepoint {

void add_constant(Constants::Values& constants, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw std::invalid_argument("--set " + text + " is not PARAMETER=VALUE");
  }
  const std::string name = text.substr(0, equals);
  if (not constants.emplace(name, to_real(text.substr(equals + 1), "--set " + name)).second) {
    throw std::invalid_argument("--set " + name + " is given twice");
  }
}

Milliseconds to_duration_ms(const std::string& text) {
  const double duration_s = to_real(text, "--duration-s", 0.001, longest_run_s);
  return static_cast<Milliseconds>(duration_s * 1000 + 0.5);
}

std::string to_sha256(const std::string& text, const std::string& option) {
  if (text.size() != 64 or text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw std::invalid_argument(option + " " + shown(text) + " is not 64 digits of 0-9 and a-f");
  }
  return text;
}

}  // namespace kneepoint
