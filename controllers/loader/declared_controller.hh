// A controller as it declares itself, behind algorithms/interface.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "algorithms/interface.h"
#include "algorithms/parameters.hh"
#include "loader/handle.hh"
#include "loader/needs.hh"

namespace kneepoint {

// One controller, with values for its parameters.
class LoadedController {
 public:
  LoadedController(const kneepoint_interface& calls, void* controller, uint32_t needed)
      : controller_(controller, calls.destroy), handle_(calls, controller, needed) {}

  operator const ControllerHandle&() const { return handle_; }
  const ControllerHandle* operator->() const { return &handle_; }

 private:
  std::unique_ptr<void, void (*)(void*)> controller_;
  ControllerHandle handle_;
};

class DeclaredController {
 public:
  // Throws std::invalid_argument for calls that are no controller's for this program, or declare
  // invalid values or another name than `stem`. `sha256`: its file's; empty: it has none.
  DeclaredController(const kneepoint_interface* calls, const std::string& stem, std::string sha256);

  // Throws std::invalid_argument for an unknown parameter, a value out of range, and for a
  // transport that lacks what the controller needs.
  LoadedController make(const Parameters::Values& values, const Offer& offer) const;

  // What `emulate --list` says of it: one JSON object.
  std::string describe() const;

  const std::string& sha256() const { return sha256_; }

 private:
  void read_declaration(const kneepoint_declaration& declared, const std::string& stem);

  std::string sha256_;
  kneepoint_interface calls_{};
  std::string name_{};
  std::string summary_{};
  std::string source_{};
  std::vector<Parameter> parameters_{};
  uint32_t needs_ = 0;
};

}  // namespace kneepoint
