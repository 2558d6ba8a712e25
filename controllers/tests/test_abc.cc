// Accel-brake control: Goyal et al., NSDI 2020, section 3.
#include <vector>

#include "tests/check.hh"
#include "tests/running.hh"

#include "queues/registry.hh"

using namespace kneepoint;
using kneepoint::test::make_controller;

// Ten seconds over a link of 1 MB/s, of which the share `used` is used, with a queue of `waiting`
// packets: the share of packets that accelerate is min(target / (2 dequeue rate), 1).
TEST(abc_accelerates_by_target_over_dequeue_rate) {
  struct Case {
    double used;
    int waiting;
    double accelerates;
  };
  // In 20 ms the link serves 20 packets of 1000 bytes; the target is 0 with 133 packets more.
  for (const auto& [used, waiting, accelerates] :
       std::vector<Case>{{1, 0, 0.98 / 2},
                         {0.8, 0, 0.98 / 1.6},
                         {0.4, 0, 1},
                         {1, 20, 0.98 / 2},
                         {1, 86, (0.98 - 66.0 / 133) / 2},
                         {0.5, 86, 0.98 - 66.0 / 133},
                         {1, 153, 0}}) {
    const auto queue = make_packet_queue("abc", 0);
    queue->know_capacity([](Microseconds until_us) { return static_cast<double>(until_us); },
                         never);
    const Packet packet{.bytes = 1000, .ecn = Ecn::counted};
    for (int i = 0; i < waiting; ++i) queue->enqueue(packet, 0);
    const auto gap_us = static_cast<Microseconds>(1000 / used);
    double sent = 0;
    for (Microseconds now_us = 1'000'000; now_us < 11'000'000; now_us += gap_us) {
      queue->enqueue(packet, now_us);
      const bool is_marked = queue->dequeue(now_us)->ecn == Ecn::congestion_experienced;
      EXPECT_EQUAL(is_marked and accelerates == 1, false);
      ++sent;
    }
    const double marked = static_cast<double>(queue->packets_marked()) / sent;
    EXPECT_NEAR(1 - marked, accelerates, 0.005);
  }
}

TEST(abc_moves_by_a_packet_either_way_and_by_an_additive_increase) {
  for (const double increase : {0.0, 1.0}) {
    const auto controller =
        make_controller("abc", {{"initial_window", 20}, {"increase", increase}});
    const auto ack = [&](uint64_t packets, uint64_t marked, bool is_recovering = false) {
      Ack heard{};
      heard.acknowledged = packets;
      heard.is_recovering = is_recovering;
      heard.marked = marked;
      controller->on_ack(heard);
      return controller->window();
    };
    double window = 20 + 1 + increase / 20;
    EXPECT_NEAR(ack(1, 0), window, 1e-12);
    window += -1 + increase / window;
    EXPECT_NEAR(ack(1, 1), window, 1e-12);
    window += 1 + 3 * increase / window;
    EXPECT_NEAR(ack(3, 1), window, 1e-12);
    EXPECT_NEAR(ack(3, 1, true), window, 1e-12);
    controller->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 20});
    EXPECT_NEAR(controller->window(), window / 2, 1e-12);
    for (int i = 0; i < 50; ++i) ack(1, 1);
    EXPECT_NEAR(controller->window(), 1, 1e-9);
    ack(100, 0);
    controller->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::timed_out, .in_flight = 20});
    EXPECT_EQUAL(controller->window(), 1);
    controller->on_loss({.now_ms = 0, .now_us = 0, .kind = Loss::Kind::lost, .in_flight = 1});
    EXPECT_EQUAL(controller->window(), 1);
  }
}
