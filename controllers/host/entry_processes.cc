#include "host/entry_processes.hh"

#include <algorithm>

#include "common/text.hh"
#include "entries/date.hh"
#include "loader/handle.hh"

namespace kneepoint {

namespace {

static_assert(sizeof(DatagramHeader) == sizeof(EntryMessages::Header));

constexpr int64_t microsecond_ns = 1000;
// The latest time that an entry's clock can report, so that nothing overflows.
constexpr int64_t latest_ns = EntryMessages::never_ns / 4;

int64_t bounded(int64_t time_ns, Microseconds min_us) {
  return std::clamp(time_ns, min_us * microsecond_ns, latest_ns);
}

}  // namespace

EntryProcess::EntryProcess(const Endpoint& end, EntryChild& child, const Dialect& dialect,
                           Lateness lateness, const Lifetime& lifetime, Microseconds end_us,
                           Microseconds lookahead_us, uint64_t seed, HeaderStores& headers,
                           FlightRecord* record)
    : end_(end),
      child_(child),
      dialect_(dialect),
      lateness_(lateness),
      stop_us_(lifetime.stop_us),
      end_us_(end_us),
      lookahead_us_(lookahead_us),
      headers_(headers),
      record_(record),
      wakes_ns_(lifetime.start_us * microsecond_ns),
      ready_us_(lifetime.start_us) {
  EntryMessages::Order& order = child_.order();
  order.packet_ns = end_.packet_us * microsecond_ns;
  order.start_ns = lifetime.start_us * microsecond_ns;
  order.end_ns = end_us * microsecond_ns;
  order.seed = seed;
  order.arrival_bytes = static_cast<uint32_t>(dialect.acknowledgment_bytes);
  plan();
}

void EntryProcess::arrive(Microseconds time_us, const Packet& packet) {
  const Microseconds readable_us = lateness_.read_time(time_us);
  inbox_.push(readable_us, packet);
  unread_.push_back({time_us, headers_.acknowledgments.take(packet.sequence_number)});
  next_unacknowledged_ = std::max(next_unacknowledged_, packet.sequence_number + 1);
  if (end_.meter != nullptr) end_.meter->measured(time_us - sent_us(packet), time_us);
  if (record_ != nullptr) {
    record_->acknowledged(time_us, packet.sequence_number, whole_ms(time_us) - packet.sent_ms);
  }
  if (wish_ == EntryMessages::arrival) plan();
}

void EntryProcess::act(Microseconds now_us) {
  const bool timer_fired = wish_ == EntryMessages::sleep or
                           (wish_ == EntryMessages::arrival and
                            (inbox_.empty() or inbox_.next_us() * microsecond_ns > wakes_ns_));
  if (timer_fired) lateness_us_ = lateness_.draw_timer();
  if (record_ != nullptr) record_->settle(now_us);
  give_order(now_us);
  try {
    child_.take_turn();
  } catch (const ControllerFailure& failure) {
    const double after_s = static_cast<double>(now_us / 1000) / 1000;
    throw ControllerFailure("after " + to_text(after_s) + " s " + failure.what());
  }
  ready_us_ = take_report(now_us);
  plan();
}

void EntryProcess::finish(Microseconds end_us, Traffic& traffic) {
  if (record_ != nullptr) record_->settle(end_us);
  traffic.packets_sent += packets_sent_;
}

void EntryProcess::give_order(Microseconds now_us) {
  end_.plan(never);  // the agenda's next event is then another process's
  EntryMessages::Order& order = child_.order();
  // No packet reaches the entry before another process acts.
  Microseconds known_until_us =
      std::max(now_us, std::min(end_.agenda.next().time_us - 1, now_us + lookahead_us_));
  uint32_t count = 0;
  while (inbox_.next_us() <= known_until_us and count < EntryMessages::max_datagrams) {
    EntryMessages::Arrival& arrival = order.arrival[count++];
    arrival.readable_ns = inbox_.next_us() * microsecond_ns;
    inbox_.pop();
    arrival.arrived_ns = unread_.front().arrived_us * microsecond_ns;
    arrival.header = unread_.front().header;
    unread_.pop_front();
  }
  order.known_until_ns =
      std::min(known_until_us * microsecond_ns + microsecond_ns - 1,
               inbox_.empty() ? latest_ns : inbox_.next_us() * microsecond_ns - 1);
  order.lateness_ns = lateness_us_ * microsecond_ns;
  order.arrivals = count;
}

// Returns the time that the entry's clock has reached.
Microseconds EntryProcess::take_report(Microseconds now_us) {
  const EntryMessages::Report& report = child_.report();
  for (size_t i = 0; i < report.departures; ++i) send(report.departure[i], now_us);
  const int64_t clock_ns = bounded(report.clock_ns, now_us);
  wish_ = report.wish <= EntryMessages::end ? static_cast<EntryMessages::Wish>(report.wish)
                                            : EntryMessages::end;
  wakes_ns_ = std::max(bounded(report.wakes_ns, now_us), clock_ns);
  return clock_ns / microsecond_ns;
}

void EntryProcess::send(const EntryMessages::Departure& departure, Microseconds now_us) {
  if (departure.bytes != dialect_.datagram_bytes) {
    throw ControllerFailure("a datagram of " + std::to_string(departure.bytes) +
                            " bytes, where the kit's have " +
                            std::to_string(dialect_.datagram_bytes));
  }
  // At the time of the entry's clock, but neither in the past nor faster than the host can send.
  const Microseconds clock_us = bounded(departure.clock_ns, now_us) / microsecond_ns;
  const Microseconds begins_us = std::max({now_us, busy_until_us_, clock_us});
  busy_until_us_ = begins_us + end_.packet_us;
  if (begins_us >= stop_us_ or begins_us >= end_us_) return;
  if (packets_sent_ - next_unacknowledged_ >= widest_window_packets) {
    throw ControllerFailure("sends without end: more than " +
                            std::to_string(widest_window_packets) + " datagrams in flight");
  }
  const Packet packet{.sequence_number = packets_sent_++,
                      .sent_ms = stamp(whole_ms(begins_us)),
                      .flow = end_.flow,
                      .sent_rest_us = static_cast<uint16_t>(begins_us % 1000)};
  headers_.datagrams.put(packet.sequence_number, departure.header);
  if (end_.meter != nullptr) end_.meter->sent(false);
  if (record_ != nullptr) record_->sent(begins_us, packet.sequence_number);
  end_.send(busy_until_us_, now_us, packet);
}

void EntryProcess::plan() {
  Microseconds next_us = never;
  if (wish_ == EntryMessages::know) {
    next_us = ready_us_;
  } else if (wish_ == EntryMessages::sleep) {
    next_us = wakes_ns_ / microsecond_ns;
  } else if (wish_ == EntryMessages::arrival) {
    next_us = std::min(std::max(ready_us_, inbox_.next_us()), wakes_ns_ / microsecond_ns);
  }
  end_.plan(next_us);
}

EntryReceiver::EntryReceiver(const Dialect& dialect, uint64_t epoch_ms, const HostModel& host,
                             Lateness lateness, Hop& way_back, HeaderStores& headers,
                             FlowMeter* meter)
    : ReceiverProcess(host, lateness, way_back, meter),
      dialect_(dialect),
      headers_(headers),
      clock_zero_ms_(static_cast<Milliseconds>(epoch_ms) - date_s * 1000) {}

void EntryReceiver::arrive(Microseconds time_us, const Packet& packet) {
  if (packets_received() == 0 and not dialect_.dates) clock_zero_ms_ = whole_ms(time_us);
  headers_.acknowledgments.put(packet.sequence_number,
                               acknowledge(headers_.datagrams.take(packet.sequence_number),
                                           packets_received(), whole_ms(time_us) - clock_zero_ms_));
  ReceiverProcess::arrive(time_us, packet);
}

}  // namespace kneepoint
