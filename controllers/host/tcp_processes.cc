#include "host/tcp_processes.hh"

#include <algorithm>

#include "algorithms/adapter.hh"
#include "common/progress.hh"

namespace kneepoint {

namespace {

constexpr uint16_t block_bytes = 8;  // and 4 of the option itself (RFC 2018)

// What sends requests: they fit its window.
class InitialWindow final : public Controller {
 public:
  explicit InitialWindow(Constants constants = Constants()) : Controller(constants, 1000) {}
  double window() const override { return static_cast<double>(TcpExchange::most_request_segments); }
};

ControllerHandle initial_window() {
  static InitialWindow always;
  return {Adapter<InitialWindow>::calls(), &always};
}

// An answer carries the acknowledgment of its request.
TcpSettings of_requests(TcpSettings settings) {
  settings.delayed_ack_us = 0;
  settings.ecn = false;
  return settings;
}

}  // namespace

uint64_t TcpWay::send(TcpSender& sender, const TcpExchange* requests, Microseconds now_us) {
  note_progress();
  const bool is_request = requests != nullptr;
  uint64_t packets = 0;
  while (const auto segment = sender.send(now_us)) {
    if (not segment->is_syn) {
      ++packets;
      if (not is_request and end_.meter != nullptr) end_.meter->sent(segment->is_retransmission);
    }
    uint16_t bytes = tcp_segment_bytes;
    if (is_request) bytes = requests->bytes_of(segment->number);
    if (segment->is_syn) bytes = tcp_acknowledgment_bytes;
    send({.sequence_number = segment->number,
          .sent_ms = stamp(whole_ms(now_us)),
          .bytes = bytes,
          .sent_rest_us = static_cast<uint16_t>(now_us % 1000),
          .is_syn = segment->is_syn,
          .is_request = is_request,
          .has_reduced = segment->has_reduced,
          .ecn = segment->is_capable ? Ecn::capable : Ecn::not_capable},
         now_us);
  }
  return packets;
}

void TcpWay::send(const TcpAcknowledgment& ack, bool is_request, Microseconds now_us) {
  Letters& letters = is_request ? end_.request_letters : end_.letters;
  const auto blocks = static_cast<uint16_t>(ack.block_count);
  const auto bytes =
      static_cast<uint16_t>(tcp_acknowledgment_bytes + (blocks > 0 ? 4 + blocks * block_bytes : 0));
  send({.sequence_number = letters.send(ack), .bytes = bytes, .is_request = is_request}, now_us);
}

void TcpWay::send(Packet packet, Microseconds now_us) {
  busy_until_us_ = std::max(busy_until_us_, now_us) + end_.packet_us;
  packet.flow = end_.flow;
  end_.way.arrive(busy_until_us_, packet);
}

TcpSenderProcess::TcpSenderProcess(const TcpEnd& end, const ControllerHandle& controller,
                                   const TcpSettings& settings, uint64_t segments, FlowLog* log,
                                   Microseconds start_us, Microseconds stop_us,
                                   std::optional<TcpExchange> exchange)
    : end_(end),
      sender_(end.flow, controller, settings, exchange ? 0 : segments, log),
      start_us_(exchange ? never : start_us),
      stop_us_(exchange ? never : stop_us),
      exchange_(exchange),
      requests_(of_requests({})) {
  plan();
}

void TcpSenderProcess::arrive(Microseconds time_us, const Packet& packet) {
  inbox_.push(time_us, packet);
  plan();
}

void TcpSenderProcess::act(Microseconds now_us) {
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
    if (packet.is_request) {
      hear_request(packet, now_us);
    } else {
      hear_acknowledgment(packet.sequence_number, now_us);
    }
  } else if (sender_.timer_us() <= now_us) {
    sender_.timer(now_us);
  }
  packets_sent_ += way_.send(sender_, nullptr, now_us);
  if (end_.meter != nullptr) {
    end_.meter->saw_window(sender_.window(), now_us);
    end_.meter->saw_loss_events(sender_.loss_events(), now_us);
  }
  plan();
}

void TcpSenderProcess::plan() {
  const Microseconds of_sender_us = std::min(sender_.timer_us(), sender_.held_back_until_us());
  const Microseconds of_lifetime_us = std::min(start_us_, stop_us_);
  end_.agenda.plan_endpoint(end_.endpoint,
                            std::min(std::min(inbox_.next_us(), of_sender_us), of_lifetime_us));
}

