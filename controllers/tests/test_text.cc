#include "common/json.hh"
#include "common/text.hh"
#include "tests/check.hh"

using namespace kneepoint;
using kneepoint::test::expect_refused;

TEST(numbers_read_back_the_same) {
  for (const double x : {0.1, 1.0, 1e-300, 2.0 / 3, 5.040978285714286}) {
    EXPECT_EQUAL(to_real(to_text(x), "x"), x);
  }
}

TEST(words_are_split_as_a_shell_splits_them) {
  const auto words = split_words("  --uplink \"a b\"/c  --seed 1 \"\"");
  EXPECT_EQUAL(words.size(), 5u);
  EXPECT_EQUAL(words[1], "a b/c");
  EXPECT_EQUAL(words[4], "");
  EXPECT_EQUAL(split_words("\"a \"\"b\"\"\" \"\"\"\"").at(0), "a \"b\"");
  EXPECT_EQUAL(split_words("\"a \"\"b\"\"\" \"\"\"\"").at(1), "\"");
  expect_refused([] { split_words("\"a"); }, "unterminated quote");
}

TEST(json_is_escaped_and_undefined_numbers_are_null) {
  const std::string text = JsonWriter()
                               .begin_object()
                               .field("a\"b", "c\\d\n")
                               .field("x", 0.5)
                               .field("n", std::nan(""))
                               .key("list")
                               .begin_array()
                               .value(uint64_t{1})
                               .value(uint64_t{2})
                               .end_array()
                               .end_object()
                               .text();
  EXPECT_EQUAL(text, R"({"a\"b":"c\\d\u000a","x":0.5,"n":null,"list":[1,2]})");
}
