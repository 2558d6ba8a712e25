// Kinds that register themselves by their names, each in one file.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include "common/notation.hh"

namespace kneepoint {

// `Make` makes one of checked parameters; each type of it has kinds of its own.
template <class Make>
class Registration {
 public:
  Registration(const std::string& name, const Kind& kind, Make make) {
    all().kinds.emplace(name, kind);
    if (not all().makers.emplace(name, make).second) {
      throw std::logic_error("two kinds are called " + name);
    }
  }

  static const Kinds& kinds() { return all().kinds; }
  static Make maker(const std::string& kind) { return all().makers.at(kind); }

 private:
  struct Registered {
    Kinds kinds{};
    std::map<std::string, Make> makers{};
  };

  // Inside a function, so that it exists before the first registration.
  static Registered& all() {
    static Registered registered;
    return registered;
  }
};

}  // namespace kneepoint
