#include "wasm/rule_source.hh"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/rule_operations.hh"
#include "common/text.hh"

namespace kneepoint {

namespace {

// The precedence of the outermost operation of an expression in C++, ascending.
enum Binding { any, sum, product, sign, atom };

struct Form {
  const char* text;  // with $0, $1, $2 for the operands
  Binding binding = atom;
  const char* memory = nullptr;  // the type of its memory
};

// In the order of rules::computations.
constexpr std::array<Form, rules::computations.size()> forms{{
    {"$0 + $1", sum},
    {"$0 - $1", sum},
    {"$0 * $1", product},
    {"$0 / $1", product},
    {"portable::pow($0, $1)"},
    {"std::min($0, $1)"},
    {"std::max($0, $1)"},
    {"-$0", sign},
    {"std::abs($0)"},
    {"portable::exp($0)"},
    {"portable::log($0)"},
    {"std::min(std::max($0, $1), $2)"},
    {"$0 ? $1 : $2", any},
    {"ewma($m, $0, $1)", atom, "double"},
    {"change($m, $0)", atom, "double"},
    {"rate($m, $0)", atom, "ArrivalRate"},
}};

struct Term {
  std::string text;
  Binding binding = atom;
  std::string is_positive{};  // of a difference
};

// A text with $name for each of the contents.
std::string filled(std::string_view text, const std::map<std::string, std::string>& contents) {
  std::string all;
  while (not text.empty()) {
    const size_t at = std::min(text.find('$'), text.size());
    all += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    const size_t end =
        std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz012", 1), text.size());
    all += contents.at(std::string(text.substr(1, end - 1)));
    text.remove_prefix(end);
  }
  return all;
}

Term real(double value) {
  std::string text = to_text(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return {text, text[0] == '-' ? sign : atom};
}

class Writer {
 public:
  Writer(const ParsedRule& rule, std::string indent) : rule_(rule), indent_(std::move(indent)) {
    for (const size_t operation : rule.program) write(operation);
    if (not rule.sets(rules::set_window)) line("set_window(w_);");
  }

  std::string statements{};
  std::string members{};

 private:
  void line(const std::string& text) { statements += indent_ + text + "\n"; }

  // No name of a variable is one of C++ or of the class.
  std::string variable(size_t number) const { return "my_" + rule_.variables[number].name; }

  void write(size_t operation) {
    if (operation == rules::number) {
      stack_.push_back(real(rule_.literals[next_literal_++].value));
    } else if (operation < rules::first_computation) {
      const std::string_view signal = rules::signals[operation - rules::first_signal].name;
      stack_.push_back({std::string(signal) + "_"});
    } else if (operation < rules::first_output) {
      compute(operation - rules::first_computation);
    } else if (operation < rules::first_load) {
      const std::string_view output = rules::outputs[operation - rules::first_output].name;
      line("set_" + std::string(output) + "(" + pop().text + ");");
    } else if (operation < rules::first_store) {
      stack_.push_back({variable(operation - rules::first_load)});
    } else {
      const size_t which = operation - rules::first_store;
      line((which == stored_ ? "double " : "") + variable(which) + " = " + pop().text + ";");
      stored_ = std::max(stored_, which + 1);
    }
  }

  // A function with memory is computed at every step, as in the program: before the statement.
  void compute(size_t which) {
    const Form& form = forms[which];
    const std::string name =
        std::string(rules::computations[which].name) + "_" + std::to_string(memories_);
    std::map<std::string, std::string> parts{{"m", name + "_"}};
    const size_t count = rules::computations[which].operands;
    for (size_t k = count; k-- > 0;) {
      const Term operand = pop();
      const bool is_test = form.binding == any and k == 0;
      parts[std::to_string(k)] =
          is_test ? operand.is_positive : written(operand, form.binding, k + 1 == count);
    }
    const std::string text = filled(form.text, parts);
    if (form.memory == nullptr) {
      const bool is_difference = form.binding == sum and form.text[3] == '-';
      stack_.push_back({text, form.binding, is_difference ? parts["0"] + " > " + parts["1"] : ""});
      return;
    }
    ++memories_;
    members += std::string(form.memory) + " " + name + "_{};\n";
    line("const double " + name + " = " + text + ";");
    stack_.push_back({name});
  }

  // Operations run from left to right: the last operand must bind more strongly.
  static std::string written(const Term& operand, Binding binding, bool is_last) {
    const bool is_free = binding == atom or operand.binding > binding or
                         (operand.binding == binding and not is_last);
    return is_free ? operand.text : "(" + operand.text + ")";
  }

  Term pop() {
    Term top = std::move(stack_.back());
    stack_.pop_back();
    return top;
  }

  const ParsedRule& rule_;
  std::string indent_;
  std::vector<Term> stack_{};
  size_t next_literal_ = 0;
  size_t stored_ = 0;  // variables so far
  size_t memories_ = 0;
};

std::string comment(std::string_view text) {
  std::string all;
  for (const std::string& line : split(text, '\n')) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    all += "//     " + line;
    while (all.back() == ' ' or all.back() == '\r') all.pop_back();
    if (all.back() == '\\') all += '.';  // would go on in the next line
    all += '\n';
  }
  return all;
}

std::string indented(const std::string& lines) {
  std::string all;
  for (const std::string& line : split(lines, '\n')) all += line.empty() ? "" : "  " + line + "\n";
  return all;
}

// The defaults that differ, as a designated initializer.
std::string written(const RuleDefaults& given) {
  const RuleDefaults usual;
  std::string all;
  const auto add = [&all](const char* name, double value, double fallback) {
    if (value == fallback) return;
    all += std::string(all.empty() ? "" : ", ") + "." + name + " = " + to_text(value);
  };
  add("widest_window", given.widest_window, usual.widest_window);
  add("initial_window", given.initial_window, usual.initial_window);
  add("keepalive_ms", given.keepalive_ms, usual.keepalive_ms);
  return all.empty() ? "" : ", {" + all + "}";
}

constexpr const char* controller_text = R"(// my_rule.cc: the same digits as `rule` with the rule
//
$comment
#include <algorithm>
#include <cmath>

#include "algorithms/registry.hh"
#include "algorithms/rule_controller.hh"
#include "common/portable_math.hh"

namespace kneepoint {
namespace {

class MyRule final : public RuleController {
 public:
  explicit MyRule(Parameters& parameters) : RuleController(parameters$defaults) {}

