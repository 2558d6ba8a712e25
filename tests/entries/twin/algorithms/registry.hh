// In an entry a controller's file registers a factory, and no interface in C.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "algorithms/controller.hh"
#include "algorithms/needs.hh"
#include "algorithms/parameters.hh"

namespace kneepoint {

inline std::function<std::unique_ptr<Controller>(Parameters&)> make_controller;

template <class Algorithm>
struct Registration {
  Registration(const char* /* name */, const char* /* summary */, const char* /* source */,
               uint32_t /* needed */ = needs::none) {
    make_controller = [](Parameters& parameters) {
      return std::make_unique<Algorithm>(parameters);
    };
  }
};

}  // namespace kneepoint
