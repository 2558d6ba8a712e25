// Programs of `rule`, written in the order of its stack, against the definition of the language in
// docs/how-to/evolve-a-rule.md.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "tests/check.hh"
#include "tests/clocked.hh"

using namespace kneepoint;
using kneepoint::test::Clocked;
using kneepoint::test::expect_refused;
using kneepoint::test::make_controller;

namespace {

constexpr double exact = 1e-9;

// A parameter holds eight operations, each a digit of base 64. A word that is no operation is a
// number.
Parameters::Values program(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream known(
      "end number owd rtt min_rtt silence flight w add sub mul div pow min max neg abs exp log "
      "clip choose ewma change rate set_w set_window set_pace set_keepalive");
  for (std::string name; known >> name;) names.push_back(name);
  for (const std::string kind : {"load", "store"}) {
    for (int i = 0; i < 12; ++i) names.push_back(kind + std::to_string(i));
  }
  Parameters::Values values;
  std::istringstream words(text);
  int place = 0;
  int numbers = 0;
  for (std::string word; words >> word; ++place) {
    auto operation = std::ranges::find(names, word) - names.begin();
    if (operation == std::ssize(names)) {
      values["number_" + std::to_string(numbers++)] = std::stod(word);
      operation = 1;
    }
    values["code_" + std::to_string(place / 8)] +=
        static_cast<double>(operation) * std::pow(64, place % 8);
  }
  return values;
}

Clocked rule(const std::string& text, Parameters::Values more = {}) {
  more.merge(program(text));
  return Clocked("rule", more);
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST(rule_computes) {
  struct Case {
    const char* expression;
    double value;
  };
  for (const auto& [expression, value] : {Case{"3 4 add", 7},
                                          {"10 3 sub", 7},
                                          {"3.5 2 mul", 7},
                                          {"14 2 div", 7},
                                          {"3 2 pow", 9},
                                          {"7 9 min", 7},
                                          {"9 7 min", 7},
                                          {"3 7 max", 7},
                                          {"7 3 max", 7},
                                          {"-7 neg", 7},
                                          {"-7 abs", 7},
                                          {"2 exp", std::exp(2)},
                                          {"1000 log", std::log(1000)},
                                          {"9 3 7 clip", 7},
                                          {"2 3 7 clip", 3},
                                          {"5 3 7 clip", 5},
                                          {"0.5 7 3 choose", 7},
                                          {"0 7 3 choose", 3},
                                          {"-1 7 3 choose", 3}}) {
    EXPECT_NEAR(rule(std::string(expression) + " set_window").ack(50), value, exact);
  }
}

TEST(rule_has_signals) {
  struct Case {
    const char* signal;
    std::vector<double> values;
  };
  // The one-way delays are 30, 47, 25, 10 and 12 ms; the fourth packet is reported after the third,
  // though it arrived 15 ms before it.
  for (const auto& [signal, values] : {Case{"owd", {0, 17, 0, 0, 2}},
                                       {"rtt", {0, 20, 0, 3, 4}},
                                       {"min_rtt", {50, 50, 45, 45, 45}},
                                       {"silence", {0, 5, 12, 0, 15}},
                                       {"flight", {19, 18, 17, 16, 15}}}) {
    Clocked flow = rule(std::string(signal) + " set_window 2 set_w");
    const auto ack = [&flow](int64_t way_ms, double rtt_ms, double gap_ms) {
      flow.one_way_ms = way_ms;
      return flow.ack(rtt_ms, 1, gap_ms);
    };
    for (size_t i = 0;
         const auto& [way_ms, rtt_ms, gap_ms] :
         {std::tuple{30, 50, 5}, {47, 70, 8}, {25, 45, 9}, {10, 48, 3}, {12, 49, 29}}) {
      EXPECT_NEAR(ack(way_ms, rtt_ms, gap_ms), std::max(2.0, values[i++]), exact);
    }
  }
}

TEST(rule_remembers) {
  Clocked average = rule("8 0.5 ewma set_window");
  for (const double expected : {4.0, 6.0, 7.0}) EXPECT_NEAR(average.ack(50), expected, exact);
  Clocked change = rule("rtt change 20 add set_window");
  EXPECT_NEAR(change.ack(50), 20, exact);
  EXPECT_NEAR(change.ack(60), 30, exact);
  EXPECT_NEAR(change.ack(63), 23, exact);
  EXPECT_NEAR(change.ack(55), 12, exact);
  // Arrivals 10 ms apart, with weights that fall by a factor of e in 100 ms; the first has no
  // predecessor.
  Clocked rate = rule("0.1 rate 1000 mul set_window");
  double sum = 0;
  double weight = 0.01;
  for (int i = 0; i < 5; ++i) {
    const double kept = std::exp(-0.1);
    sum = kept * sum + 0.01;
    if (i > 0) weight = 1 - std::pow(kept, i);
    EXPECT_NEAR(rate.ack(50, 1, 10), 1000 * sum / weight, 1e-6);
  }
}

TEST(rule_moves_w_within_its_bounds) {
  Clocked flow = rule("w 1 add set_w w 1 add set_w", {{"widest_window", 25}});
  EXPECT_EQUAL(flow.window(), 20);
  EXPECT_EQUAL(flow.ack(50), 22);
  EXPECT_EQUAL(flow.ack(50), 24);
  EXPECT_EQUAL(flow.ack(50), 25);
  EXPECT_EQUAL(rule("0 set_w").ack(50), 2);
  // An assignment before the assignment of w reads the old w.
  Clocked before = rule("w store0 5 set_w load0 set_window");
  EXPECT_EQUAL(before.ack(50), 20);
  EXPECT_EQUAL(before.ack(50), 5);
  // A window that differs from w, and at least 2.
  Clocked apart = rule("w 1 add set_window", {{"initial_window", 7}});
  EXPECT_EQUAL(apart.ack(50), 8);
  EXPECT_EQUAL(apart.ack(50), 8);
  EXPECT_EQUAL(rule("1.5 set_window").ack(50), 2);
  EXPECT_EQUAL(rule("2.5 set_window").ack(50), 2.5);
}

TEST(rule_sets_pace_and_keepalive) {
  const auto gap_us = [](const std::string& pace) {
    Clocked flow = rule("w set_w " + pace + " set_pace");
    EXPECT_EQUAL(flow.pacing_us(), 0);
    flow.ack(50);
    return flow.pacing_us();
  };
  EXPECT_NEAR(gap_us("0.5"), 2000, exact);
  EXPECT_NEAR(gap_us("2000"), 0.5, exact);
  EXPECT_EQUAL(gap_us("0"), 1e6);
  EXPECT_EQUAL(gap_us("-1"), 0);
  const auto keepalive_ms = [](const std::string& ms) {
    Clocked flow = rule("w set_w " + ms + " set_keepalive", {{"keepalive_ms", 70}});
    EXPECT_EQUAL(flow.keepalive_ms(), 70);
    flow.ack(50);
    return flow.keepalive_ms();
  };
  EXPECT_EQUAL(keepalive_ms("29"), 29);
  EXPECT_EQUAL(keepalive_ms("1.1"), 1.1);
  EXPECT_EQUAL(keepalive_ms("0.5"), 1);
  Clocked neither = rule("w set_w", {{"keepalive_ms", 70}});
  neither.ack(50);
  EXPECT_EQUAL(neither.pacing_us(), 0);
  EXPECT_EQUAL(neither.keepalive_ms(), 70);
}

TEST(rule_may_have_128_operations_and_40_numbers) {
  std::string sum = "1 ";
  for (int i = 2; i <= 40; ++i) sum += std::to_string(i) + " add ";
  EXPECT_EQUAL(rule(sum + repeated("store11 load11 ", 24) + "set_window").ack(50), 820);
  expect_refused([] { rule(repeated("number ", 41)); }, "too many numbers");
  for (const std::string unknown : {"code_16", "number_40"}) {
    expect_refused([&] { make_controller("rule", {{unknown, 1}}); }, "no parameter " + unknown);
  }
}

TEST(rule_refuses_invalid_programs) {
  for (const std::string text : {"1 add set_w", "set_w", "exp set_w", "1 2 clip set_w"}) {
    expect_refused([&] { rule(text); }, "code is no program");
  }
  for (const double code : {52.0, 63.0}) {
    expect_refused([&] { make_controller("rule", {{"code_0", code}}); }, "code is no program");
  }
  expect_refused([] { make_controller("rule", {{"code_0", std::pow(64, 8)}}); }, "outside");
  expect_refused([] { rule("1 store0 load1 set_w"); }, "loads what is not stored");
  // Operations after the end are not part of the program.
  EXPECT_EQUAL(rule("7 set_window end 9 set_window").ack(50), 7);
}
