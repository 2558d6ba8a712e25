// A controller with its declaration, through algorithms/interface.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "algorithms/interface.h"
#include "algorithms/parameters.hh"
#include "loader/handle.hh"
#include "loader/needs.hh"

namespace kneepoint {

// A running controller, with values for its parameters.
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
  // Throws std::invalid_argument if the calls are not the calls of a controller for this program,
  // or if they declare invalid values or another name than `stem`. `sha256` is the digest of the
  // controller's file; empty: the controller has no file.
  DeclaredController(const kneepoint_interface* calls, const std::string& stem, std::string sha256);

  // Throws std::invalid_argument for an unknown parameter, a value out of range, and a transport
  // that lacks a capability that the controller needs.
  LoadedController make(const Parameters::Values& values, const Offer& offer) const;

  // Returns the JSON object of this controller in the answer of `emulate --list`.
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
