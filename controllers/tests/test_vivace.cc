// Vivace against Dong et al., NSDI 2018, sections 3 and 4.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "tests/bottleneck.hh"
#include "tests/check.hh"
#include "tests/running.hh"

using namespace kneepoint;
using kneepoint::test::Bottleneck;
using kneepoint::test::make_controller;
using kneepoint::test::phases;

namespace {

constexpr double rate = 5000;                // many packets in an interval, for exact shares
constexpr double megabits = 1448 * 8 / 1e6;  // of a packet

// A link whose rate becomes a hundred times as high after ten seconds.
Bottleneck widened(const Parameters::Values& values = {}) {
  Bottleneck link("vivace", values, rate, 100);
  link.run_until(10);
  link.set_rate(100 * rate);
  return link;
}

// The rates between pairs of trials, whose rates are a twentieth above and below.
std::vector<double> rates(Bottleneck& link, double length_s) {
  std::vector<double> all;
  const auto parts = phases(link, 1, length_s);
  for (size_t i = 2; i < parts.size(); ++i) {
    const double higher = std::max(parts[i - 2].gain, parts[i - 1].gain);
    const double lower = std::min(parts[i - 2].gain, parts[i - 1].gain);
    const bool is_pair = std::abs(higher / lower - 1.05 / 0.95) < 1e-6;
    if (is_pair and std::abs(lower / 0.95 / parts[i].gain - 1) < 1e-6) {
      all.push_back(parts[i].gain);
    }
  }
  return all;
}

// The packets sent at one rate, and their fates.
struct Trial {
  double rate;  // packets/s
  double began_s;
  uint64_t first;
  double due_s;  // when the next trial may begin
  double ended_s = 0;
  double heard_s = 0;  // the last acknowledgment before
  uint64_t end = UINT64_MAX;
  double acknowledged = 0;
  double lost = 0;
  std::vector<std::pair<double, double>> rtts{};  // (sending time, RTT) in seconds

