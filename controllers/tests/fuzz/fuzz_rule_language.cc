// Any input is parsed as a rule, which then is a valid program of `rule` and can be written in C++,
// or is refused at a place of the text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "algorithms/rule_operations.hh"
#include "tests/fuzz/require.hh"
#include "wasm/rule_answer.hh"
#include "wasm/rule_language.hh"

using namespace kneepoint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const ParsedRule rule = parse_rule(text);
    fuzz::require(rule.program.size() <= rules::codes * rules::per_code);
    fuzz::require(rule.literals.size() <= rules::numbers);
    size_t depth = 0;  // of the stack
    for (const size_t operation : rule.program) {
      fuzz::require(operation > rules::end and operation < rules::operations);
      if (operation >= rules::first_computation and operation < rules::first_output) {
        const size_t operands = rules::computations[operation - rules::first_computation].operands;
        fuzz::require(depth >= operands);
        depth -= operands;
      }
      const bool stores = (operation >= rules::first_output and operation < rules::first_load) or
                          operation >= rules::first_store;
      fuzz::require(not stores or depth == 1);
      depth = stores ? 0 : depth + 1;
    }
    fuzz::require(depth == 0 and rule.parameters().size() == rules::codes + rules::numbers);
    for (const RuleLiteral& literal : rule.literals) {
      fuzz::require(literal.begin < literal.end and literal.end <= size);
    }
  } catch (const RuleError& error) {
    fuzz::require(error.begin <= error.end and error.end <= size);
  }
  fuzz::require(answer_rule("", text).front() == '{');
  return 0;
}
