#include "controller.hh"

#include <iostream>

#ifndef WINDOW  // kneepoint.yaml declares it: a study may search it
#define WINDOW 50
#endif

Controller::Controller(const bool debug) : debug_(debug) {}

unsigned int Controller::window_size() { return WINDOW; }

void Controller::datagram_was_sent(const uint64_t sequence_number, const uint64_t send_timestamp,
                                   const bool after_timeout) {
  if (debug_) {
    std::cerr << "at " << send_timestamp << " ms sent " << sequence_number
              << (after_timeout ? " after a timeout" : "") << std::endl;
  }
}

void Controller::ack_received(const uint64_t sequence_number_acked,
                              const uint64_t send_timestamp_acked,
                              const uint64_t recv_timestamp_acked,
                              const uint64_t timestamp_ack_received) {
  if (debug_) {
    std::cerr << "at " << timestamp_ack_received << " ms received the acknowledgment of "
              << sequence_number_acked << " (sent at " << send_timestamp_acked << ", received at "
              << recv_timestamp_acked << " by the receiver's clock)" << std::endl;
  }
}

unsigned int Controller::timeout_ms() { return 1000; }