  // Section 4.1: the gradient of the RTT is the slope of a regression and counts from .01 on.
  double utility(const Parameters::Values& parameters) const {
    const auto n = static_cast<double>(rtts.size());
    double t = 0;
    double rtt = 0;
    for (const auto& [sent_s, rtt_s] : rtts) {
      t += sent_s / n;
      rtt += rtt_s / n;
    }
    double together = 0;
    double spread = 0;
    for (const auto& [sent_s, rtt_s] : rtts) {
      together += (sent_s - t) * (rtt_s - rtt);
      spread += (sent_s - t) * (sent_s - t);
    }
    const double slope = spread > 0 ? together / spread : 0;
    const double mbps = static_cast<double>(end - first) / (ended_s - began_s) * megabits;
    return std::pow(mbps, parameters.at("exponent")) -
           (slope < 0.01 ? 0 : parameters.at("latency") * mbps * slope) -
           parameters.at("loss") * mbps * lost / (acknowledged + lost);
  }
};

// All trials, one after another, over a queue that grows like a fluid; one packet of `lost_every`
// is lost.
std::vector<Trial> trials(const Parameters::Values& parameters, double capacity,
                          uint64_t lost_every, double length_s) {
  const auto controller = make_controller("vivace", parameters);
  struct Packet {
    uint64_t number;
    int64_t sent_us;
    int64_t ack_us;
  };
  std::deque<Packet> out;
  std::vector<Trial> all;
  size_t oldest = 0;
  uint64_t sent = 0;
  uint64_t lost = 0;
  uint64_t told = 0;
  constexpr double start_us = 1e12;  // a clock that has run for days
  double now_us = start_us;
  double may_send_us = now_us;
  double served_us = now_us;
  double srtt_s = 0;
  while (now_us < start_us + 1e6 * length_s) {
    const bool sends = static_cast<double>(out.size()) < std::floor(controller->window()) and
                       (out.empty() or may_send_us < static_cast<double>(out.front().ack_us));
    if (sends) {
      now_us = std::max(now_us, may_send_us);
      served_us = std::max(served_us, now_us) + 1e6 / capacity;
      out.push_back({sent, std::llround(now_us), std::llround(served_us + 100e3)});
      controller->on_sent(sent++, std::llround(now_us) / 1000);
      may_send_us = now_us + controller->pacing_us();
      continue;
    }
    const Packet packet = out.front();
    out.pop_front();
    if (packet.number % lost_every == lost_every - 1) {
      ++lost;
      continue;
    }
    now_us = static_cast<double>(packet.ack_us);
    const double now = now_us / 1e6;
    const double rtt_s = static_cast<double>(packet.ack_us - packet.sent_us) / 1e6;
    srtt_s = srtt_s > 0 ? 0.875 * srtt_s + 0.125 * rtt_s : rtt_s;
    while (oldest < all.size() and packet.number >= all[oldest].end) ++oldest;
    if (oldest < all.size() and packet.number >= all[oldest].first) {
      Trial& trial = all[oldest];
      ++trial.acknowledged;
      trial.lost += static_cast<double>(lost - told);
      trial.rtts.emplace_back(static_cast<double>(packet.sent_us) / 1e6, rtt_s);
    }
    told = lost;
    controller->on_ack({.sequence_number = packet.number,
                        .sent_ms = packet.sent_us / 1000,
                        .ack_received_ms = packet.ack_us / 1000,
                        .now_us = packet.ack_us,
                        .rtt_us = packet.ack_us - packet.sent_us,
                        .in_flight = out.size(),
                        .lost = lost});
    const double now_at = 1e6 / controller->pacing_us();
    EXPECT_NEAR(controller->window(), 2 * now_at, 1e-6);  // a window of two seconds
    if (all.empty() or std::abs(now_at / all.back().rate - 1) > 1e-9) {
      if (not all.empty()) {
        all.back().ended_s = now;
        all.back().end = sent;
      }
      all.push_back({now_at, now, sent, now + std::max(srtt_s, 10 / now_at)});
    }
    all.back().heard_s = now;
  }
  return all;
}

}  // namespace

TEST(vivace_doubles_until_its_utility_falls) {
  Bottleneck link("vivace", {}, rate, 100);
  EXPECT_EQUAL(link.window(), 10);
  std::vector<double> all;
  for (const auto& [gain, length_s] : phases(link, 1, 2.2)) {
    if (not std::isfinite(gain)) continue;
    // An interval and the time to its last acknowledgment: two round trips.
    if (all.size() < 6) EXPECT_NEAR(length_s, 0.2, 0.03);
    all.push_back(gain);
  }
  // Ten packets in a round trip of 100 ms, then twice the rate, and so on; the last rate exceeds
  // the link's and is undone.
  for (size_t i = 0; i < 7; ++i)
    EXPECT_NEAR(all.at(i), 10 / 0.1002 * std::pow(2, i), 0.02 * all[i]);
  EXPECT_EQUAL(all.at(7) < rate, true);
  EXPECT_NEAR(link.window() * link.controller().pacing_us(), 2e6, 1);  // a window of two seconds
}

