// What transports offer to controllers besides acknowledgments and losses.
#pragma once

#include <array>
#include <cstdint>

#include "algorithms/needs.hh"

namespace kneepoint {

struct Offer {
  const char* transport;
  const char* condition;  // under which it is so; empty: none
  uint32_t needs;         // a sum of needs::...
};

inline constexpr Offer offer_of_datagrams{"datagrams", "", needs::receiver_clock};
inline constexpr Offer offer_of_tcp{"tcp", " without ecn", needs::timeouts};
inline constexpr Offer offer_of_tcp_with_ecn{"tcp", " with ecn", needs::timeouts | needs::marks};

struct Need {
  uint32_t bit;
  const char* name;
  const char* meaning;
};
inline constexpr std::array all_needs{
    Need{needs::receiver_clock, "receiver_clock", "the receiver's clock in acknowledgments"},
    Need{needs::timeouts, "timeouts", "retransmission timeouts"},
    Need{needs::marks, "marks", "marks of congestion (ECN)"}};

}  // namespace kneepoint
