// Registers a candidate's class with the sender that it is linked with, in place of
// algorithms/registry.hh.
#pragma once

#include <cstdint>

#include "algorithms/controller.hh"
#include "algorithms/needs.hh"
#include "algorithms/parameters.hh"

namespace kneepoint {

struct Registered {
  Controller* (*create)(Parameters&);
  bool paces;
  uint32_t needed;
};

void add_registered(const Registered& registered);

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;

template <class Algorithm>
class Registration {
 public:
  Registration(const char* /* name */, const char* /* summary */, const char* /* source */,
               uint32_t needed = needs::none) {
    add_registered(
        {.create = [](Parameters& parameters) -> Controller* { return new Algorithm(parameters); },
         .paces = not is_same<decltype(&Algorithm::pacing_us), decltype(&Controller::pacing_us)>,
         .needed = needed});
  }
};

}  // namespace kneepoint