 private:
  void perform() override {
$statements  }
$members};

const Registration<MyRule> registration{"my_rule", "a rule from the playground", "the playground",
                                        needs::receiver_clock};

}  // namespace
}  // namespace kneepoint
)";

constexpr const char* entry_text = R"(// datagrump/controller.cc of an entry, with the rule
//
$comment//
// The kit's class knows whole windows and milliseconds, as `rule` does, and the C library's exp, log
// and pow, whose last digits may differ.$pace
#include "controller.hh"

#include <algorithm>
#include <cmath>

namespace {

namespace portable {
using std::exp;
using std::log;
using std::pow;
}  // namespace portable

// Arrivals per ms, with weights that fall by e in a span.
struct ArrivalRate {
  double sum;
  double weight;
};

double owd_, rtt_, min_rtt_, silence_, flight_;
double w_ = $initial, window_ = $initial, keepalive_ms_ = $keepalive;

inline void set_w(double packets) { w_ = std::min(std::max(packets, 2.0), $widest); }
inline void set_window(double packets) { window_ = packets > 2 ? packets : 2; }
inline void set_keepalive(double ms) { keepalive_ms_ = std::max(1.0, ms); }
inline void set_pace(double) {}

inline double ewma(double& memory, double value, double share) {
  return memory += share * (value - memory);
}
inline double change(double& memory, double value) {
  const double before = memory;
  memory = value;
  return value - before;
}
inline double rate(ArrivalRate& memory, double span_s) {
  const double span_ms = 1000 * span_s;
  const double kept = std::exp(-std::max(silence_, 0.0) / span_ms);
  memory.sum = memory.sum * kept + 1 / span_ms;
  memory.weight = memory.weight * kept + 1 - kept;
  return memory.sum / std::max(memory.weight, 1 / span_ms);
}

$members
void perform() {
$statements}

uint64_t sent, expected;  // numbers of datagrams
bool has_heard;
double min_way_ms;
uint64_t last_ms;  // receiver's clock

}  // namespace

Controller::Controller(const bool debug) : debug_(debug) {}

unsigned int Controller::window_size() { return static_cast<unsigned int>(std::min(window_, 1e6)); }

void Controller::datagram_was_sent(uint64_t sequence_number, uint64_t, bool) {
  sent = sequence_number + 1;
}

void Controller::ack_received(uint64_t sequence_number_acked, uint64_t send_timestamp_acked,
                              uint64_t recv_timestamp_acked, uint64_t timestamp_ack_received) {
  expected = std::max(expected, sequence_number_acked + 1);
  flight_ = static_cast<double>(sent - expected);
  const double sent_ms = static_cast<double>(send_timestamp_acked);
  const double way_ms = static_cast<double>(recv_timestamp_acked) - sent_ms;
  const double rtt_ms = std::max(static_cast<double>(timestamp_ack_received) - sent_ms, 1.0);
  min_way_ms = has_heard ? std::min(min_way_ms, way_ms) : way_ms;
  min_rtt_ = has_heard ? std::min(min_rtt_, rtt_ms) : rtt_ms;
  owd_ = way_ms - min_way_ms;
  rtt_ = rtt_ms - min_rtt_;
  const uint64_t before_ms = has_heard ? last_ms : recv_timestamp_acked;
  last_ms = std::max(before_ms, recv_timestamp_acked);
  silence_ = static_cast<double>(last_ms - before_ms);
  has_heard = true;
  perform();
}

unsigned int Controller::timeout_ms() { return static_cast<unsigned int>(keepalive_ms_); }
)";

}  // namespace

std::string controller_source(const ParsedRule& rule, std::string_view text,
                              const RuleDefaults& defaults) {
  const Writer writer(rule, "    ");
  const std::string members = indented(writer.members);
  return filled(controller_text, {{"comment", comment(text)},
                                  {"defaults", written(defaults)},
                                  {"statements", writer.statements},
                                  {"members", members.empty() ? "" : "\n" + members}});
}

std::string entry_source(const ParsedRule& rule, std::string_view text,
                         const RuleDefaults& defaults) {
  const Writer writer(rule, "  ");
  return filled(
      entry_text,
      {{"comment", comment(text)},
       {"pace", rule.sets(rules::set_pace) ? "\n// It cannot pace: pace has no effect." : ""},
       {"initial", real(defaults.initial_window).text},
       {"keepalive", real(defaults.keepalive_ms).text},
       {"widest", real(defaults.widest_window).text},
       {"statements", writer.statements},
       {"members", writer.members}});
}

}  // namespace kneepoint
