// Controllers for tests: the built ones by name, and classes of a test's own.
#pragma once

#include <string>

#include "algorithms/adapter.hh"
#include "loader/controllers.hh"

namespace kneepoint::test {

inline LoadedController make_controller(const std::string& name,
                                        const Constants::Values& values = {}) {
  static Controllers controllers;
  return controllers.make(name, values);
}

template <class Algorithm>
ControllerHandle handle_of(Algorithm& controller) {
  return {Adapter<Algorithm>::calls(), &controller};
}

}  // namespace kneepoint::test
