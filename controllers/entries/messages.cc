#include "entries/messages.hh"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace kneepoint {

namespace {

template <class Message>
constexpr size_t bytes_of(const Message& message, size_t used) {
  return sizeof message - (EntryMessages::max_datagrams - used) * sizeof(EntryMessages::Arrival);
}
static_assert(sizeof(EntryMessages::Arrival) == sizeof(EntryMessages::Departure));

// Messages use system calls: the entry's process replaces functions of the C library, which must
// not be called here.
bool write_packet(int descriptor, const auto& message, size_t used) {
  const auto bytes = static_cast<long>(bytes_of(message, used));
  return syscall(SYS_write, descriptor, &message, bytes) == bytes;
}

}  // namespace

bool report_and_hear(EntryMessages& messages) {
  return write_packet(EntryMessages::reports_descriptor, messages.report,
                      messages.report.departures) and
         syscall(SYS_read, EntryMessages::orders_descriptor, &messages.order,
                 sizeof messages.order) > 0;
}

bool send_order(int descriptor, const EntryMessages::Order& order) {
  return write_packet(descriptor, order, order.arrivals);
}

void take_report(int descriptor, EntryMessages::Report& report) {
  report = {};
  const ssize_t bytes = read(descriptor, &report, sizeof report);
  const auto beyond = bytes - static_cast<ssize_t>(bytes_of(report, 0));
  const size_t whole =
      beyond < 0 ? 0 : static_cast<size_t>(beyond) / sizeof(EntryMessages::Departure);
  report.departures = static_cast<uint32_t>(std::min<size_t>(report.departures, whole));
}

}  // namespace kneepoint
