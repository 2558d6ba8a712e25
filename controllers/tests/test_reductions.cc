// How often a congestion event reduces a window, on both transports.
#include <string>
#include <vector>

#include "tests/check.hh"
#include "tests/clocked.hh"
#include "tests/opened.hh"
#include "tests/running.hh"
#include "transport/contest_sender.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;
using kneepoint::test::Halving;
using kneepoint::test::handle_of;
using kneepoint::test::Opened;

namespace {

// A controller that is called at keepalives, too.
class Silenced final : public Controller {
 public:
  explicit Silenced(Parameters parameters = Parameters()) : Controller(parameters, 1000) {}
  double window() const override { return 10; }
  void on_ack(const Ack& ack) override { acks.push_back(ack); }
  void on_loss(const Loss& loss) override { losses.push_back(loss); }
  void on_keepalive(const Keepalive& keepalive) override { keepalives.push_back(keepalive); }

  std::vector<Ack> acks{};
  std::vector<Loss> losses{};
  std::vector<Keepalive> keepalives{};
};

// A sender of datagrams, whose packets are sent and acknowledged by number.
template <class Rule>
struct Datagrams {
  Rule controller{};
  ContestSender sender{0, handle_of(controller), nullptr};
  Microseconds now_us = 0;

  Datagrams() { sender.start(0); }

  void send(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) sender.sent(now_us += 1000);
  }
  void acknowledge(uint64_t number) {
    now_us += 1000;
    sender.acknowledged(number, now_us, now_us, [&] {
      return Ack{.sequence_number = number, .sent_ms = 0, .ack_received_ms = whole_ms(now_us)};
    });
  }
  void keepalive() {
    sender.keepalive(now_us += 1'000'000);
    send(1);
  }
};

const std::vector<std::string> rules_with_ssthresh{"reno",  "cubic",     "bic",   "hybla",
                                                   "vegas", "ledbat_pp", "prague"};

}  // namespace

// RFC 5681, section 3.1.
TEST(tcp_reports_repeated_timeouts_of_a_segment) {
  Opened t;
  t.send(100'000);
  const auto time_out = [&] {
    t.sender.timer(t.sender.timer_us());
    t.send(t.sender.timer_us() - 1);
    return t.controller.losses.back().is_repeated;
  };
  EXPECT_EQUAL(time_out(), false);
  EXPECT_EQUAL(time_out(), true);
  EXPECT_EQUAL(time_out(), true);
  t.acknowledge(1, {}, t.sender.timer_us() - 1);
  EXPECT_EQUAL(time_out(), false);
  EXPECT_EQUAL(time_out(), true);
}

TEST(ssthresh_holds_when_a_segment_times_out_again) {
  for (const std::string& name : rules_with_ssthresh) {
    const auto after_timeouts = [&](int count) {
      Clocked flow(name, {{"initial_window", 40}, {"initial_ssthresh", 2}});
      flow.is_tcp = true;
      flow.ack(100);
      for (int i = 0; i < count; ++i) flow.lose(Loss::Kind::timed_out);
      EXPECT_EQUAL(flow.window() <= 2, true);
      for (int i = 0; i < 12; ++i) flow.ack(100);
      return flow.window();
    };
    EXPECT_EQUAL(after_timeouts(3), after_timeouts(1));
    EXPECT_EQUAL(after_timeouts(1) > 4, true);
  }
}

TEST(ssthresh_holds_in_a_silence_on_datagrams) {
  for (const std::string& name : rules_with_ssthresh) {
    const auto after_keepalives = [&](int count) {
      Clocked flow(name, {{"initial_window", 40}, {"initial_ssthresh", 2}});
      flow.ack(100);
      for (int i = 0; i < count; ++i) flow.keepalive();
      for (int i = 0; i < 12; ++i) flow.ack(100);
      return flow.window();
    };
    EXPECT_EQUAL(after_keepalives(3), after_keepalives(1));
  }
}

TEST(datagrams_report_repeated_keepalives) {
  Datagrams<Silenced> t;
  t.send(3);
  t.keepalive();
  t.keepalive();
  EXPECT_EQUAL(t.controller.keepalives[0].is_repeated, false);
  EXPECT_EQUAL(t.controller.keepalives[0].in_flight, 3u);
  EXPECT_EQUAL(t.controller.keepalives[0].now_us, 1'003'000);
  EXPECT_EQUAL(t.controller.keepalives[1].is_repeated, true);
  EXPECT_EQUAL(t.controller.keepalives[1].in_flight, 4u);
  t.acknowledge(0);
  t.keepalive();
  EXPECT_EQUAL(t.controller.keepalives[2].is_repeated, false);
}

// RFC 9438, section 4.8: losses of packets in flight during a silence belong to its congestion
// event; the loss of a packet that left later is a new event.
TEST(a_silence_and_the_losses_before_it_are_one_congestion_event) {
  Datagrams<Silenced> t;
  t.send(8);
  t.keepalive();  // 8
  t.acknowledge(5);
  EXPECT_EQUAL(t.controller.losses.size(), 0u);
  EXPECT_EQUAL(t.controller.acks.back().is_recovering, false);
  EXPECT_EQUAL(t.controller.acks.back().lost, 5u);
  t.send(3);  // 9 to 11
  t.acknowledge(8);
  t.acknowledge(10);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
}

TEST(a_silence_that_a_controller_ignores_hides_no_loss) {
  Datagrams<Halving> t;
  t.send(8);
  t.keepalive();
  t.acknowledge(5);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
}

// RFC 9002, section 7.3.2.
TEST(datagrams_recover_until_a_datagram_sent_after_the_loss_is_acknowledged) {
  Datagrams<Halving> t;
  t.send(6);
  t.acknowledge(0);
  EXPECT_EQUAL(t.controller.acks.back().is_recovering, false);
  t.acknowledge(2);
  EXPECT_EQUAL(t.controller.acks.back().is_recovering, true);
  t.send(2);  // 6 and 7
  t.acknowledge(5);
  EXPECT_EQUAL(t.controller.acks.back().is_recovering, true);
  EXPECT_EQUAL(t.controller.losses.size(), 1u);
  t.acknowledge(6);
  EXPECT_EQUAL(t.controller.acks.back().is_recovering, false);
}

TEST(duplicates_are_not_reported_to_a_controller) {
  Datagrams<Halving> t;
  t.send(10);
  for (const uint64_t number : {0, 0, 3, 3, 0, 1, 1, 3, 9, 5, 5, 4, 6, 8, 7, 7, 2, 2, 9}) {
    t.acknowledge(number);
  }
  std::string heard;
  uint64_t delivered = 0;
  for (const Ack& ack : t.controller.acks) {
    heard += std::to_string(ack.sequence_number) + " ";
    EXPECT_EQUAL(ack.delivered, ++delivered);
    EXPECT_EQUAL(ack.lost <= 9, true);
  }
  EXPECT_EQUAL(heard, "0 3 1 9 5 4 6 8 7 2 ");
  EXPECT_EQUAL(t.controller.acks.back().lost, 0u);
  EXPECT_EQUAL(t.controller.acks.back().in_flight, 0u);
}
