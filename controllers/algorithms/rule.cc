// A rule that is data: a program for a stack of numbers, performed at each acknowledgment.
// search/language.py compiles expressions into it; docs/how-to/evolve-a-rule.md describes
// them.
//
// The program stands in parameters: code_0 has its first eight operations as digits of base 64, the
// first as the last digit. Its literals are number_0 and so on, in the order of the program. What
// stands where on the stack is known beforehand, so that only what computes remains: steps, each of
// which knows where its operands are.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "common/portable_math.hh"

namespace kneepoint {
namespace {

constexpr size_t variables = 12;
constexpr size_t codes = 16;
constexpr size_t per_code = 8;
constexpr size_t numbers = 40;
constexpr size_t max_operands = 3;

struct Step {
  double operator[](size_t k) const { return *operands[k]; }

  double (*compute)(Step&);
  std::array<const double*, max_operands> operands;
  double value = 0;
  double memory = 0;
  ArrivalRate arrivals{};
};

struct Computation {
  size_t taken;
  double (*of)(Step&);
};

double clip(Step& x) { return std::min(std::max(x[0], x[1]), x[2]); }

// The order of this and of what follows is that of OPERATIONS in search/language.py.
constexpr std::array computations{
    Computation{2, [](Step& x) { return x[0] + x[1]; }},
    Computation{2, [](Step& x) { return x[0] - x[1]; }},
    Computation{2, [](Step& x) { return x[0] * x[1]; }},
    Computation{2, [](Step& x) { return x[0] / x[1]; }},
    Computation{2, [](Step& x) { return portable::pow(x[0], x[1]); }},
    Computation{2, [](Step& x) { return std::min(x[0], x[1]); }},
    Computation{2, [](Step& x) { return std::max(x[0], x[1]); }},
    Computation{1, [](Step& x) { return -x[0]; }},
    Computation{1, [](Step& x) { return std::abs(x[0]); }},
    Computation{1, [](Step& x) { return portable::exp(x[0]); }},
    Computation{1, [](Step& x) { return portable::log(x[0]); }},
    Computation{3, clip},
    Computation{3, [](Step& x) { return x[0] > 0 ? x[1] : x[2]; }},
    Computation{2, [](Step& x) { return x.memory += x[1] * (x[0] - x.memory); }},  // ewma
    Computation{1, [](Step& x) { return x[0] - std::exchange(x.memory, x[0]); }},  // change
    Computation{1, [](Step& x) { return x.arrivals.add(1, x[1], 1000 * x[0]); }},  // rate
};

enum Signal : size_t { owd, rtt, min_rtt, silence, flight, w, signals };

enum Operation : size_t {
  end,
  number,
  first_signal,
  first_computation = first_signal + signals,
  set_w = first_computation + computations.size(),
  set_window,
  set_pace,
  set_keepalive,
  first_load,
  first_store = first_load + variables,
  operations = first_store + variables,
};
static_assert(operations <= 64);

class Rule final : public Controller {
 public:
  explicit Rule(Parameters& parameters)
      : Controller(parameters, 1000),
        widest_(parameters.real(
            "widest_window", 600,
            {.low = 100, .high = 10000, .least = 2, .most = widest_window, .scale = Scale::log},
            "packets", "upper bound of w, whose lower is 2")),
        window_(parameters.real("initial_window", 20, {.low = 1, .high = 100, .least = 1},
                                "packets", "w before the first acknowledgment")),
        keepalive_ms_(Controller::keepalive_ms()) {
    signals_[w] = window_;
    std::vector<size_t> program;
    for (size_t i = 0; i < codes; ++i) {
      constexpr double most = 281474976710655;  // 64^8 - 1
      auto code = static_cast<uint64_t>(parameters.integer("code_" + std::to_string(i), 0,
                                                           {.low = 0, .high = most, .most = most},
                                                           "1", "eight operations of the program"));
      for (size_t k = 0; k < per_code; ++k, code /= 64) program.push_back(code % 64);
    }
    for (size_t i = 0; i < numbers; ++i) {
      literals_[i] = parameters.real(
          "number_" + std::to_string(i), 0,
          {.low = -1000, .high = 1000, .least = std::numeric_limits<double>::lowest()}, "1",
          "a number of the program");
    }
    load(program);
  }

