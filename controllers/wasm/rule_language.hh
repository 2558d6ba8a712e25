// The language of docs/how-to/evolve-a-rule.md, from text to the parameters of the controller
// `rule`. search/language.py does the same for searches, which change the trees of rules.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/parameters.hh"
#include "algorithms/rule_operations.hh"

namespace kneepoint {

// A mistake, and the bytes of the text that are wrong: [begin, end); none if the whole rule is.
class RuleError : public std::invalid_argument {
 public:
  explicit RuleError(const std::string& reason, size_t first = 0, size_t last = 0)
      : std::invalid_argument(reason), begin(first), end(last) {}

  size_t begin;
  size_t end;
};

struct RuleLiteral {
  double value;
  size_t begin;  // with its sign
  size_t end;
};

struct RuleVariable {
  std::string name;
  rules::Dimension dimension;
};

struct ParsedRule {
  // Whether the rule assigns the output of this operation.
  bool sets(size_t output) const;

  // The parameters that encode the rule; unused parameters are 0.
  Parameters::Values parameters() const;

  std::vector<size_t> program{};        // of rules::Operation
  std::vector<RuleLiteral> literals{};  // in the order of the program
  std::vector<RuleVariable> variables{};
};

// Throws RuleError if the text is not a valid rule.
ParsedRule parse_rule(std::string_view text);

}  // namespace kneepoint
