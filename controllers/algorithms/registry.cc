#include "algorithms/registry.hh"

#include <stdexcept>

#include "network/json.hh"

namespace kneepoint {

Algorithms& algorithms() {
  // Inside a function, so that it exists before the first controller's file registers itself.
  static Algorithms all;
  return all;
}

std::unique_ptr<Controller> make_controller(const std::string& name, Constants::Values values) {
  const auto found = algorithms().find(name);
  if (found == algorithms().end()) {
    std::string known;
    for (const auto& [known_name, algorithm] : algorithms()) {
      known += (known.empty() ? "" : ", ") + known_name;
    }
    throw std::invalid_argument("no controller is named '" + name + "'; there are: " + known);
  }
  Constants constants(std::move(values));
  auto controller = found->second.construct(constants);
  constants.check_all_known(name);
  return controller;
}

namespace {

void describe(JsonWriter& json, const Constant& constant) {
  json.begin_object()
      .field("name", constant.name)
      .field("type", constant.type == ConstantType::integer ? "integer" : "real")
      .field("default", constant.fallback)
      .field("low", constant.low)
      .field("high", constant.high)
      .field("least", constant.least)
      .field("most", constant.most)
      .field("scale", constant.scale == Scale::log ? "log" : "linear")
      .field("unit", constant.unit)
      .field("meaning", constant.meaning)
      .end_object();
}

}  // namespace

std::string describe_algorithms() {
  JsonWriter json;
  json.begin_object().key("controllers").begin_array();
  for (const auto& [name, algorithm] : algorithms()) {
    Constants constants;
    algorithm.construct(constants);
    json.begin_object()
        .field("name", name)
        .field("summary", algorithm.summary)
        .field("source", algorithm.source)
        .key("constants")
        .begin_array();
    for (const Constant& constant : constants.declared()) describe(json, constant);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.text();
}

}  // namespace kneepoint
