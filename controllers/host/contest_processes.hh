// The processes of one contest flow on the emulated host: its sender and its receiver.
#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/needs.hh"
#include "host/host_model.hh"
#include "host/junctions.hh"
#include "host/process.hh"
#include "links/timed_packets.hh"
#include "loader/handle.hh"
#include "measure/flow_log.hh"
#include "transport/contest_datagram.hh"
#include "transport/contest_sender.hh"
#include "transport/packet.hh"

namespace kneepoint {

// Sends datagrams to its receiver, and receives acknowledgments.
class SenderProcess final : public Process {
 public:
  // The log, which may be null, must outlive the process.
  SenderProcess(const Endpoint& end, const ControllerHandle& controller, Lateness lateness,
                const Lifetime& lifetime, FlowLog* log);

  void arrive(Microseconds time_us, const Packet& packet) override;

  // Throws ControllerFailure, like arrive.
  void act(Microseconds now_us) override;

  bool is_at_bound() const override { return started_ and sender_.window() >= widest_window; }

  void finish(Microseconds, Traffic& traffic) override {
    traffic.packets_sent += sender_.packets_sent();
  }

 private:
  Microseconds next_event_us() const { return std::min(inbox_.next_us(), wake_up_us_); }
  // The number of datagrams that it may have sent by now.
  uint64_t max_sent(Microseconds now_us) const {
    return now_us < lifetime_.stop_us ? lifetime_.packets : 0;
  }
  void plan() { end_.plan(planned_us_ = next_event_us()); }
  [[gnu::always_inline]] inline void act_on_timer(Microseconds now_us);
  [[gnu::always_inline]] inline void read(const Packet& acknowledgment, Microseconds arrived_us,
                                          Microseconds now_us);
  [[gnu::always_inline]] inline void fill_window(Microseconds now_us);
  [[gnu::always_inline]] inline void send(Microseconds now_us, bool is_heartbeat = false);

  Endpoint end_;
  Packet blank_;  // the fields that all its datagrams share
  ContestSender sender_;
  Lateness lateness_;
  Lifetime lifetime_;
  Microseconds lateness_us_ = lateness_.draw_timer();  // of the next keepalive
  TimedPackets inbox_{};
  Microseconds busy_until_us_ = 0;
  Microseconds wake_up_us_ = lifetime_.start_us;
  // Its time in the agenda, no later than the next event: a postponed event, such as most
  // keepalives, keeps its old time until then.
  Microseconds planned_us_ = never;
  bool started_ = false;
};

// Answers each datagram with an acknowledgment on the return path.
class ReceiverProcess : public Hop {
 public:
  // The first hop of the return path, and the meter, which may be null, must outlive the process.
  ReceiverProcess(const HostModel& host, Lateness lateness, Hop& way_back, FlowMeter* meter)
      : response_us_(std::llround(host.receiver_us + host.packet_us)),
        lateness_(lateness),
        way_back_(way_back),
        meter_(meter) {}

  void arrive(Microseconds time_us, const Packet& packet) override {
    if (meter_ != nullptr) [[unlikely]] {
      meter_->received(sent_us(packet), time_us, packet.bytes - acknowledgment_bytes,
                       packets_received_ + 1);
    }
    Packet acknowledgment = packet;
    if (packet.ecn != Ecn::not_capable) [[unlikely]] {
      acknowledgment.tells_mark = packet.ecn == Ecn::congestion_experienced;
      acknowledgment.ecn = Ecn::not_capable;
      if (meter_ != nullptr and acknowledgment.tells_mark) meter_->marked();
    }
    acknowledgment.received_ms = stamp(whole_ms(time_us));
    acknowledgment.bytes = acknowledgment_bytes;
    ++packets_received_;
    way_back_.arrive(lateness_.read_time(time_us) + response_us_, acknowledgment);
  }

  void finish(Microseconds, Traffic& traffic) override {
    traffic.packets_delivered += packets_received_;
  }

 protected:
  uint64_t packets_received() const { return packets_received_; }

 private:
  uint64_t packets_received_ = 0;
  Microseconds response_us_;
  Lateness lateness_;
  Hop& way_back_;
  FlowMeter* meter_;
};

}  // namespace kneepoint
