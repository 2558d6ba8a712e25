#include "wasm/rule_tree.hh"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "common/text.hh"
#include "wasm/rule_language.hh"

namespace kneepoint {

namespace {

// As in search/language.py.
constexpr size_t deepest = 30;
constexpr size_t max_parentheses = 50;
constexpr double max_number = 1e100;

// Of functions of the parser: no more are needed for what the two limits allow.
constexpr size_t deepest_call = 2 * (deepest + max_parentheses + 2);

// Python's, which its parser takes for no names.
constexpr std::string_view keywords =
    " False None True and as assert async await break class continue def del elif else except"
    " finally for from global if import in is lambda nonlocal not or pass raise return try while"
    " with yield ";

constexpr std::string_view signs = "+-*/()<>=,;";

bool is_digit(char c) { return c >= '0' and c <= '9'; }
bool is_letter(char c) { return (c >= 'a' and c <= 'z') or (c >= 'A' and c <= 'Z') or c == '_'; }
bool is_line_end(char c) { return c == '\n' or c == '\r'; }

const std::string& all_operations() {
  static const std::string text = [] {
    std::string functions;
    for (const rules::Computation& each : rules::computations) {
      if (not each.is_function) continue;
      functions += ", " + std::string(each.name) + "/" + std::to_string(each.operands);
    }
    return "use only numbers, + - * / **, x if a > b else y" + functions;
  }();
  return text;
}

enum class TokenKind { name, number, sign, line_end, text_end };

struct Token {
  TokenKind kind;
  size_t begin;
  size_t end;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  RuleTree read() && {
    while (token_.kind != TokenKind::text_end) {
      if (token_.kind == TokenKind::line_end) {
        advance();
        continue;
      }
      tree_.assignments.push_back(assignment());
      if (not is(";") and not is_at_end()) refuse_token();
      if (is(";")) advance();
    }
    return std::move(tree_);
  }

 private:
  // A call that is not finished, counted so that no text exhausts the stack.
  struct Level {
    ~Level() { --count; }
    size_t& count;
  };
  size_t& deeper() {
    if (++level_ > deepest_call) refuse_depth(token_.begin, token_.end);
    return level_;
  }

  [[noreturn]] static void refuse_depth(size_t begin, size_t end) {
    throw RuleError("is nested too deeply; assign parts of it to variables", begin, end);
  }
  [[noreturn]] void refuse(const std::string& reason, size_t begin, size_t end) const {
    throw RuleError(shown(text_.substr(begin, end - begin)) + reason, begin, end);
  }
  [[noreturn]] void refuse_token() const {
    if (is_at_end()) {
      throw RuleError("ends too early; write assignments such as w = w + 0.1", token_.begin,
                      token_.end);
    }
    refuse(" does not belong here; write assignments such as w = w + 0.1", token_.begin,
           token_.end);
  }

  std::string_view word() const { return text_.substr(token_.begin, token_.end - token_.begin); }
  bool is(std::string_view wanted) const { return word() == wanted; }
  bool is_at_end() const {
    return token_.kind == TokenKind::line_end or token_.kind == TokenKind::text_end;
  }

  void expect(std::string_view wanted) {
    if (not is(wanted)) refuse_token();
    advance();
  }

  // The character at a place, NUL beyond the end.
  char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

  void advance() {
    last_end_ = token_.end;
    if (is("(") and ++parentheses_ > max_parentheses) refuse_depth(token_.begin, token_.end);
    if (is(")") and parentheses_ > 0) --parentheses_;
    size_t place = token_.end;
    for (bool is_comment = false; place < text_.size(); ++place) {
      const char c = text_[place];
      if (is_line_end(c) ? parentheses_ == 0
                         : not is_comment and c != '#' and c != ' ' and c != '\t') {
        break;
      }
      is_comment = not is_line_end(c) and (is_comment or c == '#');
    }
    token_ = scanned(place);
  }

