#include "wasm/rule_language.hh"

#include <algorithm>
#include <utility>

#include "algorithms/rule_operations.hh"
#include "common/text.hh"
#include "wasm/rule_tree.hh"

namespace kneepoint {

namespace {

using rules::Dimension;

constexpr size_t max_characters = 4000;  // as in search/language.py

constexpr const char* dimension_names[] = {"any", "ms", "packets", "rate", "number"};

// From assignments to a program, checking dimensions on the way.
class Compiler {
 public:
  explicit Compiler(std::string_view text) : text_(text) {}

  void add(const RuleAssignment& assignment) {
    const RuleNode& name = *assignment.name;
    const RuleNode& value = *assignment.value;
    const rules::Quantity* const output = found(rules::outputs, name.name);
    require_assignable(name, output != nullptr);
    const Dimension dimension = dimension_of(value);
    if (output == nullptr) {
      emit(value);
      rule_.program.push_back(rules::first_store + variable(name, dimension));
      return;
    }
    if (dimension != output->dimension and dimension != Dimension::any) {
      throw RuleError(std::string(name.name) + " has dimension " + named(output->dimension) +
                          ", but its value has " + named(dimension),
                      value.begin, value.end);
    }
    emit(value);
    rule_.program.push_back(rules::first_output +
                            static_cast<size_t>(output - rules::outputs.data()));
  }

  ParsedRule finished() && {
    const auto sets = [this](size_t output) {
      return std::ranges::find(rule_.program, output) != rule_.program.end();
    };
    if (not sets(rules::set_w) and not sets(rules::set_window)) {
      throw RuleError("sets neither w nor window; assign one");
    }
    const size_t operations = rule_.program.size();
    const size_t numbers = rule_.literals.size();
    if (operations > rules::codes * rules::per_code or numbers > rules::numbers) {
      throw RuleError("has " + std::to_string(operations) + " operations and " +
                      std::to_string(numbers) + " numbers; at most " +
                      std::to_string(rules::codes * rules::per_code) + " and " +
                      std::to_string(rules::numbers) + " fit");
    }
    return std::move(rule_);
  }

 private:
  static std::string named(Dimension dimension) {
    return dimension_names[static_cast<size_t>(dimension)];
  }

  static const rules::Quantity* found(const auto& quantities, std::string_view name) {
    const auto place = std::ranges::find(quantities, name, &rules::Quantity::name);
    return place == quantities.end() ? nullptr : &*place;
  }

  static void require_assignable(const RuleNode& name, bool is_output) {
    if (is_output or not(is_function(name.name) or found(rules::signals, name.name))) return;
    throw RuleError(std::string(name.name) + " cannot be assigned; choose another name", name.begin,
                    name.end);
  }

  // The number of a variable; one that is not known gets the next.
  size_t variable(const RuleNode& name, Dimension dimension) {
    const auto place = std::ranges::find(rule_.variables, name.name);
    const auto number = static_cast<size_t>(place - rule_.variables.begin());
    if (place == rule_.variables.end()) {
      if (number == rules::variables) {
        throw RuleError(
            "has more than " + std::to_string(rules::variables) + " variables; use fewer",
            name.begin, name.end);
      }
      rule_.variables.emplace_back(name.name);
      dimensions_.push_back(dimension);
    }
    dimensions_[number] = dimension;
    return number;
  }

  // Null for what is no variable.
  Dimension* known(const RuleNode& name) {
    const auto place = std::ranges::find(rule_.variables, name.name);
    return place == rule_.variables.end()
               ? nullptr
               : &dimensions_[static_cast<size_t>(place - rule_.variables.begin())];
  }

