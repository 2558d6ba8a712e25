#include "host/tcp_processes.hh"

#include <algorithm>
#include <utility>

#include "algorithms/adapter.hh"

namespace kneepoint {

namespace {

constexpr uint16_t block_bytes = 8;  // and 4 for the option itself (RFC 2018)

// The controller of requests, which fit its window.
class InitialWindow final : public Controller {
 public:
  explicit InitialWindow(Parameters parameters = Parameters()) : Controller(parameters, 1000) {}
  double window() const override { return static_cast<double>(Exchange::max_request_segments); }
};

ControllerHandle initial_window() {
  static InitialWindow always;
  return {Adapter<InitialWindow>::calls(), &always};
}

// Requests are acknowledged at once, since an answer carries the acknowledgment of its request.
TcpSettings of_requests(TcpSettings settings) {
  settings.delayed_ack_us = 0;
  settings.ecn = false;
  return settings;
}

}  // namespace

TcpProcess::TcpProcess(const TcpEnd& end, const ControllerHandle& controller,
                       const TcpSettings& settings, const Lifetime& lifetime,
                       std::unique_ptr<Application> application, FlowLog* log)
    : end_(end),
      buffered_packets_(std::min(settings.buffered_packets(), settings.offered_packets())),
      sender_(end.flow, controller, settings, lifetime.packets, log),
      receiver_(of_requests({})),
      application_(std::move(application)),
      start_us_(lifetime.start_us),
      stop_us_(lifetime.stop_us),
      sent_meter_(end.meter) {
  plan();
}

TcpProcess::TcpProcess(const TcpEnd& end, const TcpSettings& settings,
                       std::unique_ptr<Application> application)
    : end_(end),
      buffered_packets_(std::min(settings.buffered_packets(), settings.offered_packets())),
      is_client_(true),
      sender_(end.flow, initial_window(), of_requests(settings), 0, nullptr),
      receiver_(settings),
      application_(std::move(application)),
      received_meter_(end.meter) {
  plan();
}

void TcpProcess::arrive(Microseconds time_us, const Packet& packet) {
  inbox_.push(time_us, packet);
  if (inbox_.next_us() < planned_us_) plan();
}

void TcpProcess::act(Microseconds now_us) {
  if (now_us >= stop_us_) {
    sender_.stop();
    stop_us_ = never;
  }
  if (now_us >= start_us_) {
    sender_.start();
    start_us_ = never;
  }
  if (inbox_.next_us() <= now_us) {
    const Packet packet = inbox_.pop();
    if (packet.is_request == is_client_) {
      hear_acknowledgment(packet.sequence_number, now_us);
    } else {
      hear_segment(packet, now_us);
    }
  } else if (receiver_.timer_us() <= now_us) {
    send(receiver_.timer(), now_us);
  } else if (sender_.timer_us() <= now_us) {
    sender_.timer(now_us);
  } else if (application_->next_us() <= now_us) {
    application_->act(sender_, now_us);
  }
  if (not sender_.is_closed()) send_segments(now_us);
  if (sent_meter_ != nullptr) {
    sent_meter_->saw_window(sender_.window(), now_us);
    sent_meter_->saw_loss_events(sender_.loss_events(), now_us);
  }
  plan();
}

void TcpProcess::plan() {
  const Microseconds of_lifetime_us = std::min(start_us_, stop_us_);
  const Microseconds of_others_us = std::min(receiver_.timer_us(), application_->next_us());
  planned_us_ = std::min(inbox_.next_us(), std::min(of_lifetime_us, of_others_us));
  if (not sender_.is_closed()) {
    planned_us_ = std::min(planned_us_, std::min(sender_.timer_us(), sender_.held_back_until_us()));
  }
  end_.plan(planned_us_);
}

void TcpProcess::hear_acknowledgment(uint64_t number, Microseconds now_us) {
  const uint64_t samples = sender_.rtt_samples();
  sender_.acknowledged(end_.received_headers.take(number), now_us);
  if (sent_meter_ != nullptr and sender_.rtt_samples() != samples) {
    sent_meter_->measured(sender_.last_rtt_us(), now_us);
  }
  application_->acknowledged(sender_, now_us);
}

void TcpProcess::hear_segment(const Packet& packet, Microseconds now_us) {
  if (not is_client_) {  // the client opens this half of the connection
    packet.is_syn ? sender_.answer_syn(now_us) : sender_.accept(now_us);
  }
  const bool is_marked = packet.ecn == Ecn::congestion_experienced;
  const auto ack = receiver_.receive({.number = packet.sequence_number,
                                      .is_syn = packet.is_syn,
                                      .has_reduced = packet.has_reduced,
                                      .sent_us = sent_us(packet)},
                                     is_marked, now_us);
  packets_received_ += is_client_ and not packet.is_syn;
  if (not packet.is_syn and received_meter_ != nullptr) {
    received_meter_->received(sent_us(packet), now_us, tcp_payload_bytes, receiver_.in_order());
    if (is_marked) received_meter_->marked();
  }
  if (ack) send(*ack, now_us);
  application_->received(receiver_.in_order(), sender_, now_us);
}

void TcpProcess::send_segments(Microseconds now_us) {
  while (const auto segment = sender_.send(now_us)) {
    const bool is_syn = segment->is_syn;
    packets_sent_ += not is_client_ and not is_syn;
    if (sent_meter_ != nullptr and not is_syn) sent_meter_->sent(segment->is_retransmission);
    send({.sequence_number = segment->number,
          .sent_ms = stamp(whole_ms(now_us)),
          .bytes = is_syn ? tcp_acknowledgment_bytes : application_->bytes_of(segment->number),
          .sent_rest_us = static_cast<uint16_t>(now_us % 1000),
          .is_syn = is_syn,
          .is_request = is_client_,
          .has_reduced = segment->has_reduced,
          .ecn = segment->ecn},
         now_us);
  }
}

void TcpProcess::send(const TcpAcknowledgment& ack, Microseconds now_us) {
  end_.sent_headers.put(acknowledgments_sent_, ack);
  const auto blocks = static_cast<uint16_t>(ack.block_count);
  const auto bytes =
      static_cast<uint16_t>(tcp_acknowledgment_bytes + (blocks > 0 ? 4 + blocks * block_bytes : 0));
  send({.sequence_number = acknowledgments_sent_++, .bytes = bytes, .is_request = not is_client_},
       now_us);
}

void TcpProcess::send(Packet packet, Microseconds now_us) {
  busy_until_us_ = std::max(busy_until_us_, now_us) + end_.packet_us;
  packet.flow = end_.flow;
  end_.send(busy_until_us_, now_us, packet);
}

}  // namespace kneepoint