  Token scanned(size_t begin) const {
    if (begin == text_.size()) return {TokenKind::text_end, begin, begin};
    const char first = text_[begin];
    if (is_line_end(first)) return {TokenKind::line_end, begin, begin + 1};
    size_t end = begin + 1;
    if (is_letter(first)) {
      while (is_letter(at(end)) or is_digit(at(end))) ++end;
      return {TokenKind::name, begin, end};
    }
    if (is_digit(first) or (first == '.' and is_digit(at(end)))) {
      return {TokenKind::number, begin, number_end(begin)};
    }
    if (text_.substr(begin, 2) == "**") return {TokenKind::sign, begin, begin + 2};
    if (signs.find(first) != std::string_view::npos) return {TokenKind::sign, begin, end};
    while ((static_cast<unsigned char>(at(end)) & 0xc0) == 0x80) ++end;  // the rest of UTF-8
    const std::string character(text_.substr(begin, end - begin));
    const bool is_ascii = end == begin + 1;
    throw RuleError("has a '" + one_line(character.c_str()) + "'; " +
                        (is_ascii ? all_operations() : "outside comments, write ASCII only"),
                    begin, end);
  }

  // Past the digits at a place, with single underscores between them.
  size_t digits_end(size_t place) const {
    while (is_digit(at(place)) or
           (at(place) == '_' and is_digit(at(place - 1)) and is_digit(at(place + 1)))) {
      ++place;
    }
    return place;
  }

  size_t number_end(size_t begin) const {
    size_t end = digits_end(begin);
    bool is_whole = at(end) != '.';
    if (not is_whole) end = digits_end(end + 1);
    const size_t exponent = end + (at(end + 1) == '+' or at(end + 1) == '-' ? 2 : 1);
    if ((at(end) == 'e' or at(end) == 'E') and is_digit(at(exponent))) {
      end = digits_end(exponent);
      is_whole = false;
    }
    const std::string_view number = text_.substr(begin, end - begin);
    const bool has_zeros = is_whole and number.front() == '0' and
                           number.find_first_not_of("0_") != std::string_view::npos;
    size_t last = end;
    while (is_letter(at(last)) or is_digit(at(last)) or at(last) == '.') ++last;
    if (last > end or has_zeros) {
      refuse(" is not a number; write such as 20, 0.5 or 1e-3", begin, last);
    }
    return end;
  }

  RuleAssignment assignment() {
    const RuleNode* const name = expression();
    if (not is("=")) {
      if (not is(";") and not is_at_end()) refuse_token();
      refuse(" is not an assignment; write name = expression", name->begin, last_end_);
    }
    if (name->kind != RuleNode::Kind::name) {
      refuse(" cannot be assigned; write name = expression", name->begin, last_end_);
    }
    advance();
    const RuleNode* const value = expression();
    if (is("=")) refuse(" assigns twice; write name = expression", name->begin, last_end_);
    require_value(value);
    return {name, value};
  }

  // DISJUNCTION [if DISJUNCTION else EXPRESSION], where a comparison is only a test.
  const RuleNode* expression() {
    const Level level{deeper()};
    const size_t begin = token_.begin;
    const RuleNode* const value = comparison();
    if (not is("if")) return value;
    advance();
    const RuleNode* const test = comparison();
    if (test->kind != RuleNode::Kind::comparison) {
      refuse(" compares nothing; write x if a > b else y", test->begin, test->end);
    }
    expect("else");
    const RuleNode* const otherwise = expression();
    return compute(begin, "choose", {test->operands[0], test->operands[1], value, otherwise});
  }

  const RuleNode* comparison() {
    const size_t begin = token_.begin;
    const RuleNode* const left = sum();
    if (not is(">") and not is("<")) return left;
    const bool is_greater = is(">");
    advance();
    const RuleNode* const right = sum();
    if (is(">") or is("<")) {
      refuse(" compares again; write x if a > b else y", token_.begin, token_.end);
    }
    require_value(left);
    require_value(right);
    RuleNode node{.kind = RuleNode::Kind::comparison, .begin = begin, .end = last_end_};
    node.operands = {left, right};
    if (not is_greater) std::swap(node.operands[0], node.operands[1]);
    return add(std::move(node));
  }

  const RuleNode* sum() {
    const size_t begin = token_.begin;
    const RuleNode* left = product();
    while (is("+") or is("-")) {
      const std::string_view name = is("+") ? "add" : "sub";
      advance();
      left = compute(begin, name, {left, product()});
    }
    return left;
  }

