// Turns a file into a controller. One line at its end names the class:
//
//   const Registration<FixedWindow> registration{"fixed_window", "what it does", "where from"};
//
// The name is the file's: fixed_window.cc becomes fixed_window.so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "algorithms/adapter.hh"
#include "algorithms/controller.hh"
#include "algorithms/interface.h"
#include "algorithms/needs.hh"
#include "algorithms/parameters.hh"

namespace kneepoint {

// The registration of this file. It has internal linkage, since each shared object has its own.
static const kneepoint_interface* registered = nullptr;
static int registrations = 0;

template <class Algorithm>
class __attribute__((visibility("hidden"))) Registration {
 public:
  // `needed` is a sum of needs::..., if the rule cannot run on every transport.
  Registration(const char* name, const char* summary, const char* source,
               uint32_t needed = needs::none) {
    declared_ = {.name = name,
                 .summary = summary,
                 .source = source,
                 .parameter_count = 0,
                 .parameters = nullptr,
                 .needs = needed};
    calls_ = Adapter<Algorithm>::calls();
    calls_.declare = declare;
    calls_.create = create;
    registered = &calls_;
    ++registrations;
  }

 private:
  // The parameters that the class reads when it is constructed without values.
  static const std::vector<Parameter>& parameters() {
    static const std::vector<Parameter> all = [] {
      if (registrations != 1) {
        throw std::logic_error("its file has several registrations; keep one");
      }
      Parameters parameters;
      const Algorithm algorithm(parameters);
      return parameters.declared();
    }();
    return all;
  }

  static const kneepoint_declaration* declare() {
    const kneepoint_declaration* const none = nullptr;
    return Failure::guard(none, []() -> const kneepoint_declaration* {
      static std::vector<kneepoint_parameter> rows;
      static std::vector<const kneepoint_parameter*> pointers;
      if (not rows.empty()) return &declared_;
      rows.reserve(parameters().size());
      pointers.reserve(parameters().size());
      for (const Parameter& each : parameters()) {
        rows.push_back({.name = each.name.c_str(),
                        .unit = each.unit.c_str(),
                        .meaning = each.meaning.c_str(),
                        .fallback = each.fallback,
                        .low = each.limits.low,
                        .high = each.limits.high,
                        .min = each.limits.min,
                        .max = each.limits.max,
                        .is_integer = each.type == ParameterType::integer,
                        .is_log = each.limits.scale == Scale::log});
        pointers.push_back(&rows.back());
      }
      declared_.parameter_count = pointers.size();
      declared_.parameters = pointers.data();
      return &declared_;
    });
  }

  static void* create(const double* values, size_t count) {
    void* const none = nullptr;
    return Failure::guard(none, [&]() -> void* {
      Parameters::Values named;
      for (size_t i = 0; i < count and i < parameters().size(); ++i) {
        named.insert_or_assign(parameters()[i].name, values[i]);
      }
      Parameters given(named);
      return new Algorithm(given);
    });
  }

  static inline kneepoint_declaration declared_{};
  static inline kneepoint_interface calls_{};
};

}  // namespace kneepoint

extern "C" inline __attribute__((used)) const kneepoint_interface* kneepoint_controller() {
  return kneepoint::registered;
}