  // A variable without a dimension takes the dimension of the first operand it is combined with.
  Dimension dimension_of(const RuleNode& node) {
    if (node.kind == RuleNode::Kind::literal) return Dimension::any;
    if (node.kind == RuleNode::Kind::name) return dimension_of_name(node);
    std::vector<Dimension> of;
    for (const RuleNode* operand : node.operands) of.push_back(dimension_of(*operand));

    // The common dimension of the operands [first, last), and of `wanted`.
    const auto same = [&](size_t first, size_t last, Dimension wanted = Dimension::any) {
      for (size_t k = first; k < last; ++k) {
        if (of[k] == Dimension::any) continue;
        if (wanted != Dimension::any and wanted != of[k]) refuse_mixture(node, wanted, of[k]);
        wanted = of[k];
      }
      for (size_t k = first; k < last; ++k) {
        Dimension* const dimension =
            node.operands[k]->kind == RuleNode::Kind::name ? known(*node.operands[k]) : nullptr;
        if (dimension != nullptr and *dimension == Dimension::any) *dimension = wanted;
      }
      return wanted;
    };

    const std::string_view name = rules::computations[node.operation].name;
    if (name == "choose") {
      same(0, 2);
      return same(2, 4);
    }
    if (name == "pow" or name == "ewma") {
      same(1, 2, Dimension::number);
      return of[0];
    }
    if (name == "mul" and of[0] == Dimension::number) return of[1];
    if (name == "mul" and of[1] == Dimension::number) return of[0];
    if (name == "mul" and of[0] == Dimension::any) return of[1];
    if (name == "mul" and of[1] == Dimension::any) return of[0];
    if (name == "div") {
      if (of[1] == Dimension::number or of[1] == Dimension::any) return of[0];
      same(0, 2);
      return Dimension::number;
    }
    if (name == "exp" or name == "log") return same(0, 1, Dimension::number);
    if (name == "rate") return Dimension::rate;
    return same(0, of.size());
  }

  Dimension dimension_of_name(const RuleNode& node) {
    if (const Dimension* const variable = known(node)) return *variable;
    if (const rules::Quantity* const signal = found(rules::signals, node.name)) {
      return signal->dimension;
    }
    std::vector<std::string> names;
    for (const rules::Quantity& signal : rules::signals) names.emplace_back(signal.name);
    names.insert(names.end(), rule_.variables.begin(), rule_.variables.end());
    throw RuleError(shown(node.name) + " is neither a signal nor assigned; known: " + joined(names),
                    node.begin, node.end);
  }

  [[noreturn]] void refuse_mixture(const RuleNode& node, Dimension one, Dimension other) const {
    throw RuleError(shown(text_.substr(node.begin, node.end - node.begin)) + " mixes " +
                        named(one) + " and " + named(other) + "; combine values of one kind",
                    node.begin, node.end);
  }

  void emit(const RuleNode& node) {
    if (node.kind == RuleNode::Kind::literal) {
      rule_.program.push_back(rules::number);
      rule_.literals.push_back({node.value, node.begin, node.end});
    } else if (node.kind == RuleNode::Kind::name) {
      rule_.program.push_back(operation_of_name(node.name));
    } else {
      const bool chooses = rules::computations[node.operation].name == "choose";
      for (size_t k = 0; k < node.operands.size(); ++k) {
        emit(*node.operands[k]);
        if (chooses and k == 1)
          rule_.program.push_back(rules::first_computation + computation("sub"));
      }
      rule_.program.push_back(rules::first_computation + node.operation);
    }
  }

  size_t operation_of_name(std::string_view name) const {
    const auto place = std::ranges::find(rule_.variables, name);
    if (place != rule_.variables.end()) {
      return rules::first_load + static_cast<size_t>(place - rule_.variables.begin());
    }
    return rules::first_signal +
           static_cast<size_t>(found(rules::signals, name) - rules::signals.data());
  }

  std::string_view text_;
  ParsedRule rule_{};
  std::vector<Dimension> dimensions_{};  // of the variables
};

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

Parameters::Values ParsedRule::parameters() const {
  Parameters::Values values;
  for (size_t i = 0; i < rules::codes; ++i) {
    double code = 0;
    for (size_t k = rules::per_code; k-- > 0;) {
      const size_t place = i * rules::per_code + k;
      code = 64 * code + (place < program.size() ? static_cast<double>(program[place]) : 0);
    }
    values["code_" + std::to_string(i)] = code;
  }
  for (size_t i = 0; i < rules::numbers; ++i) {
    values["number_" + std::to_string(i)] = i < literals.size() ? literals[i].value : 0;
  }
  return values;
}

ParsedRule parse_rule(std::string_view text) {
  if (characters(text) > max_characters) {
    throw RuleError("has more than " + std::to_string(max_characters) + " characters; shorten it");
  }
  const RuleTree tree = read_rule(text);
  Compiler compiler(text);
  for (const RuleAssignment& assignment : tree.assignments) compiler.add(assignment);
  return std::move(compiler).finished();
}

}  // namespace kneepoint