TEST(vivace_steps_by_gradient_confidence_and_boundary) {
  struct Case {
    Parameters::Values values;
    double exponent = 0.9;
    double theta = 1;
    double boundary = 0.05;
    double boundary_step = 0.1;
  };
  for (const auto& each : {Case{}, Case{{{"theta", 0.8}}, 0.9, 0.8}, Case{{{"exponent", 0.8}}, 0.8},
                           Case{{{"boundary", 0.02}, {"boundary_step", 0.2}}, 0.9, 1, 0.02, 0.2}}) {
    Bottleneck link = widened(each.values);
    link.lose_every(4);  // the rate falls, and then rises step by step
    link.run_until(12);
    link.lose_every(0);
    const auto all = rates(link, 6);
    size_t first = 0;  // the first of the steps that only rise
    for (size_t i = 1; i < all.size(); ++i) first = all[i] < all[i - 1] ? i : first;
    EXPECT_EQUAL(all.size() > first + 8, true);
    // The relative step at confidence 1.
    const auto unit = [&](double packets_per_s) {
      return each.theta * each.exponent * std::pow(packets_per_s * megabits, each.exponent - 2);
    };
    // The greatest relative error of seven steps, if the first has the confidence `same`.
    const auto off = [&](double same) {
      int bounded = all[first + 1] / all[first] - 1 > 0.999 * each.boundary ? 1 : 0;
      double max_off = 0;
      for (size_t i = first + 1; i < first + 8; ++i, ++same) {
        const double wanted = (same <= 3 ? same : 2 * same - 3) * unit(all[i]);
        const double max = each.boundary + bounded * each.boundary_step;
        const double step = std::max(std::min(wanted, max), 0.5 / megabits / all[i]);
        const double seen = all[i + 1] / all[i] - 1;
        max_off = std::max(max_off, std::abs(seen / step - 1));
        const double needed = std::ceil(std::max(wanted - each.boundary, 0.0) / each.boundary_step);
        bounded = seen > 0.999 * max ? bounded + 1 : static_cast<int>(needed);
      }
      return max_off;
    };
    // The losses end within the step that turns: the next step has a confidence of 2 or 3.
    EXPECT_NEAR(std::min(off(2), off(3)), 0, 0.12);
  }
}

// Sections 4.1 and 4.3, exactly.
TEST(vivace_follows_its_formula) {
  const Parameters::Values published{{"exponent", 0.9},     {"latency", 900}, {"loss", 11.35},
                                     {"theta", 1},          {"probe", 0.05},  {"boundary", 0.05},
                                     {"boundary_step", 0.1}};
  struct Case {
    Parameters::Values changed;
    double capacity;
    uint64_t lost_every;
  };
  for (const auto& [changed, capacity, lost_every] :
       {Case{{}, 3000, 1000},
        {{{"theta", 4}, {"boundary", 0.02}, {"latency", 90}}, 3000, 200},
        {{{"probe", 0.1}, {"theta", 20}, {"loss", 5}, {"exponent", 0.8}}, 200, 40},
        {{{"theta", 3}, {"boundary_step", 0}}, 150, 5}}) {
    Parameters::Values parameters = changed;
    parameters.insert(published.begin(), published.end());
    const auto all = trials(parameters, capacity, lost_every, 60);
    const double probe = parameters.at("probe");
    double same = 0;
    double bounded = 0;
    bool rose = true;
    double expected = 0;
    size_t pairs = 0;
    for (size_t i = 0; i + 2 < all.size(); ++i) {
      const Trial& one = all[i];
      const Trial& other = all[i + 1];
      const bool is_higher = one.rate > other.rate;
      const Trial& higher = is_higher ? one : other;
      const Trial& lower = is_higher ? other : one;
      if (std::abs(higher.rate / lower.rate / (1 + probe) * (1 - probe) - 1) > 1e-9) continue;
      const double mbps = (higher.rate + lower.rate) / 2 * megabits;
      if (pairs > 0) EXPECT_NEAR(mbps / expected, 1, 1e-6);
      EXPECT_EQUAL(is_higher, pairs % 2 == 0);
      for (const Trial* each : {&one, &other}) {
        EXPECT_EQUAL(each->ended_s >= each->due_s - 1e-9, true);
        EXPECT_EQUAL(each->heard_s < each->due_s + 1e-9, true);
      }
      ++pairs;
      const double slope =
          (higher.utility(parameters) - lower.utility(parameters)) / (2 * probe * mbps);
      same = (slope > 0) == rose ? same + 1 : 1;
      if ((slope > 0) != rose) bounded = 0;
      rose = slope > 0;
      const double wanted =
          (same <= 3 ? same : 2 * same - 3) * parameters.at("theta") * std::abs(slope);
      const double boundary = parameters.at("boundary");
      const double step = parameters.at("boundary_step");
      const double max = (boundary + bounded * step) * mbps;
      const double moved = std::max(std::min(wanted, max), 0.5);
      expected = std::max(mbps + (rose ? moved : -moved), 0.5);
      if (wanted > max) {
        ++bounded;
      } else if (step > 0) {
        bounded = std::max(std::ceil((wanted / mbps - boundary) / step), 0.0);
      }
    }
    EXPECT_EQUAL(pairs > 40, true);
  }
}

