// The operations of the controller `rule`, in the order of their opcodes, and the limits of its
// programs. search/language.py has the same lists.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace kneepoint::rules {

inline constexpr size_t variables = 12;
inline constexpr size_t codes = 16;  // parameters with per_code operations each
inline constexpr size_t per_code = 8;
inline constexpr size_t numbers = 40;

enum class Dimension { any, ms, packets, rate, number };

struct Quantity {
  std::string_view name;
  Dimension dimension;
};

inline constexpr auto signals = std::to_array<Quantity>({
    {"owd", Dimension::ms},
    {"rtt", Dimension::ms},
    {"min_rtt", Dimension::ms},
    {"silence", Dimension::ms},
    {"flight", Dimension::packets},
    {"w", Dimension::packets},
});
inline constexpr auto outputs = std::to_array<Quantity>({
    {"w", Dimension::packets},
    {"window", Dimension::packets},
    {"pace", Dimension::rate},
    {"keepalive", Dimension::ms},
});

struct Computation {
  std::string_view name;
  size_t operands;
  bool is_function = true;  // which a rule calls by its name
};

inline constexpr auto computations = std::to_array<Computation>({
    {"add", 2, false},
    {"sub", 2, false},
    {"mul", 2, false},
    {"div", 2, false},
    {"pow", 2, false},
    {"min", 2},
    {"max", 2},
    {"neg", 1, false},
    {"abs", 1},
    {"exp", 1},
    {"log", 1},
    {"clip", 3},
    {"choose", 3, false},
    {"ewma", 2},
    {"change", 1},
    {"rate", 1},
});

enum Operation : size_t {
  end,
  number,
  first_signal,
  first_computation = first_signal + signals.size(),
  first_output = first_computation + computations.size(),
  set_w = first_output,
  set_window,
  set_pace,
  set_keepalive,
  first_load = first_output + outputs.size(),
  first_store = first_load + variables,
  operations = first_store + variables,
};
static_assert(operations <= 64);

}  // namespace kneepoint::rules
