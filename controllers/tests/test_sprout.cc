// Sprout and Sprout-EWMA (Winstein, Sivaraman, Balakrishnan, NSDI 2013), against a particle filter
// of the paper's model.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "algorithms/receiver_ticks.hh"
#include "tests/check.hh"
#include "tests/running.hh"

using namespace kneepoint;
using kneepoint::test::make_controller;

namespace {

// Acknowledgments of packets that arrived in ticks of the receiver's clock, at least 20 ms after
// they left.
class Arrivals {
 public:
  Arrivals(const std::string& name, const Parameters::Values& values)
      : controller_(make_controller(name, values)) {}

  // A tick with `packets` arrivals; in a busy tick they have waited in the queue.
  void tick(int64_t packets, bool is_busy) {
    for (int64_t i = 0; i < packets; ++i) arrive(now_ms_ + 20 * i / packets, is_busy ? 300 : 20);
    now_ms_ += 20;
  }
  void arrive(int64_t received_ms, int64_t way_ms) {
    controller_->on_ack({.sequence_number = number_++,
                         .sent_ms = received_ms - way_ms,
                         .received_ms = received_ms,
                         .ack_received_ms = received_ms + 20});
  }
  double window() const { return controller_->window(); }

 private:
  LoadedController controller_;
  uint64_t number_ = 0;
  int64_t now_ms_ = 1000;
};

struct Model {
  double sigma = 200;
  double escape = 1;
  double percentile = 5;
  int horizon = 5;
};

class Particles {
 public:
  explicit Particles(const Model& model) : model_(model) {
    for (double& rate : rates_) rate = 1000 * uniform_(random_);
  }
  void move(double& rate) {
    if (rate <= 0 and uniform_(random_) < std::exp(-model_.escape * 0.02)) return;
    rate = std::clamp(rate + model_.sigma * std::sqrt(0.02) * normal_(random_), 0.0, 1000.0);
  }
  // Weights are the probability of `packets` arrivals or, in an idle tick, of at least as many.
  void tick(int packets, bool is_busy) {
    std::vector<double> weights;
    for (double& rate : rates_) {
      move(rate);
      const double mean = rate * 0.02;
      double term = std::exp(-mean);
      double less = 0;
      for (int i = 0; i < packets; ++i, term *= mean / i) less += term;
      weights.push_back(is_busy ? term : 1 - less);
    }
    std::discrete_distribution<size_t> draw(weights.begin(), weights.end());
    const std::vector<double> before = rates_;
    for (double& rate : rates_) rate = before[draw(random_)];
  }
  double forecast() {
    std::vector<int> totals;
    for (double rate : rates_) {
      int total = 0;
      for (int tick = 0; tick < model_.horizon; ++tick) {
        move(rate);
        total += std::poisson_distribution<int>(std::max(rate * 0.02, 1e-9))(random_);
      }
      totals.push_back(total);
    }
    std::ranges::sort(totals);
    return totals[static_cast<size_t>(model_.percentile / 100 *
                                      static_cast<double>(totals.size()))];
  }

 private:
  Model model_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_{};
  std::uniform_real_distribution<double> uniform_{};
  std::vector<double> rates_ = std::vector<double>(20'000);
};

// The paper's 256 rates, with a motion slow enough that its neglected tails do not count.
class Rates {
 public:
  static constexpr double sigma = 75;
  static constexpr int last = 255;

  static double mean(int rate) { return 20.0 * rate / last; }
  static double poisson(int packets, double mean) {
    double term = std::exp(-mean);
    for (int i = 1; i <= packets; ++i) term *= mean / i;
    return term;
  }
  void move() {
    const double deviation = sigma * std::sqrt(0.02) * last / 1000;
    const auto below = [&](double way) { return std::erfc(-way / deviation / std::sqrt(2)) / 2; };
    std::vector<double> after(belief_.size());
    for (int from = 0; from <= last; ++from) {
      const double stuck = from == 0 ? std::exp(-0.02) : 0;
      after[0] += stuck * belief_[0];
      for (int to = 0; to <= last; ++to) {
        const double more = to == last ? 1 : below(to - from + 0.5);
        const double less = to == 0 ? 0 : below(to - from - 0.5);
        after[to] += (1 - stuck) * (more - less) * belief_[from];
      }
    }
    belief_ = after;
  }
  // A busy tick with `packets` arrivals, or an idle tick with at least one.
  void tick(int packets, bool is_busy) {
    move();
    double sum = 0;
    for (int i = 0; i <= last; ++i) {
      sum += belief_[i] *= is_busy ? poisson(packets, mean(i)) : 1 - poisson(0, mean(i));
    }
    for (double& each : belief_) each /= sum;
  }
  // The probability of at most `packets` arrivals in the next tick.
  double at_most(int packets) const {
    Rates next = *this;
    next.move();
    double sum = 0;
    for (int i = 0; i <= last; ++i) {
      for (int n = 0; n <= packets; ++n) sum += next.belief_[i] * poisson(n, mean(i));
    }
    return sum;
  }