void TcpSenderProcess::hear_acknowledgment(uint64_t number, Microseconds now_us) {
  const uint64_t samples = sender_.rtt_samples();
  sender_.acknowledged(end_.letters.take(number), now_us);
  if (end_.meter == nullptr) return;
  if (sender_.rtt_samples() != samples) end_.meter->measured(sender_.last_rtt_us(), now_us);
  if (not exchange_ and not is_done_ and sender_.is_done()) {
    is_done_ = true;
    end_.meter->completed(now_us);
  }
}

void TcpSenderProcess::hear_request(const Packet& packet, Microseconds now_us) {
  if (packet.is_syn) {
    syn_was_repeated_ = syn_answered_us_ != never;
    syn_answered_us_ = now_us;
  } else if (requests_.in_order() == 0 and not sender_.is_open()) {
    sender_.accept(syn_was_repeated_ ? -1 : now_us - syn_answered_us_);
  }
  const auto ack =
      requests_.receive({.number = packet.sequence_number, .is_syn = packet.is_syn}, false, now_us);
  if (ack) way_.send(*ack, true, now_us);
  while (requests_.in_order() >= (answered_ + 1) * exchange_->request_segments()) {
    ++answered_;
    sender_.offer(exchange_->answer_segments);
  }
}

TcpReceiverProcess::TcpReceiverProcess(const TcpEnd& end, const TcpSettings& settings,
                                       Microseconds start_us, Microseconds stop_us,
                                       std::optional<TcpExchange> exchange)
    : end_(end),
      receiver_(settings),
      exchange_(exchange),
      requests_(end.flow, initial_window(), of_requests(settings), 0, nullptr),
      request_us_(exchange ? start_us : never),
      stop_us_(stop_us) {
  plan();
}

void TcpReceiverProcess::arrive(Microseconds time_us, const Packet& packet) {
  inbox_.push(time_us, packet);
  plan();
}

void TcpReceiverProcess::act(Microseconds now_us) {
  if (inbox_.next_us() <= now_us) {
    const Packet packet = inbox_.pop();
    if (packet.is_request) {
      requests_.acknowledged(end_.request_letters.take(packet.sequence_number), now_us);
    } else {
      hear_data(packet, now_us);
    }
  } else if (receiver_.timer_us() <= now_us) {
    way_.send(receiver_.timer(), false, now_us);
  } else if (requests_.timer_us() <= now_us) {
    requests_.timer(now_us);
  } else {
    ask_again(now_us);
  }
  if (exchange_) way_.send(requests_, &*exchange_, now_us);
  plan();
}

void TcpReceiverProcess::plan() {
  Microseconds next_us = std::min(inbox_.next_us(), receiver_.timer_us());
  if (exchange_) next_us = std::min(next_us, std::min(requests_.timer_us(), request_us_));
  end_.agenda.plan_endpoint(end_.endpoint, next_us);
}

void TcpReceiverProcess::hear_data(const Packet& packet, Microseconds now_us) {
  const bool is_marked = packet.ecn == Ecn::congestion_experienced;
  const auto ack = receiver_.receive({.number = packet.sequence_number,
                                      .is_syn = packet.is_syn,
                                      .has_reduced = packet.has_reduced},
                                     is_marked, now_us);
  packets_received_ += not packet.is_syn;
  if (not packet.is_syn and end_.meter != nullptr) {
    end_.meter->received(int64_t{packet.sent_ms} * 1000 + packet.sent_rest_us, now_us,
                         tcp_payload_bytes, receiver_.in_order());
    if (is_marked) end_.meter->marked();
  }
  if (ack) way_.send(*ack, false, now_us);
  if (not exchange_ or answered_ == exchange_->requests) return;
  if (receiver_.in_order() < (answered_ + 1) * exchange_->answer_segments) return;
  ++answered_;
  if (end_.meter != nullptr) end_.meter->answered(asked_us_, now_us);
  if (answered_ < exchange_->requests) {
    request_us_ = now_us + exchange_->think_us;
  } else if (end_.meter != nullptr) {
    end_.meter->completed(now_us);
  }
}

void TcpReceiverProcess::ask_again(Microseconds now_us) {
  request_us_ = never;
  if (now_us >= stop_us_) return;
  asked_us_ = now_us;
  if (answered_ == 0) requests_.start();
  requests_.offer(exchange_->request_segments());
}

}  // namespace kneepoint
