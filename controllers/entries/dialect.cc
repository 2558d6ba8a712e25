#include "entries/dialect.hh"

#include <stdexcept>

#include "transport/contest_datagram.hh"

namespace kneepoint {

namespace {

// Datagrump, the kit before sourdough (packet.{cc,hh}, timestamp.hh, datagrump-receiver.cc): the
// first five of the six numbers, and milliseconds since the epoch. The sixth number is padding
// there.
constexpr size_t bytes_2013 = ContestHeader::bytes - 8;

constexpr Dialect dialects[]{
    {"sourdough", ContestHeader::bytes + contest_payload_bytes, ContestHeader::bytes, false},
    {"2013", ContestHeader::bytes + contest_payload_bytes, bytes_2013, true}};

}  // namespace

DatagramHeader acknowledge(const DatagramHeader& datagram, uint64_t number,
                           Milliseconds received_ms) {
  return acknowledge(*ContestHeader::decode(datagram), number, static_cast<uint64_t>(received_ms),
                     contest_payload_bytes)
      .encode();
}

const Dialect& find_dialect(const std::string& name) {
  for (const Dialect& dialect : dialects) {
    if (dialect.name == name) return dialect;
  }
  std::string known;
  for (const std::string& each : dialect_names()) known += " " + each;
  throw std::invalid_argument("no dialect is named '" + name + "'; there are:" + known);
}

std::vector<std::string> dialect_names() {
  std::vector<std::string> names;
  for (const Dialect& dialect : dialects) names.push_back(dialect.name);
  return names;
}

}  // namespace kneepoint
