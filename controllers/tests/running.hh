// Controllers for tests: built controllers by name, and classes of a test itself.
#pragma once

#include <string>

#include "algorithms/adapter.hh"
#include "emulation/rig.hh"
#include "loader/controllers.hh"

namespace kneepoint::test {

inline LoadedController make_controller(const std::string& name,
                                        const Parameters::Values& values = {}) {
  static Controllers controllers;
  return controllers.make(name, values);
}

// Runs over one trace in both directions.
inline RunResult run(const Trace& trace, Scenario scenario,
                     const std::vector<ControllerHandle>& controllers) {
  scenario.flows.resize(controllers.size());
  Meter meter;
  return Rig(scenario,
             {.uplink = &trace, .downlink = &trace, .controllers = controllers, .meter = &meter})
      .run();
}

template <class Algorithm>
ControllerHandle handle_of(Algorithm& controller, bool governs_recovery = false) {
  kneepoint_interface calls = Adapter<Algorithm>::calls();
  calls.governs_recovery |= static_cast<int>(governs_recovery);
  return {calls, &controller};
}

}  // namespace kneepoint::test
