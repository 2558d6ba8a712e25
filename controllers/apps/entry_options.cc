#include "apps/entry_options.hh"

#include <stdexcept>

#include "apps/options.hh"
#include "entries/dialect.hh"

namespace kneepoint {

const std::map<std::string, TakeEntryOption>& entry_options() {
  using Entry = EntrySettings;
  using Text = const std::string&;
  static const std::map<std::string, TakeEntryOption> all{
      {"--entry", [](Entry& entry, Text text) { entry.object = text; }},
      {"--entry-sha256",
       [](Entry& entry, Text text) { entry.sha256 = to_sha256(text, "--entry-sha256"); }},
      {"--entry-interpreter", [](Entry& entry, Text text) { entry.interpreter = text; }},
      {"--argument", [](Entry& entry, Text text) { entry.arguments.push_back(text); }},
      {"--env",
       [](Entry& entry, Text text) {
         const size_t equals = text.find('=');
         if (equals == std::string::npos or equals == 0) {
           throw std::invalid_argument("--env " + text + " is not NAME=VALUE");
         }
         entry.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
       }},
      {"--dialect", [](Entry& entry, Text text) { entry.dialect = find_dialect(text).name; }},
  };
  return all;
}

}  // namespace kneepoint
