#include "wasm/rule_answer.hh"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/limits.hh"
#include "common/json.hh"
#include "common/text.hh"
#include "wasm/rule_language.hh"
#include "wasm/rule_source.hh"

namespace kneepoint {

namespace {

RuleDefaults defaults_of(std::string_view settings) {
  RuleDefaults defaults;
  const std::map<std::string, double*, std::less<>> places{
      {"widest_window", &defaults.widest_window},
      {"initial_window", &defaults.initial_window},
      {"keepalive_ms", &defaults.keepalive_ms}};
  for (const std::string& word : split_words(settings)) {
    const size_t end = std::min(word.find('='), word.size());
    const auto place = places.find(word.substr(0, end));
    if (place == places.end()) {
      throw std::invalid_argument("the rule has no parameter " + shown(word.substr(0, end)) +
                                  "; remove it");
    }
    *place->second = to_real(word.substr(std::min(end + 1, word.size())), place->first);
  }
  return defaults;
}

// Of UTF-8 as JavaScript counts: characters of four bytes count twice.
double units(std::string_view text) {
  return static_cast<double>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }) +
      std::ranges::count_if(text, [](char c) { return (c & 0xf8) == 0xf0; }));
}

std::vector<double> place(std::string_view text, size_t begin, size_t end) {
  return {units(text.substr(0, begin)), units(text.substr(0, end))};
}

size_t line_of(std::string_view text, size_t at) {
  return 1 + static_cast<size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

// As `emulate --list` describes a parameter. A number may vary by a factor of 4; its sign stays.
void describe(JsonWriter& json, const ParsedRule& rule, size_t number, std::string_view text) {
  const RuleLiteral& own = rule.literals[number];
  const double value = own.value;
  const size_t line = line_of(text, own.begin);
  const auto before = std::ranges::count_if(rule.literals, [&](const RuleLiteral& other) {
    return other.begin < own.begin and line_of(text, other.begin) == line;
  });
  const auto [low, high] = value == 0 ? std::pair{-1.0, 1.0} : std::minmax({value / 4, value * 4});
  json.begin_object()
      .field("name", "number_" + std::to_string(number))
      .field("type", "real")
      .field("default", value)
      .field("low", low)
      .field("high", high)
      .field("min", -infinity)
      .field("max", infinity)
      .field("scale", value > 0 ? "log" : "linear")
      .field("unit", "1")
      .field("meaning", "number " + std::to_string(before + 1) + " of line " + std::to_string(line))
      .field("place", place(text, own.begin, own.end))
      .end_object();
}

std::string refused(std::string_view text, const RuleError& error) {
  const std::string where =
      error.end == 0 ? "the rule" : "line " + std::to_string(line_of(text, error.begin)) + ":";
  return JsonWriter()
      .begin_object()
      .field("status", "error")
      .field("reason", where + " " + error.what())
      .field("place", place(text, error.begin, error.end))
      .end_object()
      .text();
}

}  // namespace

std::string answer_rule(std::string_view settings, std::string_view text) {
  try {
    const ParsedRule rule = parse_rule(text);
    const RuleDefaults defaults = defaults_of(settings);
    JsonWriter json;
    json.begin_object().key("parameters").begin_object();
    for (const auto& [name, value] : rule.parameters()) json.field(name, value);
    json.end_object().key("numbers").begin_array();
    for (size_t k = 0; k < rule.literals.size(); ++k) describe(json, rule, k, text);
    return json.end_array()
        .field("controller", controller_source(rule, text, defaults))
        .field("entry", entry_source(rule, text, defaults))
        .end_object()
        .text();
  } catch (const RuleError& error) {
    return refused(text, error);
  }
}

}  // namespace kneepoint
