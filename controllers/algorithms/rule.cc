// A rule that is data: a program for a stack of numbers, run at each acknowledgment. search/rules
// compiles expressions into it, and docs/how-to/evolve-a-rule.md says what they may contain.
//
// The program stands in parameters, as digits of base 64 behind the point of no number: code_0 has
// the first eight operations, the first of them as its last digit. Numbers are taken in the order
// of the program, from number_0.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

// The order is OPERATIONS of search/rules/language.py.
enum class Operation : uint8_t {
  end,
  number,
  // what an acknowledgment tells; delays in ms, both beyond their least
  owd,
  rtt,
  least_rtt,
  silence,
  flight,
  w,
  add,
  sub,
  mul,
  div,
  pow,
  min,
  max,
  neg,
  abs,
  exp,
  log,
  clip,
  choose,
  // with a memory of their own
  ewma,
  change,
  rate,
  set_w,
  set_window,
  set_pace,
  set_keepalive,
  load,  // and one for each further variable
};

constexpr int variables = 12;
constexpr int first_load = static_cast<int>(Operation::load);
constexpr int first_store = first_load + variables;
constexpr int operations = first_store + variables;
constexpr int per_code = 8;
constexpr int codes = 16;
constexpr int numbers = 40;
constexpr int deepest = 32;
static_assert(operations <= 64);

struct Step {
  int operation;
  double number = 0;
  double memory = 0;
  double weight = 0;
};

// How many numbers an operation takes from the stack.
int taken(int operation) {
  if (operation >= first_store) return 1;
  if (operation >= first_load) return 0;
  switch (static_cast<Operation>(operation)) {
    case Operation::add:
    case Operation::sub:
    case Operation::mul:
    case Operation::div:
    case Operation::pow:
    case Operation::min:
    case Operation::max:
    case Operation::ewma:
      return 2;
    case Operation::clip:
    case Operation::choose:
      return 3;
    case Operation::end:
    case Operation::number:
    case Operation::owd:
    case Operation::rtt:
    case Operation::least_rtt:
    case Operation::silence:
    case Operation::flight:
    case Operation::w:
    case Operation::load:
      return 0;
    default:
      return 1;
  }
}

bool gives(int operation) {
  return operation < static_cast<int>(Operation::set_w) or
         (operation >= first_load and operation < first_store);
}

class Rule final : public Controller {
 public:
  explicit Rule(Constants& constants)
      : Controller(constants, 1000),
        w_(constants.real({.name = "initial_window",
                           .fallback = 20,
                           .low = 1,
                           .high = 100,
                           .least = 1,
                           .unit = "packets",
                           .meaning = "w before the first acknowledgment"})),
        widest_(constants.real({.name = "widest_window",
                                .fallback = 600,
                                .low = 100,
                                .high = 10000,
                                .least = 2,
                                .most = 1 << 20,
                                .scale = Scale::log,
                                .unit = "packets",
                                .meaning = "upper bound of w, whose lower is 2"})),
        window_(w_),
        keepalive_ms_(Controller::keepalive_ms()) {
    std::vector<int> program;
    for (int i = 0; i < codes; ++i) {
      double code = constants.integer({.name = "code_" + std::to_string(i),
                                       .fallback = 0,
                                       .low = 0,
                                       .high = 281474976710655,  // 64^8 - 1
                                       .most = 281474976710655,
                                       .unit = "1",
                                       .meaning = "eight operations of the program"});
      for (int k = 0; k < per_code; ++k, code = std::floor(code / 64)) {
        program.push_back(static_cast<int>(std::fmod(code, 64)));
      }
    }
    std::array<double, numbers> given{};
    for (int i = 0; i < numbers; ++i) {
      given[static_cast<size_t>(i)] =
          constants.real({.name = "number_" + std::to_string(i),
                          .fallback = 0,
                          .low = -1000,
                          .high = 1000,
                          .least = std::numeric_limits<double>::lowest(),
                          .unit = "1",
                          .meaning = "a number of the program"});
    }
    load(program, given);
  }

  double window() const override { return window_; }
  double keepalive_ms() const override { return keepalive_ms_; }
  double pacing_us() const override { return gap_us_; }

  void on_ack(const Ack& ack) override {
    hear(ack);
    window_ = not_set_;
    double* top = stack_.data();  // beyond the last number
    for (Step& step : steps_) top = perform(step, top);
    if (window_ == not_set_) window_ = w_;
    // What is not a number remains so, and fails.
    if (window_ < 2) window_ = 2;
  }

 private:
  void load(const std::vector<int>& program, const std::array<double, numbers>& given) {
    size_t next = 0;
    int depth = 0;
    for (const int operation : program) {
      if (operation == 0) break;
      depth -= taken(operation);
      if (operation >= operations or depth < 0) throw std::invalid_argument("code is no program");
      depth += gives(operation);
      if (depth > deepest) throw std::invalid_argument("code is nested too deeply");
      Step step{.operation = operation};
      if (operation == static_cast<int>(Operation::number)) {
        if (next == given.size()) throw std::invalid_argument("code has too many numbers");
        step.number = given[next++];
      }
      steps_.push_back(step);
    }
  }

