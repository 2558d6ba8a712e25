// The virtual host of an entry, with a test in place of the emulator.
#include <functional>
#include <vector>

#include "check.hh"
#include "entries/virtual_host.hh"

namespace {

using namespace kneepoint;

constexpr int64_t us = 1000;
constexpr int64_t ms = 1000 * us;

// Answers each turn as the test demands, and records the entry's reports.
struct Emulator {
  EntryMessages messages{};
  std::vector<EntryMessages::Report> reports{};
  std::function<void(EntryMessages::Order&)> answer = [](EntryMessages::Order&) {};
  VirtualHost host{messages, [this] {
                     reports.push_back(messages.report);
                     messages.order.arrivals = 0;
                     answer(messages.order);
                   }};

  Emulator() {
    messages.order = {.known_until_ns = 0,
                      .lateness_ns = 100 * us,
                      .packet_ns = 5 * us,
                      .start_ns = 0,
                      .end_ns = 1000 * ms,
                      .seed = 1,
                      .arrival_bytes = 48,
                      .arrivals = 0,
                      .arrival = {}};
    host.begin();
  }

  static void deliver(EntryMessages::Order& order, int64_t readable_ns) {
    order.arrival[order.arrivals++] = {readable_ns - us, readable_ns, {}};
    order.known_until_ns = readable_ns;
  }
};

TEST(virtual_clock_advances_by_each_reading) {
  Emulator emulator;
  EXPECT_EQUAL(emulator.host.read_clock_ns(), 50);
  EXPECT_EQUAL(emulator.host.read_clock_ns(), 100);
  EXPECT_EQUAL(emulator.reports.size(), 0u);
}

TEST(virtual_cpu_clock_advances_by_1_to_20_us) {
  Emulator emulator;
  int64_t last_ns = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t now_ns = emulator.host.read_cpu_clock_ns();
    EXPECT_EQUAL(now_ns - last_ns >= us and now_ns - last_ns <= 20 * us, true);
    last_ns = now_ns;
  }
}

TEST(virtual_sleep_ends_late_as_a_timer_does_and_takes_no_turn_into_the_past) {
  Emulator emulator;
  emulator.host.sleep_until(0);
  EXPECT_EQUAL(emulator.reports.size(), 0u);
  emulator.host.sleep_until(3 * ms);
  EXPECT_EQUAL(emulator.reports.size(), 1u);
  EXPECT_EQUAL(emulator.reports[0].wish, EntryMessages::sleep);
  EXPECT_EQUAL(emulator.reports[0].wakes_ns, 3 * ms + 100 * us);
  EXPECT_EQUAL(emulator.host.read_clock_ns(), 3 * ms + 100 * us + 50);
}

TEST(virtual_poll_is_ready_at_once_for_writing_and_for_both_in_one_turn) {
  Emulator emulator;
  const auto writable = emulator.host.wait(true, true, -1);
  EXPECT_EQUAL(writable.writable and not writable.readable, true);
  EXPECT_EQUAL(emulator.host.read_clock_ns(), 50);
  emulator.answer = [](EntryMessages::Order& order) { Emulator::deliver(order, 2 * ms); };
  EXPECT_EQUAL(emulator.host.wait(true, false, -1).readable, true);
  const auto both = emulator.host.wait(true, true, -1);
  EXPECT_EQUAL(both.writable and both.readable, true);
}

TEST(virtual_poll_asks_before_it_reports_no_arrival) {
  Emulator emulator;
  emulator.host.read_clock_ns();  // beyond the time that the emulator knows
  emulator.answer = [](EntryMessages::Order& order) { order.known_until_ns = ms; };
  EXPECT_EQUAL(emulator.host.wait(true, true, -1).readable, false);
  EXPECT_EQUAL(emulator.reports.size(), 1u);
  EXPECT_EQUAL(emulator.reports[0].wish, EntryMessages::know);
  emulator.host.wait(true, true, -1);
  EXPECT_EQUAL(emulator.reports.size(), 1u);
}

