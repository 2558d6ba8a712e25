// Turns a file into a controller. One line at its end names the class:
//
//   const Registration<FixedWindow> registration{"fixed_window", "what it does", "where from"};
//
// The name is the file's: fixed_window.cc becomes fixed_window.so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "algorithms/adapter.hh"
#include "algorithms/constants.hh"
#include "algorithms/controller.hh"
#include "algorithms/declaration.hh"
#include "algorithms/interface.h"
#include "algorithms/needs.hh"

namespace kneepoint {

// What this file has registered: of internal linkage, since each shared object has its own.
static const kneepoint_interface* registered = nullptr;
static int registrations = 0;

template <class Algorithm>
class __attribute__((visibility("hidden"))) Registration {
 public:
  // `needed` is a sum of needs::..., if the rule cannot run on every transport.
  Registration(std::string name, std::string summary, std::string source,
               uint32_t needed = needs::none) {
    State& own = state();
    own.name = std::move(name);
    own.summary = std::move(summary);
    own.source = std::move(source);
    own.needed = needed;
    own.calls = Adapter<Algorithm>::calls();
    own.calls.declare = declare;
    own.calls.create = create;
    registered = &own.calls;
    ++registrations;
  }

 private:
  struct State {
    std::string name{};
    std::string summary{};
    std::string source{};
    uint32_t needed = needs::none;
    kneepoint_interface calls{};
    std::optional<Declaration> declaration{};
  };

  // Inside a function, so that it exists before the registration.
  static State& state() {
    static State all;
    return all;
  }

  static const Declaration& declaration() {
    if (registrations != 1) throw std::logic_error("its file has several registrations; keep one");
    State& own = state();
    if (not own.declaration) {
      Constants constants;
      const Algorithm algorithm(constants);
      own.declaration.emplace(own.name, own.summary, own.source, constants.declared(), own.needed);
    }
    return *own.declaration;
  }

  static const kneepoint_declaration* declare() {
    const kneepoint_declaration* const none = nullptr;
    return Failure::guard(none, [] { return &declaration().declared(); });
  }

  static void* create(const double* values, size_t count) {
    void* const none = nullptr;
    return Failure::guard(none, [&]() -> void* {
      Constants constants(declaration().by_name(values, count));
      return new Algorithm(constants);
    });
  }
};

}  // namespace kneepoint

extern "C" inline __attribute__((used)) const kneepoint_interface* kneepoint_controller() {
  return kneepoint::registered;
}
