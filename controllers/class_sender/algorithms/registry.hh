// Registers a candidate's class with the sender that it is linked with, in place of
// algorithms/registry.hh.
#pragma once

#include <cstdint>

#include "algorithms/constants.hh"
#include "algorithms/controller.hh"
#include "algorithms/needs.hh"

namespace kneepoint {

struct Registered {
  Controller* (*create)(Constants&);
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
        {.create = [](Constants& constants) -> Controller* { return new Algorithm(constants); },
         .paces = not is_same<decltype(&Algorithm::pacing_us), decltype(&Controller::pacing_us)>,
         .needed = needed});
  }
};

}  // namespace kneepoint
