// How many packets a recovery sends, computed by hand from RFC 6937.
#include <string>

#include "tests/check.hh"
#include "transport/recovery.hh"

using namespace kneepoint;

TEST(a_recovery_ends_with_the_segments_outstanding_at_its_start) {
  Recovery recovery(true);
  EXPECT_EQUAL(recovery.is_repairing(0), false);
  recovery.begin(20, 20);
  recovery.acknowledged(19);
  EXPECT_EQUAL(recovery.is_fast(), true);
  recovery.acknowledged(20);
  EXPECT_EQUAL(recovery.is_fast(), false);
  recovery.timed_out(30);
  EXPECT_EQUAL(recovery.is_repairing(29), true);
  EXPECT_EQUAL(recovery.is_fast(), false);
  EXPECT_EQUAL(recovery.has_window(), false);
}

TEST(a_recovery_without_prr_leaves_the_window_to_the_controller) {
  Recovery recovery(false);
  recovery.begin(20, 20);
  EXPECT_EQUAL(recovery.is_fast(), true);
  EXPECT_EQUAL(recovery.has_window(), false);
}

TEST(each_recovery_rescues_once) {
  Recovery recovery(false);
  recovery.begin(20, 20);
  recovery.rescued();
  EXPECT_EQUAL(recovery.has_rescued(), true);
  recovery.begin(30, 20);
  EXPECT_EQUAL(recovery.has_rescued(), false);
}

// Section 4: the first of 20 packets is lost, and the window halves. The retransmission leaves at
// once, and then a packet with every second acknowledgment.
TEST(prr_sends_in_proportion_to_deliveries) {
  Recovery recovery(true);
  recovery.begin(20, 20);
  uint64_t in_flight = 18;
  std::string sent;
  for (int i = 0; i < 9; ++i) {
    recovery.delivered(1, false, --in_flight, 10);
    const uint64_t may_send = recovery.window_packets() - in_flight;
    for (uint64_t j = 0; j < may_send; ++j) recovery.sent();
    in_flight += may_send;
    sent += std::to_string(may_send);
  }
  EXPECT_EQUAL(sent, "101010101");
}

// With less in flight than ssthresh PRR sends the packets delivered but not yet replaced, and one
// more if no further packet is lost.
TEST(prr_grows_back_in_slow_start) {
  for (const bool is_clean : {true, false}) {
    Recovery recovery(true);
    recovery.begin(20, 20);
    recovery.delivered(1, is_clean, 4, 10);
    EXPECT_EQUAL(recovery.window_packets(), is_clean ? 6u : 5u);
    recovery.delivered(5, is_clean, 4, 10);  // six were delivered, none was sent
    EXPECT_EQUAL(recovery.window_packets(), 10u);
  }
  Recovery bounded(true);
  bounded.begin(20, 20);
  bounded.delivered(8, true, 9, 10);
  EXPECT_EQUAL(bounded.window_packets(), 10u);
}

// The fast retransmission leaves, however full the path is.
TEST(prr_sends_one_packet_at_least) {
  Recovery recovery(true);
  recovery.begin(20, 20);
  recovery.delivered(1, false, 10, 10);
  EXPECT_EQUAL(recovery.window_packets(), 11u);
  recovery.sent();
  recovery.delivered(1, false, 10, 10);
  EXPECT_EQUAL(recovery.window_packets(), 10u);
}
