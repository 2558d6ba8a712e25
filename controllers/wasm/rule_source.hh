// A rule as C++: for reading, for compiling, and for going on by hand.
#pragma once

#include <string>
#include <string_view>

#include "algorithms/rule_controller.hh"
#include "wasm/rule_language.hh"

namespace kneepoint {

// `text` is the rule's, for a comment.

// Returns the source of a controller my_rule, which gives the same digits as `rule`.
std::string controller_source(const ParsedRule& rule, std::string_view text,
                              const RuleDefaults& defaults);

// Returns datagrump/controller.cc of a contest entry. The class there cannot pace.
std::string entry_source(const ParsedRule& rule, std::string_view text,
                         const RuleDefaults& defaults);

}  // namespace kneepoint
