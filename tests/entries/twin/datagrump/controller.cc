#include "controller.hh"

#include "algorithms/parameters.hh"
#include "settings.hh"  // includes a controller's file and defines the values of its parameters

namespace {

int64_t ms(uint64_t time) { return static_cast<int64_t>(time); }

std::unique_ptr<kneepoint::Controller> make_rule() {
  kneepoint::Parameters parameters(values());
  return kneepoint::make_controller(parameters);
}

}  // namespace

Controller::Controller(bool /* debug */) : rule_(make_rule()) {}

unsigned int Controller::window_size() { return static_cast<unsigned int>(rule_->window()); }

void Controller::datagram_was_sent(uint64_t sequence_number, uint64_t send_timestamp,
                                   bool after_timeout) {
  if (after_timeout)
    rule_->on_keepalive(
        {.now_ms = ms(send_timestamp), .now_us = ms(send_timestamp) * 1000, .in_flight = 0});
  rule_->on_sent(sequence_number, ms(send_timestamp));
}

void Controller::ack_received(uint64_t sequence_number_acked, uint64_t send_timestamp_acked,
                              uint64_t recv_timestamp_acked, uint64_t timestamp_ack_received) {
  rule_->on_ack({.sequence_number = sequence_number_acked,
                 .sent_ms = ms(send_timestamp_acked),
                 .received_ms = ms(recv_timestamp_acked),
                 .ack_received_ms = ms(timestamp_ack_received),
                 .now_us = ms(timestamp_ack_received) * 1000});
}

unsigned int Controller::timeout_ms() { return static_cast<unsigned int>(rule_->keepalive_ms()); }
