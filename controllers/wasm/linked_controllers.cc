// Controllers that are part of the program, in place of shared objects.
#include <stdexcept>

#include "common/text.hh"
#include "loader/controllers.hh"

#define CONTROLLER(name) extern "C" const kneepoint_interface* kneepoint_controller_##name();
#include "linked_controllers.inc"
#undef CONTROLLER

namespace kneepoint {

namespace {

// Returns the linked controllers by name.
const std::map<std::string, DeclaredController>& linked() {
  static const std::map<std::string, DeclaredController> controllers{
#define CONTROLLER(name) {#name, {kneepoint_controller_##name(), #name, ""}},
#include "linked_controllers.inc"
#undef CONTROLLER
  };
  return controllers;
}

}  // namespace

LoadedController Controllers::make(const std::string& wanted, const Parameters::Values& values,
                                   const std::string& sha256, const Offer& offer) {
  const auto found = linked().find(wanted);
  if (found == linked().end()) {
    throw std::invalid_argument("unknown controller '" + wanted + "'; known: " + joined(names()));
  }
  if (not sha256.empty()) {
    throw std::invalid_argument("controller " + wanted + " is part of this program, and has no " +
                                "digest; leave out controller_sha256");
  }
  return found->second.make(values, offer);
}

std::vector<std::string> Controllers::names() {
  std::vector<std::string> names;
  for (const auto& [name, controller] : linked()) names.push_back(name);
  return names;
}

void Controllers::describe(JsonWriter& json) {
  json.key("controllers").begin_array();
  for (const auto& [name, controller] : linked()) json.json(controller.describe());
  json.end_array().key("broken").begin_array().end_array();
}

}  // namespace kneepoint
