#include "queues/registry.hh"

#include <map>
#include <stdexcept>

namespace kneepoint {

namespace {

// Inside functions, so that they exist before the first registration.
Kinds& kinds() {
  static Kinds all;
  return all;
}

std::map<std::string, MakeQueue>& makers() {
  static std::map<std::string, MakeQueue> all;
  return all;
}

}  // namespace

QueueRegistration::QueueRegistration(const std::string& name, const Kind& kind, MakeQueue make) {
  kinds().emplace(name, kind);
  if (not makers().emplace(name, make).second) {
    throw std::logic_error("two queues are called " + name);
  }
}

Microseconds time_us(const Notation& given, const char* name) {
  return static_cast<Microseconds>(given[name]) * 1000;
}

Limit limit_of(const Notation& given) {
  return {static_cast<uint64_t>(given.value_or("packets", most_counted)),
          static_cast<uint64_t>(given.value_or("bytes", most_counted))};
}

std::unique_ptr<PacketQueue> make_packet_queue(const std::string& description, uint64_t seed) {
  const Notation given("queue", description, kinds());
  return makers().at(given.kind())(given, seed);
}

bool marks_packets(const std::string& description) {
  const Notation given("queue", description, kinds());
  return kinds().at(given.kind()).marks or given.value_or("ecn", 0) != 0;
}

const Kinds& queue_kinds() { return kinds(); }

}  // namespace kneepoint
