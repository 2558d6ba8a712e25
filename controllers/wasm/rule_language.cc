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

// The signal, output or variable of a name; null if there is none.
auto* found(auto& quantities, std::string_view name) {
  const auto place =
      std::ranges::find_if(quantities, [name](const auto& each) { return each.name == name; });
  return place == quantities.end() ? nullptr : &*place;
}

size_t place_of(const auto* quantity, const auto& quantities) {
  return static_cast<size_t>(quantity - quantities.data());
}

// From assignments to a program, checking dimensions on the way.
class Compiler {
 public:
  explicit Compiler(std::string_view text) : text_(text) {}

  void add(const RuleAssignment& assignment) {
    const RuleNode& name = *assignment.name;
    const RuleNode& value = *assignment.value;
    const rules::Quantity* const output = found(rules::outputs, name.name);
    if (output == nullptr and (is_function(name.name) or found(rules::signals, name.name))) {
      refuse(name, std::string(name.name) + " cannot be assigned; choose another name");
    }
    const Dimension dimension = dimension_of(value);
    if (output != nullptr and dimension != output->dimension and dimension != Dimension::any) {
      refuse(value, std::string(name.name) + " has dimension " + named(output->dimension) +
                        ", but its value has " + named(dimension));
    }
    emit(value);
    rule_.program.push_back(output != nullptr
                                ? rules::first_output + place_of(output, rules::outputs)
                                : rules::first_store + declared(name, dimension));
  }

  ParsedRule finished() && {
    if (not rule_.sets(rules::set_w) and not rule_.sets(rules::set_window)) {
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

  [[noreturn]] static void refuse(const RuleNode& node, const std::string& reason) {
    throw RuleError(reason, node.begin, node.end);
  }

  // The number of a variable; a new variable gets the next.
  size_t declared(const RuleNode& name, Dimension dimension) {
    RuleVariable* known = found(rule_.variables, name.name);
    if (known == nullptr) {
      if (rule_.variables.size() == rules::variables) {
        refuse(name, "has more than " + std::to_string(rules::variables) + " variables; use fewer");
      }
      known = &rule_.variables.emplace_back(RuleVariable{std::string(name.name), dimension});
    }
    known->dimension = dimension;
    return place_of(known, rule_.variables);
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
        if (wanted != Dimension::any and wanted != of[k]) {
          refuse(node, shown(text_.substr(node.begin, node.end - node.begin)) + " mixes " +
                           named(wanted) + " and " + named(of[k]) + "; combine values of one kind");
        }
        wanted = of[k];
      }
      for (size_t k = first; k < last; ++k) {
        RuleVariable* const own = found(rule_.variables, node.operands[k]->name);
        if (own != nullptr and own->dimension == Dimension::any) own->dimension = wanted;
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
    if (const auto* const variable = found(rule_.variables, node.name)) return variable->dimension;
    if (const auto* const signal = found(rules::signals, node.name)) return signal->dimension;
    std::vector<std::string> names;
    for (const rules::Quantity& signal : rules::signals) names.emplace_back(signal.name);
    for (const RuleVariable& variable : rule_.variables) names.push_back(variable.name);
    refuse(node, shown(node.name) + " is neither a signal nor assigned; known: " + joined(names));
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
    if (const auto* const variable = found(rule_.variables, name)) {
      return rules::first_load + place_of(variable, rule_.variables);
    }
    return rules::first_signal + place_of(found(rules::signals, name), rules::signals);
  }

  std::string_view text_;
  ParsedRule rule_{};
};

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

bool ParsedRule::sets(size_t output) const {
  return std::ranges::find(program, output) != program.end();
}

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