  void hear(const Ack& ack) {
    const auto owd_ms = static_cast<double>(ack.received_ms - ack.sent_ms);
    const double rtt_ms = kneepoint::rtt_ms(ack);
    passed_ms_ = has_heard_ ? static_cast<double>(ack.received_ms - last_ms_) : 0;
    last_ms_ = ack.received_ms;
    has_heard_ = true;
    least_owd_ms_ = std::min(least_owd_ms_, owd_ms);
    least_rtt_ms_ = std::min(least_rtt_ms_, rtt_ms);
    owd_ms_ = owd_ms - least_owd_ms_;
    rtt_ms_ = rtt_ms - least_rtt_ms_;
    flight_ = static_cast<double>(ack.flight);
  }

  // Acknowledgments per ms of the receiver's clock, with weights that fall exponentially. What has
  // no history yet does not count as silence.
  double rate(Step& step, double span_s) const {
    const double span_ms = span_s * 1000;
    const double kept = std::exp(-passed_ms_ / span_ms);
    step.memory = step.memory * kept + 1 / span_ms;
    step.weight = step.weight * kept + 1 - kept;
    return step.memory / std::max(step.weight, 1 / span_ms);
  }

  // Returns the new top of the stack.
  double* perform(Step& step, double* top) {
    if (step.operation >= first_store) {
      variables_[static_cast<size_t>(step.operation - first_store)] = *--top;
      return top;
    }
    if (step.operation >= first_load) {
      *top = variables_[static_cast<size_t>(step.operation - first_load)];
      return top + 1;
    }
    const auto operation = static_cast<Operation>(step.operation);
    double* const first = top - taken(step.operation);
    double& result = *first;
    switch (operation) {
      case Operation::end:
      case Operation::load:
        break;
      case Operation::number:
        result = step.number;
        break;
      case Operation::owd:
        result = owd_ms_;
        break;
      case Operation::rtt:
        result = rtt_ms_;
        break;
      case Operation::least_rtt:
        result = least_rtt_ms_;
        break;
      case Operation::silence:
        result = passed_ms_;
        break;
      case Operation::flight:
        result = flight_;
        break;
      case Operation::w:
        result = w_;
        break;
      case Operation::add:
        result += first[1];
        break;
      case Operation::sub:
        result -= first[1];
        break;
      case Operation::mul:
        result *= first[1];
        break;
      case Operation::div:
        result /= first[1];
        break;
      case Operation::pow:
        result = std::pow(result, first[1]);
        break;
      case Operation::min:
        result = std::min(result, first[1]);
        break;
      case Operation::max:
        result = std::max(result, first[1]);
        break;
      case Operation::neg:
        result = -result;
        break;
      case Operation::abs:
        result = std::abs(result);
        break;
      case Operation::exp:
        result = std::exp(result);
        break;
      case Operation::log:
        result = std::log(result);
        break;
      case Operation::clip:
        result = std::min(std::max(result, first[1]), first[2]);
        break;
      case Operation::choose:
        result = result > 0 ? first[1] : first[2];
        break;
      case Operation::ewma:
        step.memory += first[1] * (result - step.memory);
        result = step.memory;
        break;
      case Operation::change: {
        const double now = result;
        result = now - step.memory;
        step.memory = now;
        break;
      }
      case Operation::rate:
        result = rate(step, result);
        break;
      case Operation::set_w:
        w_ = result < 2 ? 2 : result > widest_ ? widest_ : result;
        return first;
      case Operation::set_window:
        window_ = result;
        return first;
      case Operation::set_pace:
        gap_us_ = std::clamp(1000 / result, 0.0, longest_gap_us_);
        return first;
      case Operation::set_keepalive:
        keepalive_ms_ = std::max(1.0, result);
        return first;
    }
    return first + 1;
  }

  static constexpr double not_set_ = -1;
  static constexpr double longest_gap_us_ = 1e6;

  double w_;
  double widest_;
  double window_;
  double keepalive_ms_;
  double gap_us_ = 0;
  std::vector<Step> steps_{};
  std::array<double, deepest + 1> stack_{};
  std::array<double, variables> variables_{};
  bool has_heard_ = false;
  int64_t last_ms_ = 0;
  double passed_ms_ = 0;
  double owd_ms_ = 0;
  double rtt_ms_ = 0;
  double least_owd_ms_ = std::numeric_limits<double>::infinity();
  double least_rtt_ms_ = std::numeric_limits<double>::infinity();
  double flight_ = 0;
};

const Registration<Rule> registration{"rule", "performs a rule that its parameters are",
                                      "search/rules", needs::receiver_clock};

}  // namespace
}  // namespace kneepoint
