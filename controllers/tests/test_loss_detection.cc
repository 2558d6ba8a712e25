// Loss detection by duplicates: RFC 6675, and RFC 6582 without SACK.
#include "tests/check.hh"
#include "transport/loss_detection.hh"

using namespace kneepoint;

namespace {

// Ten segments are in flight.
struct Detecting {
  explicit Detecting(bool has_sack) : board(has_sack) {
    for (int i = 0; i < 10; ++i) board.send(0);
  }

  // Returns whether the acknowledgment calls for a recovery.
  bool take(const TcpAcknowledgment& ack) {
    const bool is_progress = ack.next_expected > board.una();
    const auto& deliveries = board.take(ack);
    recovery.acknowledged(board.una());
    return detection.acknowledged(ack, deliveries, is_progress, 0).calls_for_recovery;
  }
  bool sack(uint64_t begin, uint64_t end) {
    return take({.block_count = 1, .blocks = {{{begin, end}}}});
  }

  Scoreboard board;
  Recovery recovery{false};
  DuplicateDetection detection{board, recovery};
};

}  // namespace

// RFC 6675, IsLost: 0 and 1 are lost with the third segment above them, 2 with three above it.
TEST(a_segment_with_three_sacked_segments_above_it_is_lost) {
  Detecting t(true);
  EXPECT_EQUAL(t.sack(3, 5), false);
  EXPECT_EQUAL(t.board.losses(), 0u);
  EXPECT_EQUAL(t.sack(3, 6), true);
  EXPECT_EQUAL(t.board.losses(), 3u);
  EXPECT_EQUAL(*t.board.first_lost(), 0u);
}

TEST(holes_with_less_above_them_are_not_lost) {
  Detecting t(true);
  EXPECT_EQUAL(t.take({.block_count = 2, .blocks = {{{7, 9}, {1, 6}}}}), true);
  EXPECT_EQUAL(t.board.losses(), 1u);  // 6 has two segments above it
}

TEST(a_retransmission_is_not_lost_by_duplicates) {
  Detecting t(true);
  t.sack(1, 4);
  t.board.send_again(0, 0);
  EXPECT_EQUAL(t.sack(1, 10), false);
  EXPECT_EQUAL(t.board.losses(), 1u);
}

TEST(the_segment_that_three_duplicates_request_is_lost) {
  Detecting t(false);
  EXPECT_EQUAL(t.take({}), false);
  EXPECT_EQUAL(t.take({}), false);
  EXPECT_EQUAL(t.take({}), true);
  EXPECT_EQUAL(*t.board.first_lost(), 0u);
  EXPECT_EQUAL(t.board.losses(), 1u);
}

// RFC 5681: only consecutive duplicates count, except during a recovery.
TEST(an_acknowledgment_of_new_data_ends_a_row_of_duplicates) {
  for (const bool is_recovering : {false, true}) {
    Detecting t(false);
    for (int i = 0; i < 2; ++i) t.take({});
    if (is_recovering) t.recovery.begin(10, 10);
    EXPECT_EQUAL(t.take({.next_expected = 1}), false);
    EXPECT_EQUAL(t.board.duplicates(), is_recovering ? 2u : 0u);
  }
}