TEST(virtual_poll_returns_when_a_datagram_can_be_read) {
  Emulator emulator;
  emulator.answer = [](EntryMessages::Order& order) { Emulator::deliver(order, 7 * ms); };
  EXPECT_EQUAL(emulator.host.wait(true, false, 20 * ms).readable, true);
  EXPECT_EQUAL(emulator.reports[0].wish, EntryMessages::arrival);
  EXPECT_EQUAL(emulator.reports[0].wakes_ns, 20 * ms + 100 * us);
  EXPECT_EQUAL(emulator.host.read_clock_ns(), 7 * ms + 50);
  EXPECT_EQUAL(emulator.host.receive(0)->arrived_ns, 7 * ms - us);
}

TEST(virtual_poll_times_out_before_a_later_arrival) {
  Emulator emulator;
  emulator.answer = [](EntryMessages::Order& order) { Emulator::deliver(order, 21 * ms); };
  EXPECT_EQUAL(emulator.host.wait(true, false, 20 * ms).readable, false);
  EXPECT_EQUAL(emulator.host.read_clock_ns(), 20 * ms + 100 * us + 50);
}

// A wait begins after the last action of the turn, as with the emulator's own sender: the time to
// send a datagram is part of the wait only if no action follows.
TEST(virtual_poll_waits_from_the_last_action) {
  Emulator emulator;
  emulator.answer = [](EntryMessages::Order& order) { Emulator::deliver(order, 0); };
  const std::vector<std::byte> datagram(1472);
  emulator.host.send(datagram, datagram.size());
  emulator.host.wait(true, false, 0);
  EXPECT_EQUAL(emulator.host.receive(0).has_value(), true);
  emulator.answer = [](EntryMessages::Order& order) { order.known_until_ns = 100 * ms; };
  emulator.host.wait(true, false, ms);
  EXPECT_EQUAL(emulator.reports.back().wakes_ns, 5 * us + ms + 100 * us);
  emulator.host.send(datagram, datagram.size());
  const int64_t sent_ns = emulator.reports.back().wakes_ns;
  emulator.host.wait(true, false, ms);
  EXPECT_EQUAL(emulator.reports.back().wakes_ns, sent_ns + ms + 100 * us);
}

TEST(virtual_poll_without_time_costs_some) {
  Emulator emulator;
  EXPECT_EQUAL(emulator.host.wait(true, false, 0).readable, false);
  EXPECT_EQUAL(emulator.host.read_clock_ns(), us + 50);
}

TEST(virtual_datagrams_leave_with_the_next_turn_each_at_its_time) {
  Emulator emulator;
  const std::vector<std::byte> content(48);
  emulator.host.send(content, 1472);
  emulator.host.send(content, 1472);
  EXPECT_EQUAL(emulator.reports.size(), 0u);
  emulator.host.sleep_until(ms);
  EXPECT_EQUAL(emulator.reports[0].departures, 2u);
  EXPECT_EQUAL(emulator.reports[0].departure[1].clock_ns, 5 * us);
  EXPECT_EQUAL(emulator.reports[0].departure[1].bytes, 1472u);
}

TEST(virtual_datagrams_take_a_turn_where_a_message_is_full) {
  Emulator emulator;
  const std::vector<std::byte> content(48);
  for (size_t i = 0; i < EntryMessages::max_datagrams; ++i) emulator.host.send(content, 1472);
  EXPECT_EQUAL(emulator.reports.size(), 1u);
  EXPECT_EQUAL(emulator.reports[0].departures, EntryMessages::max_datagrams);
}

TEST(virtual_datagrams_are_read_in_order_and_one_by_one) {
  Emulator emulator;
  emulator.answer = [](EntryMessages::Order& order) {
    Emulator::deliver(order, 2 * ms);
    Emulator::deliver(order, 3 * ms);
  };
  EXPECT_EQUAL(emulator.host.receive(-1)->arrived_ns, 2 * ms - us);
  EXPECT_EQUAL(emulator.host.peek().has_value(), false);
  EXPECT_EQUAL(emulator.host.receive(-1)->arrived_ns, 3 * ms - us);
  EXPECT_EQUAL(emulator.reports.size(), 1u);
}

TEST(virtual_run_ends_for_an_entry_that_only_reads_the_clock) {
  Emulator emulator;
  emulator.messages.order.end_ns = 500;
  emulator.host.begin();
  for (int i = 0; i < 9; ++i) emulator.host.read_clock_ns();
  EXPECT_EQUAL(emulator.reports.size(), 0u);
  emulator.host.read_clock_ns();
  EXPECT_EQUAL(emulator.reports.back().wish, EntryMessages::end);
}

}  // namespace
