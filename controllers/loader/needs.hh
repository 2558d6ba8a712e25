// The needs of controllers that a transport meets, besides acknowledgments and losses.
#pragma once

#include <array>
#include <cstdint>

#include "algorithms/needs.hh"

namespace kneepoint {

struct Offer {
  const char* transport;
  const char* condition;  // under which it meets no other needs; empty: always
  uint32_t needs;         // a sum of needs::...
};

// Real datagrams carry no marks back; emulated datagrams do.
inline constexpr Offer offer_of_real_datagrams{"datagrams", " in real time",
                                               needs::receiver_clock | needs::heartbeats};
inline constexpr Offer offer_of_datagrams{"datagrams", "",
                                          offer_of_real_datagrams.needs | needs::counted_marks};
inline constexpr Offer offer_of_tcp{"tcp", " without ecn", needs::timeouts | needs::counted_marks};
inline constexpr Offer offer_of_tcp_with_ecn{"tcp", " with ecn", offer_of_tcp.needs | needs::marks};

struct Need {
  uint32_t bit;
  const char* name;
  const char* meaning;
};
inline constexpr std::array all_needs{
    Need{needs::receiver_clock, "receiver_clock", "the receiver's clock in acknowledgments"},
    Need{needs::timeouts, "timeouts", "retransmission timeouts"},
    Need{needs::marks, "marks", "marks of congestion (ECN)"},
    Need{needs::counted_marks, "counted_marks", "a count of marks in acknowledgments"},
    Need{needs::heartbeats, "heartbeats", "empty keepalives"}};

}  // namespace kneepoint
