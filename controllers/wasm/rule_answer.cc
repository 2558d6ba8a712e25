#include "wasm/rule_answer.hh"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "algorithms/limits.hh"
#include "common/json.hh"
#include "common/text.hh"
#include "wasm/rule_language.hh"
#include "wasm/rule_source.hh"

namespace kneepoint {

namespace {

// Sets the rule's numbers, and returns its other parameters.
RuleDefaults apply(std::string_view settings, ParsedRule& rule) {
  RuleDefaults others;
  std::map<std::string, double*, std::less<>> places{{"widest_window", &others.widest_window},
                                                     {"initial_window", &others.initial_window},
                                                     {"keepalive_ms", &others.keepalive_ms}};
  for (size_t k = 0; k < rule.literals.size(); ++k) {
    places["number_" + std::to_string(k)] = &rule.literals[k].value;
  }
  for (const std::string& word : split_words(settings)) {
    const size_t end = std::min(word.find('='), word.size());
    const auto place = places.find(word.substr(0, end));
    if (place == places.end()) {
      throw std::invalid_argument("the rule has no parameter " + shown(word.substr(0, end)) +
                                  "; remove it");
    }
    *place->second = to_real(word.substr(std::min(end + 1, word.size())), place->first);
  }
  return others;
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
  const double near = std::abs(value) / 4;
  const double far = std::abs(value) * 4;
  json.begin_object()
      .field("name", "number_" + std::to_string(number))
      .field("type", "real")
      .field("default", value)
      .field("low", value > 0   ? near
                    : value < 0 ? -far
                                : -1)
      .field("high", value > 0   ? far
                     : value < 0 ? -near
                                 : 1)
      .field("min", -infinity)
      .field("max", infinity)
      .field("scale", value > 0 ? "log" : "linear")
      .field("unit", "1")
      .field("meaning", "number " + std::to_string(before + 1) + " of line " + std::to_string(line))
      .end_object();
}

std::string refused(std::string_view text, const RuleError& error) {
  const bool is_whole = error.begin == error.end and error.begin == 0;
  const std::string where =
      is_whole ? "the rule" : "line " + std::to_string(line_of(text, error.begin)) + ":";
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
    ParsedRule rule = parse_rule(text);
    const RuleDefaults defaults = apply(settings, rule);
    JsonWriter json;
    json.begin_object().key("parameters").begin_object();
    for (const auto& [name, value] : rule.parameters()) json.field(name, value);
    json.end_object().field("operators", uint64_t{rule.operators()}).key("numbers").begin_array();
    for (size_t k = 0; k < rule.literals.size(); ++k) describe(json, rule, k, text);
    json.end_array().key("places").begin_array();
    for (const RuleLiteral& literal : rule.literals) {
      json.value(place(text, literal.begin, literal.end));
    }
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
