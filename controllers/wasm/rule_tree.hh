// The grammar of rules: Python's, as far as a rule may use it.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/rule_operations.hh"

namespace kneepoint {

struct RuleNode {
  enum class Kind { literal, name, comparison, computation };

  Kind kind;
  size_t begin;
  size_t end;
  double value = 0;         // of a literal
  std::string_view name{};  // of a signal or a variable
  size_t operation = 0;     // index of a computation
  std::vector<const RuleNode*>
      operands{};  // of a choice: the test's two, then those to choose from
  size_t height = 0;
};

struct RuleAssignment {
  const RuleNode* name;
  const RuleNode* value;
};

struct RuleTree {
  std::deque<RuleNode> nodes{};
  std::vector<RuleAssignment> assignments{};
};

// Index of the computation; computations.size() if there is none.
size_t computation(std::string_view name);

// Whether a rule can call it.
bool is_function(std::string_view name);

// The text must outlive the tree. Throws RuleError for what is no list of assignments.
RuleTree read_rule(std::string_view text);

}  // namespace kneepoint
