#include "entries/settings.hh"

#include <stdexcept>

namespace kneepoint {

std::pair<std::string, std::string> to_variable(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos or equals == 0) {
    throw std::invalid_argument("--env " + text + " is not NAME=VALUE");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace kneepoint
