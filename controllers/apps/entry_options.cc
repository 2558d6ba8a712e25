#include "apps/entry_options.hh"

#include <stdexcept>

#include "entries/dialect.hh"

namespace kneepoint {

Options entry_options(EntrySettings& entry) {
  using Text = const std::string&;
  const auto add_argument = [&entry](Text text, Text) { entry.arguments.push_back(text); };
  const auto add_variable = [&entry](Text text, Text name) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos or equals == 0) {
      throw std::invalid_argument(name + " " + text + " is not NAME=VALUE");
    }
    entry.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  };
  const auto take_dialect = [&entry](Text text, Text) { entry.dialect = find_dialect(text).name; };
  return {{"--entry", text_at(entry.object)},
          {"--entry-sha256", sha256_at(entry.sha256)},
          {"--entry-interpreter", text_at(entry.interpreter)},
          {"--argument", {add_argument}},
          {"--env", {add_variable}},
          {"--dialect", {take_dialect}}};
}

}  // namespace kneepoint
