// The kit's controller as a wrapper of one of Kneepoint's controllers.
#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/controller.hh"

class Controller {
 public:
  explicit Controller(bool debug);
  unsigned int window_size();
  void datagram_was_sent(uint64_t sequence_number, uint64_t send_timestamp, bool after_timeout);
  void ack_received(uint64_t sequence_number_acked, uint64_t send_timestamp_acked,
                    uint64_t recv_timestamp_acked, uint64_t timestamp_ack_received);
  unsigned int timeout_ms();

 private:
  std::unique_ptr<kneepoint::Controller> rule_;
};
