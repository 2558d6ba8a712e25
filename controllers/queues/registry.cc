#include "queues/registry.hh"

#include <map>
#include <stdexcept>

namespace kneepoint {

namespace {

// Inside a function, so that it exists before the first registration.
std::map<std::string, MakeQueue>& queues() {
  static std::map<std::string, MakeQueue> all;
  return all;
}

}  // namespace

QueueRegistration::QueueRegistration(const char* policy, MakeQueue make) {
  if (not queues().emplace(policy, make).second) {
    throw std::logic_error(std::string("two queues are called ") + policy);
  }
}

std::unique_ptr<PacketQueue> make_packet_queue(const std::string& description, uint64_t seed) {
  QueueArguments arguments(description);
  const auto found = queues().find(arguments.policy());
  if (found == queues().end()) {
    std::string known;
    for (const auto& [policy, make] : queues()) known += (known.empty() ? "" : ", ") + policy;
    arguments.refuse("unknown policy; known: " + known);
  }
  auto queue = found->second(arguments, seed);
  arguments.check_all_taken();
  return queue;
}

}  // namespace kneepoint
