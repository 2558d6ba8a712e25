// Kinds that register themselves by their names, each in one file.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/notation.hh"

namespace kneepoint {

// The kinds of a `Base`. Each kind is a class whose constructor takes its checked parameters, and
// the arguments that all kinds take.
template <class Base, class... Arguments>
class Registry {
 public:
  template <class Class>
  struct Registration {
    Registration(const std::string& name, const Kind& kind) {
      all().kinds.emplace(name, kind);
      const auto make = [](const Notation& given, Arguments... arguments) {
        return std::unique_ptr<Base>(std::make_unique<Class>(given, std::move(arguments)...));
      };
      if (not all().makers.emplace(name, make).second) {
        throw std::logic_error("two kinds are called " + name);
      }
    }
  };

  static const Kinds& kinds() { return all().kinds; }
  static std::unique_ptr<Base> make(const Notation& given, Arguments... arguments) {
    return all().makers.at(given.kind())(given, std::move(arguments)...);
  }

 private:
  struct Registered {
    Kinds kinds{};
    std::map<std::string, std::unique_ptr<Base> (*)(const Notation&, Arguments...)> makers{};
  };

  // Inside a function, so that it exists before the first registration.
  static Registered& all() {
    static Registered registered;
    return registered;
  }
};

}  // namespace kneepoint