 private:
  std::vector<double> belief_ = std::vector<double>(last + 1, 1.0 / (last + 1));
};

}  // namespace

TEST(receiver_ticks_have_arrivals_and_whether_the_link_was_busy) {
  struct Case {
    std::vector<std::pair<int64_t, int64_t>> packets;  // sent, received
    std::string ticks;
  };
  // The minimum one-way delay is 20 ms, from the first packet.
  for (const auto& [packets, expected] : std::vector<Case>{
           {{{0, 20}, {1, 25}, {2, 30}, {3, 41}},
            "3- "},  // before the first the link may have idled
           {{{0, 20}, {10, 41}, {11, 50}, {12, 61}}, "1- 2+ "},    // all packets waited
           {{{0, 20}, {10, 41}, {22, 42}, {12, 61}}, "1- 2- "},    // one packet found the link idle
           {{{0, 20}, {10, 41}, {11, 50}, {41, 61}}, "1- 2- "},    // idle at the end
           {{{0, 20}, {10, 41}, {11, 130}}, "1- 1+ 0+ 0+ 0+ "},    // an outage
           {{{0, 20}, {10, 41}, {100, 130}}, "1- 1- 0- 0- 0- "},   // nothing was sent
           {{{0, 20}, {10, 41}, {5, 30}, {11, 61}}, "1- 2+ "}}) {  // out of order
    ReceiverTicks ticks;
    std::string seen;
    for (const auto& [sent_ms, received_ms] : packets) {
      const Ack ack{.sequence_number = 0,
                    .sent_ms = sent_ms,
                    .received_ms = received_ms,
                    .ack_received_ms = received_ms};
      ticks.add(ack, [&](uint64_t count, bool is_busy) {
        seen += std::to_string(count) + (is_busy ? "+ " : "- ");
      });
    }
    EXPECT_EQUAL(seen, expected);
  }
}

TEST(sprout_forecasts_like_particles_of_its_model) {
  struct Case {
    Model model;
    int packets;
    bool is_busy;
  };
  for (const auto& [model, packets, is_busy] : {Case{{}, 10, true},
                                                {{}, 3, true},
                                                {{}, 10, false},
                                                {{}, 19, true},
                                                {{.sigma = 400}, 10, true},
                                                {{.percentile = 50}, 10, true},
                                                {{.percentile = 25, .horizon = 8}, 10, true},
                                                {{.escape = 10, .percentile = 75}, 0, true},
                                                {{.percentile = 75}, 0, true}}) {
    Arrivals flow("sprout", {{"sigma", model.sigma},
                             {"outage_escape", model.escape},
                             {"percentile", model.percentile},
                             {"horizon_ticks", model.horizon}});
    Particles particles(model);
    EXPECT_NEAR(flow.window(), particles.forecast(), 1);  // all rates are equally likely
    flow.tick(1, false);
    for (int i = 0; i < 40; ++i) flow.tick(packets, is_busy);
    flow.tick(1, true);
    particles.tick(1, false);
    for (int i = 0; i < 40; ++i) particles.tick(packets, is_busy);
    EXPECT_NEAR(flow.window(), particles.forecast(), 1);
  }
}

TEST(sprout_knows_the_probability_of_its_forecast) {
  for (const std::vector<int>& ticks :
       std::vector<std::vector<int>>{{}, {5, 9, 3, 8}, {19, 24, 20}, {0, 0, 1, 0}}) {
    Rates rates;
    rates.tick(1, false);
    for (const int packets : ticks) rates.tick(packets, true);
    for (int packets = 0; packets < 20; packets += 3) {
      const double percent = 100 * rates.at_most(packets);
      if (percent < 2 or percent > 98) continue;
      for (const double more : {-0.01, 0.01}) {
        Arrivals flow(
            "sprout",
            {{"sigma", Rates::sigma}, {"percentile", percent + more}, {"horizon_ticks", 1}});
        flow.tick(1, false);
        for (const int packets_now : ticks) flow.tick(packets_now, true);
        flow.tick(1, true);
        EXPECT_EQUAL(flow.window(), packets + (more > 0 ? 1 : 0));
      }
    }
  }
}

TEST(sprout_sends_as_far_as_its_forecast_of_a_tick) {
  for (const char* const name : {"sprout", "sprout_ewma"}) {
    Arrivals flow(name, {});
    for (int i = 0; i < 20; ++i) flow.tick(10, true);
    flow.tick(1, true);
    const double forecast = flow.window();
    EXPECT_EQUAL(forecast > 10, true);
    flow.arrive(1000 + 20 * 20 + 15, 300);
    EXPECT_NEAR(flow.window(), forecast - 1, 1e-9);  // until the end of the tick
  }
}

TEST(sprout_survives_arrivals_beyond_its_greatest_rate) {
  Arrivals flow("sprout", {});
  for (int i = 0; i < 20; ++i) flow.tick(300, true);
  Arrivals bold("sprout", {{"percentile", 99}});
  for (int i = 0; i < 20; ++i) bold.tick(300, true);
  flow.tick(1, true);
  bold.tick(1, true);
  EXPECT_EQUAL(bold.window(), 100);   // the greatest rate, without its variation
  EXPECT_NEAR(flow.window(), 80, 6);  // 1,000 packets/s, less the variation
  flow.arrive(int64_t{1} << 52, 20);  // a receiver's clock may show any time
  EXPECT_EQUAL(flow.window() >= 0, true);
}

TEST(sprout_ewma_smooths_arrivals_of_busy_ticks) {
  for (const double share : {0.125, 0.5}) {
    Arrivals flow("sprout_ewma",
                  {{"initial_window", 10}, {"new_share", share}, {"horizon_ms", 80}});
    EXPECT_EQUAL(flow.window(), 10);
    flow.tick(1, false);  // the link could have delivered more
    flow.tick(6, true);   // five packets after the forecast
    EXPECT_NEAR(flow.window(), 10 - 5, 1e-9);
    flow.tick(4, false);  // the link delivered more
    const double once = 2.5 + share * 3.5;
    EXPECT_NEAR(flow.window(), 4 * once - 3, 1e-9);
    flow.tick(4, false);
    EXPECT_NEAR(flow.window(), 4 * (once + std::max(share * (4 - once), 0.0)) - 3, 1e-9);
  }
}
