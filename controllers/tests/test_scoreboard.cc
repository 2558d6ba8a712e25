// RFC 6675: the segments outstanding, lost, and to be sent next.
#include <string>
#include <vector>

#include "tests/check.hh"
#include "transport/scoreboard.hh"

using namespace kneepoint;

namespace {

Scoreboard of_ten(bool has_sack = true) {
  Scoreboard board(has_sack);
  for (int i = 0; i < 10; ++i) board.send(1000 * i);
  return board;
}

// The numbers that an acknowledgment is the first to report.
std::string take(Scoreboard& board, uint64_t next, const std::vector<SackBlock>& blocks = {}) {
  TcpAcknowledgment ack{.next_expected = next};
  for (const SackBlock& block : blocks) ack.blocks[ack.block_count++] = block;
  std::string numbers;
  for (const auto& delivery : board.take(ack)) numbers += std::to_string(delivery.number) + " ";
  return numbers;
}

}  // namespace

// Deliveries by SACK or cumulatively (DeliveredData of RFC 6937).
TEST(a_scoreboard_reports_each_delivery_once) {
  Scoreboard board = of_ten();
  EXPECT_EQUAL(take(board, 1, {{3, 5}}), "0 3 4 ");
  EXPECT_EQUAL(take(board, 1, {{7, 8}, {3, 6}}), "7 5 ");
  EXPECT_EQUAL(board.sacked(), 4u);
  EXPECT_EQUAL(board.highest_sacked(), 8u);
  EXPECT_EQUAL(take(board, 7, {{7, 8}}), "1 2 6 ");
  EXPECT_EQUAL(board.sacked(), 1u);
  EXPECT_EQUAL(take(board, 10), "8 9 ");
  EXPECT_EQUAL(board.outstanding(), 0u);
  EXPECT_EQUAL(board.in_flight(), 0u);
}

TEST(a_scoreboard_finds_the_gains_of_blocks_at_either_end_and_between) {
  Scoreboard board = of_ten();
  EXPECT_EQUAL(take(board, 0, {{2, 3}}), "2 ");
  EXPECT_EQUAL(take(board, 0, {{4, 6}, {2, 3}}), "4 5 ");
  EXPECT_EQUAL(take(board, 0, {{8, 9}, {4, 6}, {2, 3}}), "8 ");
  EXPECT_EQUAL(take(board, 0, {{4, 6}, {2, 3}}), "");  // a late SACK
  EXPECT_EQUAL(take(board, 0, {{1, 7}, {8, 9}}), "1 3 6 ");
  EXPECT_EQUAL(take(board, 0, {{4, 6}}), "");
  EXPECT_EQUAL(take(board, 0, {{1, 10}}), "7 9 ");
  EXPECT_EQUAL(board.sacked(), 9u);
  EXPECT_EQUAL(board.in_flight(), 1u);
}

// Pipe, section 4: a segment sacked or lost is not in flight, a retransmission is.
TEST(a_scoreboard_knows_the_flight) {
  Scoreboard board = of_ten();
  take(board, 0, {{2, 5}});
  EXPECT_EQUAL(board.in_flight(), 7u);
  board.mark_lost(0);
  board.mark_lost(1);
  EXPECT_EQUAL(board.in_flight(), 5u);
  EXPECT_EQUAL(board.has_room(5), false);
  EXPECT_EQUAL(board.has_room(6), true);
  board.send_again(0, 20'000);
  EXPECT_EQUAL(board.in_flight(), 6u);
  EXPECT_EQUAL(board.segment(0).sent_us, 20'000);
  board.send_again(9, 21'000);  // not lost: only the retransmission counts
  EXPECT_EQUAL(board.in_flight(), 6u);
  take(board, 2, {{2, 5}});  // segment 1 was late, not lost
  EXPECT_EQUAL(board.in_flight(), 5u);
}

TEST(a_scoreboard_names_the_first_lost_segment) {
  Scoreboard board = of_ten();
  EXPECT_EQUAL(board.first_lost().has_value(), false);
  for (const uint64_t number : {4, 1, 2}) board.mark_lost(number);
  EXPECT_EQUAL(*board.first_lost(), 1u);
  board.send_again(1, 20'000);
  EXPECT_EQUAL(*board.first_lost(), 2u);
  take(board, 0, {{2, 3}});
  EXPECT_EQUAL(*board.first_lost(), 4u);
  board.mark_lost(1);  // its retransmission is lost
  EXPECT_EQUAL(*board.first_lost(), 1u);
  take(board, 5);
  EXPECT_EQUAL(board.first_lost().has_value(), false);
}

TEST(an_original_is_marked_lost_once) {
  Scoreboard board = of_ten();
  take(board, 0, {{1, 2}});
  for (int i = 0; i < 2; ++i) board.mark_original_lost(0);
  board.mark_original_lost(1);
  EXPECT_EQUAL(board.losses(), 1u);
  board.send_again(0, 20'000);
  board.mark_original_lost(0);
  EXPECT_EQUAL(board.losses(), 1u);
}

// NextSeg, rules 3 and 4.
TEST(a_scoreboard_names_doubtful_segments) {
  Scoreboard board = of_ten();
  take(board, 0, {{8, 10}, {1, 7}});
  EXPECT_EQUAL(*board.first_doubtful(), 0u);
  board.send_again(0, 20'000);
  EXPECT_EQUAL(*board.first_doubtful(), 7u);
  board.send_again(7, 20'000);
  EXPECT_EQUAL(board.first_doubtful().has_value(), false);
  EXPECT_EQUAL(board.last_unsacked(), 7u);
}

// RFC 6582: without SACK each duplicate stands for a segment above the hole.
TEST(duplicates_stand_for_segments) {
  Scoreboard board = of_ten(false);
  for (int i = 0; i < 5; ++i) EXPECT_EQUAL(take(board, 0), "");
  EXPECT_EQUAL(board.duplicates(), 5u);
  EXPECT_EQUAL(board.has_room(5), false);
  EXPECT_EQUAL(board.has_room(6), true);
  EXPECT_EQUAL(take(board, 4), "0 ");  // three of the five stood for 1 to 3
  EXPECT_EQUAL(board.duplicates(), 2u);
  EXPECT_EQUAL(take(board, 10), "4 5 6 7 ");  // the other two stood for later segments
}
