// Delivery rates by section 3 of draft-cheng-iccrg-delivery-rate-estimation-00.
#include "algorithms/delivery_rate.hh"

#include "tests/check.hh"

using namespace kneepoint;

namespace {

Ack ack_of(uint64_t number, uint64_t delivered, int64_t now_us, int64_t rtt_us) {
  return {.sequence_number = number,
          .sent_ms = 0,
          .received_ms = 0,
          .ack_received_ms = 0,
          .now_us = now_us,
          .rtt_us = rtt_us,
          .delivered = delivered};
}

// The packets that an acknowledgment of `number` finds lost, 100 ms after they left.
std::vector<LostPacket> hear(DeliveryRate& rate, uint64_t number, uint64_t acknowledged,
                             uint64_t delivered, uint64_t lost, uint64_t flight) {
  Ack ack = ack_of(number, delivered, 1'100'000 + static_cast<int64_t>(delivered), 100'000);
  ack.acknowledged = acknowledged;
  ack.lost = lost;
  ack.in_flight = flight;
  rate.on_ack(ack);
  return rate.lost_packets();
}

}  // namespace

TEST(a_rate_is_the_packets_delivered_over_the_longer_of_both_intervals) {
  DeliveryRate rate;
  // Packets 0 to 4 leave 10 ms apart from 1 s on; their acknowledgments arrive 20 ms apart.
  for (int i = 0; i < 5; ++i) rate.on_sent(static_cast<uint64_t>(i), 1000 + 10 * i);
  EXPECT_NEAR(rate.on_ack(ack_of(0, 1, 1'100'000, 100'000))->delivery_rate, 1 / 0.1, 1e-9);
  EXPECT_NEAR(rate.on_ack(ack_of(1, 2, 1'120'000, 110'000))->delivery_rate, 2 / 0.12, 1e-9);
  rate.on_sent(5, 1120);
  EXPECT_EQUAL(rate.on_ack(ack_of(4, 5, 1'180'000, 140'000))->prior_delivered, 0);
  // Packet 5 left at 1.12 s, when 2 packets were delivered, of which the later had left at 1.01 s.
  // It is the sixth delivered, at 1.3 s: four packets in the longer of .11 and .18 s.
  const auto sample = rate.on_ack(ack_of(5, 6, 1'300'000, 180'000));
  EXPECT_NEAR(sample->delivery_rate, 4 / 0.18, 1e-9);
  EXPECT_EQUAL(sample->prior_delivered, 2);
  EXPECT_EQUAL(rate.delivered(), 6);
}

TEST(a_rate_is_bounded_by_the_rate_of_sending) {
  DeliveryRate rate;
  rate.on_sent(0, 1000);
  rate.on_ack(ack_of(0, 1, 1'100'000, 100'000));
  // After an idle time packets 1 and 2 leave 200 ms apart and arrive together.
  rate.on_sent(1, 1100);
  rate.on_sent(2, 1300);
  rate.on_ack(ack_of(1, 2, 1'400'000, 300'000));
  EXPECT_NEAR(rate.on_ack(ack_of(2, 3, 1'400'100, 100'100))->delivery_rate, 2 / 0.3001, 1e-9);
}

TEST(deliveries_by_sack_count) {
  DeliveryRate rate;
  for (uint64_t number = 0; number < 10; ++number) rate.on_sent(number, 1000);
  // Nine packets were acknowledged earlier, without a call of the controller.
  EXPECT_NEAR(rate.on_ack(ack_of(9, 10, 1'200'000, -1))->delivery_rate, 50, 1e-9);
}

TEST(a_repetition_and_an_impossible_interval_give_no_rate) {
  DeliveryRate rate;
  rate.on_sent(0, 1000);
  rate.on_sent(1, 1000);
  EXPECT_EQUAL(rate.on_ack(ack_of(0, 1, 1'100'000, 100'000)).has_value(), true);
  EXPECT_EQUAL(rate.on_ack(ack_of(0, 1, 1'110'000, -1)).has_value(), false);
  rate.on_ack(ack_of(1, 2, 1'150'000, 150'000));
  rate.on_sent(2, 1200);
  EXPECT_EQUAL(rate.on_ack(ack_of(2, 3, 1'298'000, -1))->delivery_rate,
               0);  // 98 ms of a min RTT of 100 ms
  rate.on_sent(3, 1300);
  EXPECT_EQUAL(rate.on_ack(ack_of(3, 4, 1'399'500, -1))->delivery_rate > 0,
               true);  // 99.5 ms: within the clock's resolution
}

TEST(packets_sent_under_a_limit_give_limited_samples) {
  DeliveryRate rate;
  rate.on_sent(0, 1000);
  rate.on_ack(ack_of(0, 1, 1'100'000, 100'000));
  rate.on_sent(1, 1100);
  rate.on_sent(2, 1100);
  rate.mark_connection_app_limited();
  rate.on_sent(3, 1100);
  EXPECT_EQUAL(rate.on_ack(ack_of(1, 2, 1'200'000, 100'000))->is_app_limited, false);
  rate.on_sent(4, 1200);
  EXPECT_EQUAL(rate.on_ack(ack_of(2, 3, 1'201'000, 101'000))->is_app_limited, false);
  rate.on_sent(5, 1201);
  EXPECT_EQUAL(rate.on_ack(ack_of(3, 4, 1'202'000, 102'000))->is_app_limited, true);
  EXPECT_EQUAL(rate.on_ack(ack_of(4, 5, 1'300'000, 100'000))->is_app_limited, true);
  rate.on_sent(6, 1301);
  EXPECT_EQUAL(rate.on_ack(ack_of(5, 6, 1'301'000, 100'000))->is_app_limited, true);
  EXPECT_EQUAL(rate.on_ack(ack_of(6, 7, 1'401'000, 100'000))->is_app_limited, false);
}

TEST(a_sample_has_the_flight_of_its_packet_and_the_losses_since) {
  DeliveryRate rate;
  for (uint64_t number = 0; number < 4; ++number) rate.on_sent(number, 1000);
  Ack ack = ack_of(0, 1, 1'100'000, 100'000);
  ack.in_flight = 3;
  EXPECT_EQUAL(rate.on_ack(ack)->tx_in_flight, 1);
  rate.on_sent(4, 1100);
  ack = ack_of(3, 2, 1'101'000, 101'000);
  ack.in_flight = 1;
  ack.lost = 2;
  const auto sample = rate.on_ack(ack);
  EXPECT_EQUAL(sample->tx_in_flight, 4);
  EXPECT_EQUAL(sample->lost, 2);
  EXPECT_EQUAL(rate.newly_lost(), 2);
  EXPECT_EQUAL(rate.in_flight(), 1);
  // One of the two was not lost. A packet that a timer declares lost is not newly lost by an
  // acknowledgment.
  ack = ack_of(1, 3, 1'102'000, -1);
  ack.lost = 1;
  rate.on_ack(ack);
  EXPECT_EQUAL(rate.newly_lost(), 0);
  rate.on_loss(
      {.now_ms = 1103, .now_us = 1'103'000, .kind = Loss::Kind::timed_out, .in_flight = 1});
  ack = ack_of(4, 4, 1'200'000, 100'000);
  ack.lost = 2;
  const auto after_timeout = rate.on_ack(ack);
  EXPECT_EQUAL(after_timeout->tx_in_flight, 4);
  EXPECT_EQUAL(after_timeout->lost, 3);
  EXPECT_EQUAL(rate.newly_lost(), 0);
}

// Packet n leaves with n + 1 in flight. A transport reports when packets are lost, and how many.
TEST(a_lost_packet_is_the_oldest_not_acknowledged) {
  DeliveryRate rate;
  for (uint64_t number = 0; number < 10; ++number) rate.on_sent(number, 1000);
  EXPECT_EQUAL(hear(rate, 0, 1, 1, 0, 9).size(), 0u);
  // SACK acknowledges 3 and 4, above 1 and 2, which are declared lost later, one after the other.
  EXPECT_EQUAL(hear(rate, 4, 2, 3, 0, 7).size(), 0u);
  const auto first = hear(rate, 5, 1, 4, 1, 5);
  EXPECT_EQUAL(first.size(), 1u);
  EXPECT_EQUAL(first[0].tx_in_flight, 2);
  EXPECT_EQUAL(first[0].lost, 1);
  EXPECT_EQUAL(first[0].begins_range, true);
  const auto second = hear(rate, 6, 1, 5, 2, 3);
  EXPECT_EQUAL(second.at(0).tx_in_flight, 3);
  EXPECT_EQUAL(second.at(0).lost, 2);
  EXPECT_EQUAL(second.at(0).begins_range, false);
  // With datagrams the packets below an acknowledged packet, 7 and 8, are lost.
  const auto passed = hear(rate, 9, 1, 6, 4, 0);
  EXPECT_EQUAL(passed.size(), 2u);
  EXPECT_EQUAL(passed[0].tx_in_flight, 8);
  EXPECT_EQUAL(passed[0].begins_range, true);
  EXPECT_EQUAL(passed[1].tx_in_flight, 9);
  EXPECT_EQUAL(passed[1].lost, 4);
  EXPECT_EQUAL(passed[1].begins_range, false);
}

// Packet 1 is late and 2 lost; one acknowledgment reports both 4 and 6.
TEST(a_late_packet_is_not_lost) {
  DeliveryRate rate;
  for (uint64_t number = 0; number < 9; ++number) rate.on_sent(number, 1000);
  hear(rate, 0, 1, 1, 0, 8);
  hear(rate, 3, 1, 2, 0, 7);
  hear(rate, 1, 1, 3, 0, 6);
  EXPECT_EQUAL(hear(rate, 5, 1, 4, 1, 4).at(0).tx_in_flight, 3);
  EXPECT_EQUAL(hear(rate, 6, 2, 6, 1, 2).size(), 0u);
  EXPECT_EQUAL(hear(rate, 8, 1, 7, 2, 0).at(0).tx_in_flight, 8);
}

// RACK finds losses of packets that left before an acknowledged retransmission, though no packet
// above them was acknowledged.
TEST(a_flight_whose_end_is_lost_is_one_range) {
  DeliveryRate rate;
  for (uint64_t number = 0; number < 6; ++number) rate.on_sent(number, 1000);
  hear(rate, 0, 1, 1, 0, 5);
  auto lost = hear(rate, 0, 0, 1, 2, 3);
  for (const LostPacket& packet : hear(rate, 0, 0, 1, 4, 1)) lost.push_back(packet);
  EXPECT_EQUAL(lost.size(), 4u);
  for (size_t i = 0; i < lost.size(); ++i) {
    EXPECT_EQUAL(lost[i].tx_in_flight, static_cast<double>(i + 2));
    EXPECT_EQUAL(lost[i].begins_range, i == 0);
  }
}

TEST(a_flight_may_be_wider_than_any_ring) {
  DeliveryRate rate;
  // Ten packets leave for each packet delivered.
  uint64_t sent = 0;
  for (uint64_t delivered = 0; delivered < 60; ++delivered) {
    const auto now_ms = static_cast<int64_t>(1000 + 10 * delivered);
    if (delivered > 0) rate.on_ack(ack_of(delivered - 1, delivered, now_ms * 1000, 10'000));
    for (int i = 0; i < 10; ++i) rate.on_sent(sent++, now_ms);
  }
  for (uint64_t number = 59; number < 600; ++number) {
    const auto now_us = static_cast<int64_t>(2'000'000 + 1000 * number);
    const auto sample = rate.on_ack(ack_of(number, number + 1, now_us, 10'000));
    EXPECT_EQUAL(sample->prior_delivered, static_cast<double>(number / 10));
  }
}
