#include "common/notation.hh"

#include <stdexcept>

#include "common/text.hh"

namespace kneepoint {

void describe(JsonWriter& json, const Kinds& kinds) {
  static constexpr std::string_view types[]{"whole", "real", "positive", "times"};
  const auto truth = [](bool value) { return value ? "true" : "false"; };
  json.begin_array();
  for (const auto& [name, kind] : kinds) {
    json.begin_object().field("name", name).field("meaning", kind.meaning).key("needs_bound");
    json.json(truth(kind.needs_bound)).key("marks").json(truth(kind.marks));
    json.key("parameters").begin_array();
    for (const NotationParameter& each : kind.parameters) {
      json.begin_object().field("name", each.name).field("min", each.min);
      json.field("type", types[static_cast<size_t>(each.type)]).field("max", each.max);
      json.key("default").json(each.fallback ? to_text(*each.fallback) : "null");
      json.field("unit", each.unit).field("meaning", each.meaning).field("below", each.below);
      json.key("required").json(truth(each.is_required)).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

Notation::Notation(const std::string& what, const std::string& description, const Kinds& kinds)
    : where_(what + " " + description), kind_(description, 0, description.find(':')) {
  const auto found = kinds.find(kind_);
  if (found == kinds.end()) {
    std::vector<std::string> known;
    for (const auto& [name, kind] : kinds) known.push_back(name);
    refuse("it is unknown; known: " + joined(known));
  }
  std::map<std::string, std::string> given;
  if (kind_ != description) {
    for (const std::string& argument : split(description.substr(kind_.size() + 1), ',')) {
      const size_t equals = argument.find('=');
      if (equals == std::string::npos) refuse("'" + argument + "' is not NAME=VALUE");
      if (not given.emplace(argument.substr(0, equals), argument.substr(equals + 1)).second) {
        refuse(argument.substr(0, equals) + " is given twice");
      }
    }
  }
  if (found->second.needs_bound and not given.contains("packets") and not given.contains("bytes")) {
    refuse(kind_ + " needs packets=NUMBER or bytes=NUMBER");
  }
  std::string known;
  for (const NotationParameter& each : found->second.parameters) {
    known.append(" ").append(each.name);
    if (const auto node = given.extract(each.name)) {
      values_[each.name] = read(each, node.mapped());
    } else if (each.fallback) {
      values_[each.name] = {*each.fallback};
    } else if (each.is_required) {
      refuse(kind_ + " needs " + each.name + "=NUMBER");
    }
  }
  if (not given.empty()) {
    refuse(kind_ + " has no parameter " + given.begin()->first + "; it has:" + known);
  }
  for (const NotationParameter& each : found->second.parameters) {
    if (*each.below != '\0' and (*this)[each.name] >= (*this)[each.below]) {
      refuse(std::string(each.name) + " must be below " + each.below);
    }
  }
}

std::vector<double> Notation::read(const NotationParameter& parameter,
                                   const std::string& text) const {
  const auto& [name, type, min, max, fallback, unit, meaning, is_required, below] = parameter;
  const std::string what = where_ + ": " + name;
  std::vector<double> values;
  for (const std::string& each :
       type == NotationType::times ? split(text, '+') : std::vector{text}) {
    values.push_back(to_real(each, what, min, max));
  }
  if (type == NotationType::whole) to_whole(text, what);
  if (type == NotationType::positive and values.front() <= 0) {
    refuse(std::string(name) + " must be above 0");
  }
  return values;
}

double Notation::value_or(const std::string& name, double fallback) const {
  return values_.contains(name) ? (*this)[name] : fallback;
}

std::vector<double> Notation::times(const std::string& name) const {
  return values_.contains(name) ? values_.at(name) : std::vector<double>{};
}

void Notation::refuse(const std::string& reason) const {
  throw std::invalid_argument(where_ + ": " + reason);
}

}  // namespace kneepoint
