// A controller's file: a shared object, which stays loaded to the end of the process.
#pragma once

#include <filesystem>

#include "common/input_file.hh"
#include "loader/declared_controller.hh"

namespace kneepoint {

struct SharedObject {
  DeclaredController controller;
  FileState file;
};

// Throws std::invalid_argument, beginning with the path, for a file that is not a controller, or
// for a controller that DeclaredController refuses.
SharedObject load_shared_object(const std::filesystem::path& path);

}  // namespace kneepoint
