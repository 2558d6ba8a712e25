// Every controller by its name. A controller registers itself from its own file:
//
//   const Registration<FixedWindow> registration{"fixed_window", "what it does", "where from"};
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "algorithms/constants.hh"
#include "algorithms/controller.hh"

namespace kneepoint {

struct Algorithm {
  std::string summary;
  std::string source;
  std::unique_ptr<Controller> (*construct)(Constants&);
};

using Algorithms = std::map<std::string, Algorithm, std::less<>>;

Algorithms& algorithms();

// Throws std::invalid_argument for an unknown controller or constant, or a value out of range.
std::unique_ptr<Controller> make_controller(const std::string& name, Constants::Values values);

// What `emulate --list` prints: every controller and its constants as one JSON object.
std::string describe_algorithms();

template <class Algorithm_>
class Registration {
 public:
  Registration(std::string name, std::string summary, std::string source) {
    algorithms().insert_or_assign(
        std::move(name), Algorithm{std::move(summary), std::move(source),
                                   [](Constants& constants) -> std::unique_ptr<Controller> {
                                     return std::make_unique<Algorithm_>(constants);
                                   }});
  }
};

}  // namespace kneepoint
