// The available controllers: NAME.so in the folder controllers/ next to this program, or in
// $KNEEPOINT_OWN_CONTROLLERS, and any other shared object by its path.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "algorithms/parameters.hh"
#include "common/json.hh"
#include "loader/shared_object.hh"

namespace kneepoint {

class Controllers {
 public:
  // Makes a controller, loading it first if need be. A loaded controller stays the same even if its
  // file changes.
  //
  // Args:
  //   wanted: a name, or, with a slash or .so at its end, a path.
  //   sha256: the shared object's digest; empty: any.
  // offer: the transport's offer to the controller.
  //
  // Throws std::invalid_argument for an unknown controller or parameter, a value out of range, a
  // file that is no controller or crashes or hangs when loaded, a file with another digest, and a
  // controller that is unfit for the transport.
  LoadedController make(const std::string& wanted, const Parameters::Values& values,
                        const std::string& sha256 = "", const Offer& offer = offer_of_datagrams);

  // Returns the names of the controllers in the folder, including broken controllers.
  static std::vector<std::string> names();

  // Writes two members of a JSON object: every controller of the folder with its parameters, and
  // every broken controller with the reason.
  static void describe(JsonWriter& json);

 private:
  std::map<std::filesystem::path, SharedObject> loaded_{};
};

}  // namespace kneepoint
