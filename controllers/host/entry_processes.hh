// The processes of a flow whose sender is an entry: a whole program, beside its kit's receiver.
#pragma once

#include <cstdint>
#include <deque>

#include "entries/child.hh"
#include "entries/dialect.hh"
#include "host/contest_processes.hh"
#include "host/flight_record.hh"
#include "host/header_store.hh"
#include "host/host_model.hh"
#include "links/timed_packets.hh"

namespace kneepoint {

// The headers of both directions of a flow.
struct HeaderStores {
  explicit HeaderStores(bool keeps_order) : datagrams(keeps_order), acknowledgments(keeps_order) {}

  HeaderStore<DatagramHeader> datagrams;
  HeaderStore<DatagramHeader> acknowledgments;
};

class EntryProcess final : public Process {
 public:
  // References and the record, which may be null, must outlive the process. `lookahead_us`: how far
  // ahead of its own time the entry learns of arrivals.
  EntryProcess(const Endpoint& end, EntryChild& child, const Dialect& dialect, Lateness lateness,
               const Lifetime& lifetime, Microseconds end_us, Microseconds lookahead_us,
               uint64_t seed, HeaderStores& headers, FlightRecord* record);

  void arrive(Microseconds time_us, const Packet& packet) override;

  // Throws ControllerFailure where the entry misbehaves.
  void act(Microseconds now_us) override;

  void finish(Microseconds end_us, Traffic& traffic) override;

 private:
  void give_order(Microseconds now_us);
  Microseconds take_report(Microseconds now_us);
  void send(const EntryMessages::Departure& departure, Microseconds now_us);
  void plan();

  Endpoint end_;
  EntryChild& child_;
  const Dialect& dialect_;
  Lateness lateness_;
  Microseconds stop_us_;
  Microseconds end_us_;
  Microseconds lookahead_us_;
  HeaderStores& headers_;
  FlightRecord* record_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next timer
  struct UnreadPacket {
    Microseconds arrived_us;
    DatagramHeader header;
  };
  TimedPackets inbox_{};
  std::deque<UnreadPacket> unread_{};
  EntryMessages::Wish wish_ = EntryMessages::know;
  int64_t wakes_ns_ = 0;
  Microseconds busy_until_us_ = 0;
  Microseconds ready_us_;  // until then the entry computes
  uint64_t packets_sent_ = 0;
  uint64_t next_unacknowledged_ = 0;
};

// The kit's receiver: its clock begins with the first datagram, or shows the date.
class EntryReceiver final : public ReceiverProcess {
 public:
  // A clock that shows dates counts from `epoch_ms`.
  EntryReceiver(const Dialect& dialect, uint64_t epoch_ms, const HostModel& host, Lateness lateness,
                Hop& way_back, HeaderStores& headers, FlowMeter* meter);

  void arrive(Microseconds time_us, const Packet& packet) override;

 private:
  const Dialect& dialect_;
  HeaderStores& headers_;
  Milliseconds clock_zero_ms_;  // when its clock shows 0
};

}  // namespace kneepoint
