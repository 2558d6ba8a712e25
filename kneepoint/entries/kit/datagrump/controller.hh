// Decides how many datagrams may be in flight. Times are whole milliseconds of the sender's clock,
// except recv_timestamp_acked, which is a time of the receiver's clock.
#ifndef CONTROLLER_HH
#define CONTROLLER_HH

#include <cstdint>

class Controller {
 public:
  // debug: whether the command line asks for more output.
  explicit Controller(bool debug);

  // How many datagrams may be unacknowledged.
  unsigned int window_size();

  // A datagram was sent; after_timeout: because no acknowledgment had arrived for timeout_ms().
  void datagram_was_sent(uint64_t sequence_number, uint64_t send_timestamp, bool after_timeout);

  // An acknowledgment arrived; earlier acknowledgments may have been lost.
  void ack_received(uint64_t sequence_number_acked, uint64_t send_timestamp_acked,
                    uint64_t recv_timestamp_acked, uint64_t timestamp_ack_received);

  // After this time without an acknowledgment the sender sends one more datagram.
  unsigned int timeout_ms();

 private:
  bool debug_;
};

#endif