  double window() const override { return window_; }
  double keepalive_ms() const override { return keepalive_ms_; }
  double pacing_us() const override { return gap_us_; }

  void on_ack(const Ack& ack) override {
    hear(ack);
    for (Step& step : steps_) step.value = step.compute(step);
    window_ = *set_window_ < 2 ? 2 : *set_window_;  // what is no number stays so, and fails
    if (set_pace_ != nullptr) gap_us_ = std::clamp(1000 / *set_pace_, 0.0, longest_gap_us_);
    if (set_keepalive_ != nullptr) keepalive_ms_ = std::max(1.0, *set_keepalive_);
    signals_[w] = *set_w_;  // which others may have read
  }

 private:
  using Place = const double*;

  void load(const std::vector<size_t>& program) {
    size_t next = 0;
    std::vector<Place> stack;
    std::array<Place, variables> stored{};
    const auto pop = [&stack] {
      if (stack.empty()) throw std::invalid_argument("code is no program");
      const Place top = stack.back();
      stack.pop_back();
      return top;
    };
    steps_.reserve(program.size());  // their places stay
    for (const size_t operation : program) {
      if (operation == end) break;
      if (operation >= operations) throw std::invalid_argument("code is no program");
      if (operation == number) {
        if (next == literals_.size()) throw std::invalid_argument("code has too many numbers");
        stack.push_back(&literals_[next++]);
      } else if (operation < first_computation) {
        const size_t signal = operation - first_signal;
        stack.push_back(signal == w ? set_w_ : &signals_[signal]);
      } else if (operation < set_w) {
        const Computation& computation = computations[operation - first_computation];
        Step step{computation.of, {&signals_[silence], &signals_[silence]}};  // for a rate
        for (size_t k = computation.taken; k-- > 0;) step.operands[k] = pop();
        stack.push_back(add(step));
      } else if (operation == set_w) {
        set_w_ = add({clip, {pop(), &min_window_, &widest_}});
      } else if (operation == set_window) {
        set_window_ = pop();
      } else if (operation == set_pace) {
        set_pace_ = pop();
      } else if (operation == set_keepalive) {
        set_keepalive_ = pop();
      } else if (operation < first_store) {
        stack.push_back(stored[operation - first_load]);
        if (stack.back() == nullptr) throw std::invalid_argument("code loads what is not stored");
      } else {
        stored[operation - first_store] = pop();
      }
    }
    if (set_window_ == nullptr) set_window_ = set_w_;
  }

  Place add(const Step& step) { return &steps_.emplace_back(step).value; }

  void hear(const Ack& ack) {
    const auto owd_ms = static_cast<double>(ack.received_ms - ack.sent_ms);
    const double rtt_ms = kneepoint::rtt_ms(ack);
    min_owd_ms_ = std::min(min_owd_ms_, owd_ms);
    signals_[min_rtt] = has_heard_ ? std::min(signals_[min_rtt], rtt_ms) : rtt_ms;
    signals_[owd] = owd_ms - min_owd_ms_;
    signals_[rtt] = rtt_ms - signals_[min_rtt];
    // What was overtaken came after none.
    const int64_t before_ms = has_heard_ ? last_ms_ : ack.received_ms;
    last_ms_ = std::max(before_ms, ack.received_ms);
    signals_[silence] = static_cast<double>(last_ms_ - before_ms);
    signals_[flight] = static_cast<double>(ack.in_flight);
    has_heard_ = true;
  }

  static constexpr double longest_gap_us_ = 1e6;

  double widest_;
  double window_;
  double keepalive_ms_;
  double gap_us_ = 0;
  double min_window_ = 2;
  std::vector<Step> steps_{};
  std::array<double, numbers> literals_{};
  std::array<double, signals> signals_{};
  // What the program sets, each by what it assigns last; null what it does not.
  Place set_w_ = &signals_[w];
  Place set_window_ = nullptr;
  Place set_pace_ = nullptr;
  Place set_keepalive_ = nullptr;
  double min_owd_ms_ = infinity;
  bool has_heard_ = false;
  int64_t last_ms_ = 0;
};

const Registration<Rule> registration{"rule", "performs a rule that its parameters are",
                                      "search/rules", needs::receiver_clock};

}  // namespace
}  // namespace kneepoint
