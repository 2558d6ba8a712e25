// The available queues: each file of this folder registers its own, so that adding one takes
// one file and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "queues/arguments.hh"
#include "queues/packet_queue.hh"

namespace kneepoint {

// Makes a queue from its arguments; the seed is for policies that draw random numbers. Arguments
// that it does not take are refused afterwards.
using MakeQueue = std::unique_ptr<PacketQueue> (*)(QueueArguments& arguments, uint64_t seed);

class QueueRegistration {
 public:
  QueueRegistration(const char* policy, MakeQueue make);
};

// From "infinite", "droptail:packets=100", "codel:target=5,interval=100" and the like; see
// docs/emulator.md. Throws std::invalid_argument for an unknown policy or argument, a missing or
// impossible value.
std::unique_ptr<PacketQueue> make_packet_queue(const std::string& description, uint64_t seed);

}  // namespace kneepoint
