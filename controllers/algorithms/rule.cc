// A rule that is data: a program for a stack of numbers, performed at each acknowledgment.
// search/language.py and wasm/rule_language.cc compile expressions into it;
// docs/how-to/evolve-a-rule.md describes them.
//
// The program is encoded in parameters: code_0 has its first eight operations as digits of base 64,
// the first as the last digit. Its literals are number_0 and so on, in the order of the program.
// The places of values on the stack are known in advance, so that only steps that compute remain,
// each with the places of its operands.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "algorithms/rule_controller.hh"
#include "algorithms/rule_operations.hh"
#include "common/portable_math.hh"

namespace kneepoint {
namespace {

using namespace rules;

constexpr size_t max_operands = 3;

class Rule final : public RuleController {
 public:
  explicit Rule(Parameters& parameters) : RuleController(parameters) {
    std::vector<size_t> program;
    for (size_t i = 0; i < codes; ++i) {
      constexpr double max = 281474976710655;  // 64^8 - 1
      auto code = static_cast<uint64_t>(parameters.integer("code_" + std::to_string(i), 0,
                                                           {.low = 0, .high = max, .max = max}, "1",
                                                           "eight operations of the program"));
      for (size_t k = 0; k < per_code; ++k, code /= 64) program.push_back(code % 64);
    }
    for (size_t i = 0; i < numbers; ++i) {
      literals_[i] = parameters.real(
          "number_" + std::to_string(i), 0,
          {.low = -1000, .high = 1000, .min = std::numeric_limits<double>::lowest()}, "1",
          "a number of the program");
    }
    load(program);
  }

 private:
  using Place = const double*;

  struct Step {
    double operator[](size_t k) const { return *operands[k]; }

    double (*compute)(Step&);
    std::array<Place, max_operands> operands;
    double value = 0;
    double memory = 0;
    ArrivalRate arrivals{};
  };

  static double clip(Step& x) { return std::min(std::max(x[0], x[1]), x[2]); }

  // In the order of rules::computations.
  static constexpr std::array<double (*)(Step&), computations.size()> compute_{
      [](Step& x) { return x[0] + x[1]; },
      [](Step& x) { return x[0] - x[1]; },
      [](Step& x) { return x[0] * x[1]; },
      [](Step& x) { return x[0] / x[1]; },
      [](Step& x) { return portable::pow(x[0], x[1]); },
      [](Step& x) { return std::min(x[0], x[1]); },
      [](Step& x) { return std::max(x[0], x[1]); },
      [](Step& x) { return -x[0]; },
      [](Step& x) { return std::abs(x[0]); },
      [](Step& x) { return portable::exp(x[0]); },
      [](Step& x) { return portable::log(x[0]); },
      clip,
      [](Step& x) { return x[0] > 0 ? x[1] : x[2]; },
      [](Step& x) { return ewma(x.memory, x[0], x[1]); },
      [](Step& x) { return change(x.memory, x[0]); },
      [](Step& x) { return x.arrivals.add(1, x[1], 1000 * x[0]); },
  };

  void perform() override {
    for (Step& step : steps_) step.value = step.compute(step);
    set_window(*window_place_);
    if (pace_place_ != nullptr) set_pace(*pace_place_);
    if (keepalive_place_ != nullptr) set_keepalive(*keepalive_place_);
    w_ = *w_place_;  // which others may have read
  }

  void load(const std::vector<size_t>& program) {
    const std::array<Place, signals.size()> heard{&owd_,     &rtt_,    &min_rtt_,
                                                  &silence_, &flight_, &w_};
    size_t next = 0;
    std::vector<Place> stack;
    std::array<Place, variables> stored{};
    const auto pop = [&stack] {
      if (stack.empty()) throw std::invalid_argument("code is no program");
      const Place top = stack.back();
      stack.pop_back();
      return top;
    };
    steps_.reserve(program.size());  // their places stay valid
    for (const size_t operation : program) {
      if (operation == end) break;
      if (operation >= rules::operations) throw std::invalid_argument("code is no program");
      if (operation == rules::number) {
        if (next == literals_.size()) throw std::invalid_argument("code has too many numbers");
        stack.push_back(&literals_[next++]);
      } else if (operation < first_computation) {
        const Place signal = heard[operation - first_signal];
        stack.push_back(signal == &w_ ? w_place_ : signal);
      } else if (operation < first_output) {
        const size_t which = operation - first_computation;
        Step step{compute_[which], {&silence_, &silence_}};  // for a rate
        for (size_t k = computations[which].operands; k-- > 0;) step.operands[k] = pop();
        stack.push_back(add(step));
      } else if (operation == rules::set_w) {
        w_place_ = add({clip, {pop(), &min_window, &widest_window_}});
      } else if (operation == rules::set_window) {
        window_place_ = pop();
      } else if (operation == rules::set_pace) {
        pace_place_ = pop();
      } else if (operation == rules::set_keepalive) {
        keepalive_place_ = pop();
      } else if (operation < first_store) {
        stack.push_back(stored[operation - first_load]);
        if (stack.back() == nullptr) throw std::invalid_argument("code loads what is not stored");
      } else {
        stored[operation - first_store] = pop();
      }
    }
    if (window_place_ == nullptr) window_place_ = w_place_;
  }

  Place add(const Step& step) { return &steps_.emplace_back(step).value; }

  std::vector<Step> steps_{};
  std::array<double, numbers> literals_{};
  // The places of the outputs, each of its last assignment; null for an output that the program
  // does not set.
  Place w_place_ = &w_;
  Place window_place_ = nullptr;
  Place pace_place_ = nullptr;
  Place keepalive_place_ = nullptr;
};

const Registration<Rule> registration{"rule", "executes a rule that its parameters encode",
                                      "search/rules", needs::receiver_clock};

}  // namespace
}  // namespace kneepoint
