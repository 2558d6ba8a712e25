// A rule that is data: a program for a stack of numbers, performed at each acknowledgment.
// search/rules/language.py compiles expressions into it; docs/how-to/evolve-a-rule.md describes
// them.
//
// The program stands in parameters: code_0 has its first eight operations as digits of base 64, the
// first as the last digit. Its literals are number_0 and so on, in the order of the program.
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

namespace kneepoint {
namespace {

constexpr size_t variables = 12;
constexpr size_t codes = 16;
constexpr size_t per_code = 8;
constexpr size_t numbers = 40;
constexpr size_t deepest = 32;

struct Computation {
  size_t taken;
  double (*of)(const double*);
};

// The order of this and of what follows is that of OPERATIONS in search/rules/language.py.
constexpr std::array computations{
    Computation{2, [](const double* x) { return x[0] + x[1]; }},
    Computation{2, [](const double* x) { return x[0] - x[1]; }},
    Computation{2, [](const double* x) { return x[0] * x[1]; }},
    Computation{2, [](const double* x) { return x[0] / x[1]; }},
    Computation{2, [](const double* x) { return std::pow(x[0], x[1]); }},
    Computation{2, [](const double* x) { return std::min(x[0], x[1]); }},
    Computation{2, [](const double* x) { return std::max(x[0], x[1]); }},
    Computation{1, [](const double* x) { return -x[0]; }},
    Computation{1, [](const double* x) { return std::abs(x[0]); }},
    Computation{1, [](const double* x) { return std::exp(x[0]); }},
    Computation{1, [](const double* x) { return std::log(x[0]); }},
    Computation{3, [](const double* x) { return std::min(std::max(x[0], x[1]), x[2]); }},  // clip
    Computation{3, [](const double* x) { return x[0] > 0 ? x[1] : x[2]; }},
};

enum Signal : size_t { owd, rtt, least_rtt, silence, flight, w, signals };

enum Operation : size_t {
  end,
  number,
  first_signal,
  first_computation = first_signal + signals,
  ewma = first_computation + computations.size(),  // these three have a memory
  change,
  rate,
  set_w,
  set_window,
  set_pace,
  set_keepalive,
  first_load,
  first_store = first_load + variables,
  operations = first_store + variables,
};
static_assert(operations <= 64);

// How many numbers an operation takes from the stack.
size_t taken(size_t operation) {
  if (operation >= first_store) return 1;
  if (operation >= first_load or operation < first_computation) return 0;
  if (operation < ewma) return computations[operation - first_computation].taken;
  return operation == ewma ? 2 : 1;
}

// Whether it leaves one there.
bool gives(size_t operation) {
  return operation < set_w or (operation >= first_load and operation < first_store);
}

struct Step {
  size_t operation;
  double literal = 0;
  double memory = 0;
  ArrivalRate arrivals{};
};

class Rule final : public Controller {
 public:
  explicit Rule(Constants& constants)
      : Controller(constants, 1000),
        widest_(constants.real(
            "widest_window", 600,
            {.low = 100, .high = 10000, .least = 2, .most = widest_window, .scale = Scale::log},
            "packets", "upper bound of w, whose lower is 2")),
        window_(constants.real("initial_window", 20, {.low = 1, .high = 100, .least = 1}, "packets",
                               "w before the first acknowledgment")),
        keepalive_ms_(Controller::keepalive_ms()) {
    signals_[w] = window_;
    std::vector<size_t> program;
    for (size_t i = 0; i < codes; ++i) {
      constexpr double most = 281474976710655;  // 64^8 - 1
      auto code = static_cast<uint64_t>(constants.integer("code_" + std::to_string(i), 0,
                                                          {.low = 0, .high = most, .most = most},
                                                          "1", "eight operations of the program"));
      for (size_t k = 0; k < per_code; ++k, code /= 64) program.push_back(code % 64);
    }
    std::vector<double> literals;
    for (size_t i = 0; i < numbers; ++i) {
      literals.push_back(constants.real(
          "number_" + std::to_string(i), 0,
          {.low = -1000, .high = 1000, .least = std::numeric_limits<double>::lowest()}, "1",
          "a number of the program"));
    }
    load(program, literals);
  }

