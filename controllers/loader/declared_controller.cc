#include "loader/declared_controller.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "common/json.hh"
#include "common/text.hh"

namespace kneepoint {

namespace {

constexpr size_t max_parameters = 1000;

[[noreturn]] void refuse(const std::string& reason) { throw std::invalid_argument(reason); }

bool is_name(const char* text) {
  static constexpr const char* letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return text != nullptr and *text != '\0' and text[std::strspn(text, letters)] == '\0';
}

Parameter to_parameter(const kneepoint_parameter* declared) {
  if (declared == nullptr or not is_name(declared->name)) {
    refuse("declares a parameter without a name of letters, digits and _");
  }
  Parameter parameter{.name = declared->name,
                      .fallback = declared->fallback,
                      .limits = {.low = declared->low,
                                 .high = declared->high,
                                 .min = declared->min,
                                 .max = declared->max,
                                 .scale = declared->is_log ? Scale::log : Scale::linear},
                      .unit = one_line(declared->unit),
                      .meaning = one_line(declared->meaning),
                      .type = declared->is_integer ? ParameterType::integer : ParameterType::real};
  const auto require = [&](bool holds, const std::string& what) {
    if (not holds) refuse("declares the parameter " + parameter.name + ", but " + what);
  };
  const auto& [low, high, min, max, scale] = parameter.limits;
  require(std::isfinite(low) and std::isfinite(high), "its range is not finite");
  require(low < high, "its low is not below its high");
  require(min <= low and high <= max, "its range is not within [min, max]");
  require(
      parameter.fallback >= min and parameter.fallback <= max and std::isfinite(parameter.fallback),
      "its default is not within [min, max]");
  require(scale == Scale::linear or low > 0, "a range on a log scale begins above 0");
  require(not parameter.unit.empty() and not parameter.meaning.empty(),
          "it has no unit or no meaning");
  return parameter;
}

void check(const Parameter& parameter, double value) {
  if (not(value >= parameter.limits.min and value <= parameter.limits.max)) {
    refuse("parameter " + parameter.name + " = " + to_text(value) + " is outside [" +
           to_text(parameter.limits.min) + ", " + to_text(parameter.limits.max) + "]");
  }
  if (parameter.type == ParameterType::integer and value != std::floor(value)) {
    refuse("parameter " + parameter.name + " = " + to_text(value) + " must be a whole number");
  }
}

void describe(JsonWriter& json, const Parameter& parameter) {
  json.begin_object()
      .field("name", parameter.name)
      .field("type", parameter.type == ParameterType::integer ? "integer" : "real")
      .field("default", parameter.fallback)
      .field("low", parameter.limits.low)
      .field("high", parameter.limits.high)
      .field("min", parameter.limits.min)
      .field("max", parameter.limits.max)
      .field("scale", parameter.limits.scale == Scale::log ? "log" : "linear")
      .field("unit", parameter.unit)
      .field("meaning", parameter.meaning)
      .end_object();
}

}  // namespace

DeclaredController::DeclaredController(const kneepoint_interface* calls, const std::string& stem,
                                       std::string sha256)
    : sha256_(std::move(sha256)) {
  if (calls == nullptr) refuse("registers no controller; add a Registration");
  if (calls->version != KNEEPOINT_INTERFACE_VERSION) {
    refuse("has version " + std::to_string(calls->version) + " of the interface, not " +
           std::to_string(KNEEPOINT_INTERFACE_VERSION) + "; build it again");
  }
  calls_ = *calls;
  if (calls_.declare == nullptr or calls_.create == nullptr or calls_.destroy == nullptr or
      calls_.window == nullptr or calls_.keepalive_ms == nullptr or calls_.failure == nullptr) {
    refuse("lacks one of declare, create, destroy, window, keepalive_ms, failure");
  }
  const kneepoint_declaration* const declared = calls_.declare();
  if (declared == nullptr) {
    throw_failure(calls_);
    refuse("declares nothing");
  }
  read_declaration(*declared, stem);
}

void DeclaredController::read_declaration(const kneepoint_declaration& declared,
                                          const std::string& stem) {
  if (not is_name(declared.name)) refuse("declares no name of letters, digits and _");
  name_ = declared.name;
  if (name_ != stem) {
    refuse("declares the name " + name_ + "; call the file " + name_ + ".so, or register " + stem);
  }
  summary_ = one_line(declared.summary);
  source_ = one_line(declared.source);
  if (declared.parameter_count > max_parameters or
      (declared.parameters == nullptr and declared.parameter_count > 0)) {
    refuse("declares an invalid list of parameters");
  }
  for (size_t i = 0; i < declared.parameter_count; ++i) {
    parameters_.push_back(to_parameter(declared.parameters[i]));
    const std::string& name = parameters_.back().name;
    if (std::ranges::count(parameters_, name, &Parameter::name) > 1) {
      refuse("declares the parameter " + name + " twice");
    }
  }
  needs_ = declared.needs;
  uint32_t known = 0;
  for (const Need& need : all_needs) known |= need.bit;
  if ((needs_ & ~known) != 0)
    refuse("has a need that this program does not know; build a newer program");
}

LoadedController DeclaredController::make(const Parameters::Values& given,
                                          const Offer& offer) const {
  for (const Need& need : all_needs) {
    if ((needs_ & need.bit & ~offer.needs) == 0) continue;
    refuse("controller " + name_ + " needs " + need.meaning + ", which transport " +
           offer.transport + offer.condition + " does not have");
  }
  std::vector<double> values;
  std::vector<std::string> known;
  for (const Parameter& parameter : parameters_) {
    const auto found = given.find(parameter.name);
    values.push_back(found == given.end() ? parameter.fallback : found->second);
    check(parameter, values.back());
    known.push_back(parameter.name);
  }
  for (const auto& [name, value] : given) {
    if (std::ranges::find(parameters_, name, &Parameter::name) == parameters_.end()) {
      refuse("controller " + name_ + " has no parameter " + name + "; it has: " + joined(known));
    }
  }
  void* const controller = calls_.create(values.data(), values.size());
  if (controller == nullptr) {
    throw_failure(calls_);
    throw ControllerFailure("the controller could not be created and gave no reason");
  }
  return {calls_, controller, needs_};
}

std::string DeclaredController::describe() const {
  JsonWriter json;
  json.begin_object().field("name", name_).field("summary", summary_).field("source", source_);
  if (not sha256_.empty()) json.field("sha256", sha256_);
  json.key("needs").begin_array();
  for (const Need& need : all_needs) {
    if ((needs_ & need.bit) != 0) json.value(std::string_view(need.name));
  }
  json.end_array().key("transports").begin_array();
  for (const Offer& offer : {offer_of_datagrams, offer_of_tcp_with_ecn}) {
    if ((needs_ & ~offer.needs) == 0) json.value(std::string_view(offer.transport));
  }
  json.end_array().key("parameters").begin_array();
  for (const Parameter& parameter : parameters_) kneepoint::describe(json, parameter);
  return json.end_array().end_object().text();
}

}  // namespace kneepoint
