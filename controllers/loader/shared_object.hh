// A controller's file: a shared object behind algorithms/interface.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/interface.h"
#include "algorithms/parameters.hh"
#include "common/input_file.hh"
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

// A loaded shared object; it stays loaded to the end of the process.
class SharedObject {
 public:
  // Throws std::invalid_argument, beginning with the path, for a file that is not a controller, is
  // not one for this program, or declares invalid values or another name than its own.
  static SharedObject load(const std::filesystem::path& path);

  // Throws std::invalid_argument for an unknown parameter, a value out of range, and for a
  // transport that lacks what the controller needs.
  LoadedController make(const Parameters::Values& values, const Offer& offer) const;

  // What `emulate --list` says of it: one JSON object.
  std::string describe() const;

  const std::string& sha256() const { return sha256_; }
  const FileState& file() const { return file_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  void resolve(void* library, const std::string& stem);
  void read_declaration(const kneepoint_declaration& declared, const std::string& stem);

  std::string path_{};
  std::string sha256_{};
  FileState file_{};
  kneepoint_interface calls_{};
  std::string name_{};
  std::string summary_{};
  std::string source_{};
  std::vector<Parameter> parameters_{};
  uint32_t needs_ = 0;
};

}  // namespace kneepoint