TEST(vivace_weighs_losses_and_delay) {
  // At 58 Mbit/s the rate grows despite losses of up to .9 x 58^-.1 / 11.35 = 5.3 %.
  const auto grows = [](uint64_t lost_every, const Parameters::Values& values) {
    Bottleneck link = widened(values);
    link.lose_every(lost_every);
    const auto all = rates(link, 6);
    return all.back() > all.at(2);
  };
  EXPECT_EQUAL(grows(25, {}), true);
  EXPECT_EQUAL(grows(15, {}), false);
  EXPECT_EQUAL(grows(15, {{"loss", 8}}), true);
  EXPECT_EQUAL(grows(25, {{"loss", 16}}), false);
  // The queue grows without bound if delay has no weight, or if every gradient is tolerated.
  const auto queue = [](const Parameters::Values& values) {
    Bottleneck link("vivace", values, rate, 100);
    double sum = 0;
    for (int i = 0; i < 300; ++i) {
      link.run_until(10 + i / 10.0);
      sum += link.queue() / 300;
    }
    return sum;
  };
  EXPECT_EQUAL(queue({}) < 1000, true);
  EXPECT_EQUAL(queue({{"latency", 0}}) > 5000, true);
  EXPECT_EQUAL(queue({{"tolerated_gradient", 10}}) > 5000, true);
}

TEST(vivace_earns_nothing_by_a_falling_rtt) {
  const auto end_rate = [](double fall_ms) {
    Bottleneck link = widened({{"tolerated_gradient", 0.001}});
    for (int i = 0; i < 400; ++i) {
      link.set_rtt(100 - fall_ms * (i + 1));
      link.run_until(10 + (i + 1) / 40.0);
    }
    return link.sending_rate();
  };
  // A fall of 4 ms/s would add six times the utility of the rate.
  EXPECT_EQUAL(end_rate(0.1) < 3 * end_rate(0), true);
}

TEST(vivace_keeps_at_least_half_a_megabit_and_moves_by_at_least_as_much) {
  Bottleneck link("vivace", {{"loss", 50}, {"boundary", 0.2}}, 200, 1000);
  link.lose_every(2);
  link.run_until(300);
  EXPECT_NEAR(1e6 / link.controller().pacing_us() * megabits, 0.5, 0.0251);
  link.lose_every(0);
  const auto all = rates(link, 20);
  EXPECT_EQUAL(all.size() >= 2, true);
  for (size_t i = 1; i < all.size(); ++i)
    EXPECT_EQUAL(std::abs(all[i] - all[i - 1]) * megabits > 0.49, true);
}

// 12 Mbit/s: at the minimum rate a round trip of 10 ms has less than a packet, too few to measure a
// rate.
TEST(vivace_fills_a_link_whose_round_trips_are_short) {
  for (const double rtt_ms : {5, 10, 20, 50}) {
    Bottleneck link("vivace", {}, 12 / megabits, rtt_ms);
    link.run_until(60);
    EXPECT_EQUAL(static_cast<double>(link.delivered()) / 60 > 0.85 * 12 / megabits, true);
    EXPECT_EQUAL(link.queue() < 0.3 * 12 / megabits, true);
  }
}
