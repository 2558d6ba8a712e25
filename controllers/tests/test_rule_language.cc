// The page's parser of rules. tests/wasm/test_rules.py holds it to search/language.py.
#include <string>
#include <vector>

#include "algorithms/rule_operations.hh"
#include "tests/check.hh"
#include "wasm/rule_language.hh"

using namespace kneepoint;

namespace {

std::string name_of(size_t operation) {
  if (operation == rules::number) return "number";
  if (operation < rules::first_computation) {
    return std::string(rules::signals[operation - rules::first_signal].name);
  }
  if (operation < rules::first_output) {
    return std::string(rules::computations[operation - rules::first_computation].name);
  }
  if (operation < rules::first_load) {
    return "set_" + std::string(rules::outputs[operation - rules::first_output].name);
  }
  const bool loads = operation < rules::first_store;
  const size_t first = loads ? rules::first_load : rules::first_store;
  return (loads ? "load" : "store") + std::to_string(operation - first);
}

std::string program(const std::string& text) {
  std::string words;
  for (const size_t operation : parse_rule(text).program) {
    words += (words.empty() ? "" : " ") + name_of(operation);
  }
  return words;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST(rule_language_compiles) {
  struct Case {
    const char* text;
    const char* words;
  };
  for (const auto& [text, words] :
       {Case{"w = w", "w set_w"},
        {"w = w + 1 * 2 - 3", "w number number mul add number sub set_w"},
        {"w = w / 2 / (3 / 4)", "w number div number number div div set_w"},
        {"w = -w ** -2 ** 3", "w number number pow neg pow neg set_w"},
        {"w = -(-2) * w", "number neg w mul set_w"},
        {"w = 1 if owd < 2 else 3 if 4 > rtt else 5",
         "number owd sub number number rtt sub number number choose choose set_w"},
        {"x = clip(1, 2, min(3, 4,)); (w) = (max)(x, 2)",
         "number number number number min clip store0 load0 number max set_w"},
        {"x = 1 # and\n\n\ty = x;\r\n  x = y\nwindow = (x\n + # or\n y)",
         "number store0 load0 store1 load1 store0 load0 load1 add set_window"},
        {"pace = rate(1); keepalive = change(ewma(abs(owd), exp(log(1)))); w = flight",
         "number rate set_pace owd abs number log exp ewma change set_keepalive flight set_w"}}) {
    EXPECT_EQUAL(program(text), words);
  }
}

TEST(rule_language_reads_numbers) {
  const ParsedRule rule = parse_rule("w = 1_0.5_0e-1 + .5 + 5. - -00 + 1e2 + -(3) + 1e-999");
  const std::vector<double> expected{1.05, 0.5, 5, 0, 100, -3, 0};
  EXPECT_EQUAL(rule.literals.size(), expected.size());
  for (size_t k = 0; k < expected.size(); ++k) EXPECT_EQUAL(rule.literals[k].value, expected[k]);
  EXPECT_EQUAL(rule.literals[5].begin, size_t{39});
  EXPECT_EQUAL(rule.literals[5].end, size_t{43});
}

TEST(rule_language_gives_dimensions) {
  for (const char* text :
       {"w = owd + w", "w = owd", "w = w ** owd", "w = log(owd)", "w = w if owd > w else 1",
        "w = w * w + flight / flight", "x = 1; y = x + owd; w = x", "pace = w; w = w",
        "w = clip(w, 1, rtt)", "x = 1; w = w ** x; w = x", "w = ewma(w, w)"}) {
    kneepoint::test::expect_refused([&] { parse_rule(text); }, "");
  }
  for (const char* text :
       {"w = w + flight * (owd / rtt)", "x = 1; y = x + owd; w = w * (x / y)", "w = exp(2) * w",
        "w = w / (w / flight)", "x = 3; w = x; x = owd; keepalive = x",
        "pace = rate(owd) * 2; w = w", "w = (x * w) if 1 > 0 else w"}) {
    const std::string before = text[4] == '(' ? "x = 1; " : "";
    parse_rule(before + text);
  }
}

TEST(rule_language_refuses_at_a_place) {
  struct Case {
    std::string text;
    const char* reason;
    size_t begin;
    size_t end;
  };
  for (const auto& [text, reason, begin, end] :
       {Case{"w = lenght", "neither", 4, 10},
        {"w = 1\nw = x + 1", "neither", 10, 11},
        {"w = w % 2", "'%'", 6, 7},
        {"w = 2 + \xc3\xa9", "'\xc3\xa9'", 8, 10},
        {"w = 0x1f", "not a number", 4, 8},
        {"w = 007", "not a number", 4, 7},
        {"w = 1.5.2", "not a number", 4, 9},
        {"w = 1__0", "not a number", 4, 8},
        {"w = 1e100", "too large", 4, 9},
        {"w = (1 + 2", "too early", 10, 10},
        {"w = 1 2", "not belong", 6, 7},
        {"w = 1;;", "not belong", 6, 7},
        {"w == 1", "not belong", 3, 4},
        {"w = x = 1", "assigns twice", 0, 5},
        {"w + 1", "not an assignment", 0, 5},
        {"w + 1 = 2", "cannot be assigned", 0, 5},
        {"owd = 2", "cannot be assigned", 0, 3},
        {"min = 2", "cannot be assigned", 0, 3},
        {"w = not w", "no meaning", 4, 7},
        {"w = min(w)", "min/2", 4, 10},
        {"w = w(1)", "min/2", 4, 8},
        {"w = owd > 2", "comparison", 4, 11},
        {"w = 1 if w else 2", "compares nothing", 9, 10},
        {"w = 1 if 1 < w > 2 else 2", "again", 15, 16},
        {"w = 1 + (w + owd)", "mixes packets and ms", 9, 16},
        {"keepalive = w", "dimension ms", 12, 13},
        {"x = 1", "neither w nor window", 0, 0},
        {repeated("(", 51), "nested", 50, 51}}) {
    try {
      parse_rule(text);
      throw kneepoint::test::Failure("takes " + text);
    } catch (const RuleError& error) {
      if (std::string(error.what()).find(reason) == std::string::npos) {
        throw kneepoint::test::Failure(text + ": " + error.what());
      }
      EXPECT_EQUAL(error.begin, begin);
      EXPECT_EQUAL(error.end, end);
    }
  }
}

TEST(rule_language_has_limits) {
  const auto refused = [](const std::string& text, const std::string& reason) {
    kneepoint::test::expect_refused([&] { parse_rule(text); }, reason);
  };
  parse_rule("w = w" + repeated(" + 1", 30));
  refused("w = w" + repeated(" + 1", 31), "nested");
  refused("w = " + repeated("-", 1000) + "1", "nested");
  refused("w = " + repeated("2 ** ", 700) + "1", "nested");
  refused("w = " + repeated("1 if 1 > 2 else ", 200) + "1", "nested");
  parse_rule("w = " + repeated("(", 50) + "1" + repeated(")", 50));
  refused("w = 1 + " + repeated("1 + ", 1 << 18) + "1", "characters");
  parse_rule("w = 1 #" + repeated("\xc3\xa9", 3993));
  refused("w = 1 #" + repeated("\xc3\xa9", 3994), "characters");
  std::string many;
  for (int i = 0; i < 12; ++i) many += "x" + std::to_string(i) + " = 1\n";
  parse_rule(many + "w = 1");
  refused(many + "y = 1\nw = 1", "12 variables");
  refused(repeated("a = 1 + 1 + 1 + 1 + 1\n", 8) + "w = 1", "41 numbers");
  refused(repeated("a = -w\n", 43) + "w = w", "131 operations");
}