  double window() const override { return window_; }
  double keepalive_ms() const override { return keepalive_ms_; }
  double pacing_us() const override { return gap_us_; }

  void on_ack(const Ack& ack) override {
    hear(ack);
    is_set_ = false;
    double* top = stack_.data();  // beyond the last number
    for (Step& step : steps_) {
      double* const taken_from = top - taken(step.operation);
      perform(step, taken_from);
      top = taken_from + gives(step.operation);
    }
    // What is no number stays so, and fails.
    const double window = is_set_ ? window_ : signals_[w];
    window_ = window < 2 ? 2 : window;
  }

 private:
  void load(const std::vector<size_t>& program, const std::vector<double>& literals) {
    size_t next = 0;
    size_t depth = 0;
    for (const size_t operation : program) {
      if (operation == end) break;
      if (operation >= operations or taken(operation) > depth) {
        throw std::invalid_argument("code is no program");
      }
      depth += gives(operation) - taken(operation);
      if (depth > deepest) throw std::invalid_argument("code is nested too deeply");
      Step step{.operation = operation};
      if (operation == number) {
        if (next == literals.size()) throw std::invalid_argument("code has too many numbers");
        step.literal = literals[next++];
      }
      steps_.push_back(step);
    }
  }

  void hear(const Ack& ack) {
    const auto owd_ms = static_cast<double>(ack.received_ms - ack.sent_ms);
    const double rtt_ms = kneepoint::rtt_ms(ack);
    least_owd_ms_ = std::min(least_owd_ms_, owd_ms);
    signals_[least_rtt] = has_heard_ ? std::min(signals_[least_rtt], rtt_ms) : rtt_ms;
    signals_[owd] = owd_ms - least_owd_ms_;
    signals_[rtt] = rtt_ms - signals_[least_rtt];
    signals_[silence] = has_heard_ ? static_cast<double>(ack.received_ms - last_ms_) : 0;
    signals_[flight] = static_cast<double>(ack.flight);
    last_ms_ = ack.received_ms;
    has_heard_ = true;
  }

  // x has what the operation takes, and gets what it gives.
  void perform(Step& step, double* x) {
    const size_t operation = step.operation;
    if (operation >= first_store) {
      variables_[operation - first_store] = x[0];
    } else if (operation >= first_load) {
      x[0] = variables_[operation - first_load];
    } else if (operation < first_signal) {
      x[0] = step.literal;
    } else if (operation < first_computation) {
      x[0] = signals_[operation - first_signal];
    } else if (operation < ewma) {
      x[0] = computations[operation - first_computation].of(x);
    } else if (operation == ewma) {
      x[0] = step.memory += x[1] * (x[0] - step.memory);
    } else if (operation == change) {
      const double before = step.memory;
      step.memory = x[0];
      x[0] -= before;
    } else if (operation == rate) {
      x[0] = step.arrivals.add(1, signals_[silence], 1000 * x[0]);
    } else if (operation == set_w) {
      signals_[w] = x[0] < 2 ? 2 : x[0] > widest_ ? widest_ : x[0];
    } else if (operation == set_window) {
      window_ = x[0];
      is_set_ = true;
    } else if (operation == set_pace) {
      gap_us_ = std::clamp(1000 / x[0], 0.0, longest_gap_us_);
    } else {
      keepalive_ms_ = std::max(1.0, x[0]);
    }
  }

  static constexpr double longest_gap_us_ = 1e6;

  double widest_;
  double window_;
  bool is_set_ = false;  // by the program
  double keepalive_ms_;
  double gap_us_ = 0;
  std::vector<Step> steps_{};
  std::array<double, deepest + 1> stack_{};
  std::array<double, variables> variables_{};
  std::array<double, signals> signals_{};
  double least_owd_ms_ = infinity;
  bool has_heard_ = false;
  int64_t last_ms_ = 0;
};

const Registration<Rule> registration{"rule", "performs a rule that its parameters are",
                                      "search/rules", needs::receiver_clock};

}  // namespace
}  // namespace kneepoint
