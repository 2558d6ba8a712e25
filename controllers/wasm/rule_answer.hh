// What the page learns of a rule.
#pragma once

#include <string>
#include <string_view>

namespace kneepoint {

// Returns an object with
//   parameters           all parameters of the controller `rule` that encode the rule
//   numbers              the rule's numbers, declared as the parameters number_0, ... are, each
//   with
//                        its place in the text, [begin, end)
//   controller, entry    the rule in C++: see rule_source.hh
// or, for a text that is no rule, with `status`, `reason`, and `place`, where the text is wrong.
// Places count as JavaScript does, in units of UTF-16. `settings` are words NAME=VALUE: values of
// the rule's other parameters, for its C++. Throws std::invalid_argument for others.
std::string answer_rule(std::string_view settings, std::string_view text);

}  // namespace kneepoint