  const RuleNode* product() {
    const size_t begin = token_.begin;
    const RuleNode* left = signed_power();
    while (is("*") or is("/")) {
      const std::string_view name = is("*") ? "mul" : "div";
      advance();
      left = compute(begin, name, {left, signed_power()});
    }
    return left;
  }

  const RuleNode* signed_power() {
    const Level level{deeper()};
    const size_t begin = token_.begin;
    if (not is("-")) return power();
    advance();
    const RuleNode* const operand = signed_power();
    const bool is_unsigned =
        operand->kind == RuleNode::Kind::literal and not std::signbit(operand->value);
    if (not is_unsigned) return compute(begin, "neg", {operand});
    RuleNode node = *operand;
    node.value = -node.value;
    node.begin = begin;
    node.end = last_end_;
    return add(std::move(node));
  }

  // The sign binds less than the power on its right, and more than the power on its left.
  const RuleNode* power() {
    const size_t begin = token_.begin;
    const RuleNode* const base = call();
    if (not is("**")) return base;
    advance();
    return compute(begin, "pow", {base, signed_power()});
  }

  const RuleNode* call() {
    const size_t begin = token_.begin;
    const RuleNode* const called = atom();
    if (not is("(")) return called;
    advance();
    std::vector<const RuleNode*> operands;
    while (not is(")")) {
      operands.push_back(expression());
      if (not is(")")) expect(",");
    }
    advance();
    if (called->kind == RuleNode::Kind::name and is_function(called->name) and
        rules::computations[computation(called->name)].operands == operands.size()) {
      if (is("(")) refuse_token();
      return compute(begin, called->name, operands);
    }
    refuse(": " + all_operations(), begin, last_end_);
  }

  const RuleNode* atom() {
    if (token_.kind == TokenKind::number) return literal();
    if (is("(")) {
      advance();
      const RuleNode* const inner = expression();
      expect(")");
      return inner;
    }
    if (token_.kind != TokenKind::name) refuse_token();
    if (keywords.find(" " + std::string(word()) + " ") != std::string_view::npos) {
      refuse(" has no meaning here; " + all_operations(), token_.begin, token_.end);
    }
    RuleNode node{.kind = RuleNode::Kind::name, .begin = token_.begin, .end = token_.end};
    node.name = word();
    advance();
    return add(std::move(node));
  }

  const RuleNode* literal() {
    std::string digits(word());
    std::erase(digits, '_');
    const double value = std::strtod(digits.c_str(), nullptr);
    if (value >= max_number) {
      refuse(" is too large; write a number below 1e100", token_.begin, token_.end);
    }
    RuleNode node{.kind = RuleNode::Kind::literal, .begin = token_.begin, .end = token_.end};
    node.value = value;
    advance();
    return add(std::move(node));
  }

  void require_value(const RuleNode* node) const {
    if (node->kind != RuleNode::Kind::comparison) return;
    refuse(" is a comparison; write x if a > b else y", node->begin, node->end);
  }

  const RuleNode* compute(size_t begin, std::string_view name,
                          std::vector<const RuleNode*> operands) {
    RuleNode node{.kind = RuleNode::Kind::computation, .begin = begin, .end = last_end_};
    node.operation = computation(name);
    for (const RuleNode* operand : operands) {
      require_value(operand);
      node.height = std::max(node.height, operand->height + 1);
    }
    if (node.height > deepest) refuse_depth(begin, last_end_);
    node.operands = std::move(operands);
    return add(std::move(node));
  }

  const RuleNode* add(RuleNode node) { return &tree_.nodes.emplace_back(std::move(node)); }

  std::string_view text_;
  Token token_{TokenKind::line_end, 0, 0};
  size_t last_end_ = 0;  // of the token before
  size_t parentheses_ = 0;
  size_t level_ = 0;
  RuleTree tree_{};
};

}  // namespace

size_t computation(std::string_view name) {
  return static_cast<size_t>(
      std::ranges::find(rules::computations, name, &rules::Computation::name) -
      rules::computations.begin());
}

bool is_function(std::string_view name) {
  const size_t which = computation(name);
  return which < rules::computations.size() and rules::computations[which].is_function;
}

RuleTree read_rule(std::string_view text) { return Parser(text).read(); }

}  // namespace kneepoint
