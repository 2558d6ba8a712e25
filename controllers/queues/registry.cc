#include "queues/registry.hh"

namespace kneepoint {

Microseconds time_us(const Notation& given, const char* name) {
  return static_cast<Microseconds>(given[name]) * 1000;
}

Limit limit_of(const Notation& given) {
  return {static_cast<uint64_t>(given.value_or("packets", most_counted)),
          static_cast<uint64_t>(given.value_or("bytes", most_counted))};
}

std::unique_ptr<PacketQueue> make_packet_queue(const std::string& description, uint64_t seed) {
  const Notation given("queue", description, queue_kinds());
  return QueueRegistration::maker(given.kind())(given, seed);
}

bool marks_packets(const std::string& description) {
  const Notation given("queue", description, queue_kinds());
  return queue_kinds().at(given.kind()).marks or given.value_or("ecn", 0) != 0;
}

const Kinds& queue_kinds() { return QueueRegistration::kinds(); }

}  // namespace kneepoint
