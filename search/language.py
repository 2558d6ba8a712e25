"""The language of rules: assignments in Python's notation, for the controller `rule`.

They are executed in order at every acknowledgment. An expression has a dimension: delays and times
are in ms, windows in packets, rates in packets per ms; everything else is a number. A literal has
any dimension. controllers/wasm/rule_language.cc parses the same language for the
playground.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Literal, cast

from kneepoint.common.errors import KneepointError, suggestion
from kneepoint.common.files import read_text

Dimension = Literal["ms", "packets", "rate", "number"]
_MAX_BYTES = 2**20
"""Greatest size of a file of rules."""

SIGNALS: Mapping[str, Dimension] = {
    **{"owd": "ms", "rtt": "ms", "min_rtt": "ms", "silence": "ms"},
    **{"flight": "packets", "w": "packets"},
}
OUTPUTS: Mapping[str, Dimension] = {
    **{"w": "packets", "window": "packets", "pace": "rate", "keepalive": "ms"},
}
ARGUMENTS = {
    **{"abs": 1, "exp": 1, "log": 1, "change": 1, "rate": 1},
    **{"min": 2, "max": 2, "ewma": 2, "clip": 3},
}
_USE = "use only numbers, + - * / **, x if a > b else y, and " + ", ".join(
    f"{name}/{count}" for name, count in ARGUMENTS.items()
)
_DEEP = "is nested too deeply; assign parts of it to variables"
_BINARY: Mapping[type[ast.operator], str] = {
    **{ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"},
}
_VARIABLES = 12
OPERATIONS = (
    *"end number owd rtt min_rtt silence flight w".split(),
    *"add sub mul div pow min max neg abs exp log clip choose ewma change rate".split(),
    *"set_w set_window set_pace set_keepalive".split(),
    *(f"load {k}" for k in range(_VARIABLES)),
    *(f"store {k}" for k in range(_VARIABLES)),
)
"""The operations, in the order of the opcodes in controllers/algorithms/rule_operations.hh."""
_NUMBER = {name: number for number, name in enumerate(OPERATIONS)}
_PER_CODE, _CODES, _NUMBERS, _DEEPEST = 8, 16, 40, 30
MAX_CHARACTERS = 4000
_MAX_PARENTHESES = 50
_MAX_NUMBER = 1e100
_COMMENT = re.compile(r"#[^\r\n]*")
_INDENTATION = re.compile("^[ \\t]+", re.MULTILINE)
_DIGITS = "[0-9]+(?:_[0-9]+)*"
_TOKENS = re.compile(
    rf"(?:[-+*/()<>=,; \t\r\n]|[A-Za-z_][A-Za-z0-9_]*+"
    rf"|(?:{_DIGITS}\.?|(?:{_DIGITS})?\.{_DIGITS})(?:[eE][-+]?{_DIGITS})?(?![A-Za-z0-9_.]))*+"
)
"""Python's parser would take much else, such as indented lines, hexadecimal numbers and strings."""


class RuleError(ValueError):
    """The text is not a valid rule."""


@dataclass
class Rule:
    """A valid rule.

    Args:
        text: its canonical text, which is equal for equal rules.
        numbers: its literals, in the order of its program.
    """

    text: str
    _program: list[str] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    @property
    def tree(self) -> ast.Module:
        """Its assignments, as a new tree that the caller may change."""
        return ast.parse(self.text)

    @cached_property
    def operators(self) -> int:
        """Number of arithmetic operations and functions; a filter such as ewma counts as one."""
        simple = {"number", *SIGNALS}
        words = [word.partition(" ")[0] for word in self._program]
        return sum(word not in simple and not re.match("set_|load|store", word) for word in words)

    @cached_property
    def code(self) -> dict[str, int]:
        """The controller's parameters that encode the program."""
        found = {}
        for start in range(0, len(self._program), _PER_CODE):
            some = self._program[start : start + _PER_CODE]
            found[f"code_{start // _PER_CODE}"] = sum(
                _NUMBER[word] * 64**place for place, word in enumerate(some)
            )
        return found

    @property
    def parameters(self) -> dict[str, float]:
        """All of the controller's parameters that encode this rule."""
        return {**self.code, **{f"number_{k}": value for k, value in enumerate(self.numbers)}}


@lru_cache(10_000)  # the best are read again in each round
def parse(text: str) -> Rule:
    """Parses a rule.

    Raises:
        RuleError: the text is not a valid rule.
    """
    if len(text) > MAX_CHARACTERS:
        raise RuleError(f"has more than {MAX_CHARACTERS} characters; shorten it")
    code = _of_tokens(text)
    try:
        tree = _Canonical().visit(ast.parse(code))
        canonical = "; ".join(ast.unparse(each) for each in tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RuleError("is not a rule; write assignments such as w = w + 0.1") from None
    rule = Rule(canonical)
    known: dict[str, Dimension | None] = {}
    for statement in tree.body:
        name, value = assigned(statement)
        dimension = dimension_of(value, known)
        wanted = OUTPUTS.get(name)
        if wanted and dimension not in (wanted, None):
            raise RuleError(
                f"{name} has dimension {wanted}, but {ast.unparse(value)} has {dimension}"
            )
        _emit(value, list(known), rule)
        if wanted:
            rule._program.append(f"set_{name}")
            continue
        known[name] = dimension
        if len(known) > _VARIABLES:
            raise RuleError(f"has more than {_VARIABLES} variables; use fewer")
        rule._program.append(f"store {list(known).index(name)}")
    if "set_w" not in rule._program and "set_window" not in rule._program:
        raise RuleError("sets neither w nor window; assign one")
    if len(rule._program) > _PER_CODE * _CODES or len(rule.numbers) > _NUMBERS:
        raise RuleError(
            f"has {len(rule._program)} operations and {len(rule.numbers)} numbers; at most "
            f"{_PER_CODE * _CODES} and {_NUMBERS} fit"
        )
    return rule


def _of_tokens(text: str) -> str:
    """Returns the text without comments and indentation; raises RuleError for unknown signs."""
    code = _COMMENT.sub("", text).replace("\r", "\n")
    tokens = _TOKENS.match(code)
    assert tokens
    if tokens.end() < len(code):
        raise RuleError(f"{code[tokens.end() :][:20]!r}: {_USE}")
    depths = accumulate({"(": 1, ")": -1}[sign] for sign in re.findall("[()]", code))
    if max(depths, default=0) > _MAX_PARENTHESES:
        raise RuleError(_DEEP)
    return _INDENTATION.sub("", code)


class _Canonical(ast.NodeTransformer):
    """Writes 1.0 as 1, and a < b as b > a: the program has no other comparison."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, float) and node.value % 1 == 0:
            return ast.Constant(int(node.value))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Lt):
            return ast.Compare(node.comparators[0], [ast.Gt()], [node.left])
        return node


def assigned(statement: ast.stmt) -> tuple[str, ast.expr]:
    """Returns name and expression of an assignment; raises RuleError for other statements."""
    if not (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    ):
        raise RuleError(
            f"{ast.unparse(statement)[:80]!r} is not an assignment; write name = expression"
        )
    name = statement.targets[0].id
    if name in {*SIGNALS, *ARGUMENTS} - {*OUTPUTS}:
        raise RuleError(f"{name} cannot be assigned; choose another name")
    return name, statement.value


def literal(node: ast.expr) -> float | None:
    """Returns the value of a literal, possibly signed; None for any other expression."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        if isinstance(node.value, bool) or abs(node.value) >= _MAX_NUMBER:
            return None
        return sign * float(node.value)
    return None


def dimension_of(
    node: ast.expr, known: dict[str, Dimension | None], depth: int = 0
) -> Dimension | None:
    """Returns an expression's dimension, None if any fits; raises RuleError if dimensions conflict.

    A variable without a dimension takes the dimension of the first operand it is combined with.
    """
    if depth > _DEEPEST:
        raise RuleError(_DEEP)
    if literal(node) is not None:
        return None
    if isinstance(node, ast.Name):
        names = {**SIGNALS, **known}
        if node.id not in names:
            raise RuleError(
                f"{node.id} is neither a signal nor assigned; {suggestion(node.id, names)}"
            )
        return names[node.id]
    parts = parts_of(node)
    dimensions = [dimension_of(part, known, depth + 1) for part in parts]

    def same(first: int, last: int, wanted: Dimension | None = None) -> Dimension | None:
        """Returns the common dimension of the parts [first, last)."""
        found = {dimension for dimension in (*dimensions[first:last], wanted) if dimension}
        if len(found) > 1:
            raise RuleError(f"{ast.unparse(node)[:80]}: mixes {' and '.join(sorted(found))}")
        dimension = found.pop() if found else None
        for part in parts[first:last]:
            if isinstance(part, ast.Name) and part.id in known:
                known[part.id] = known[part.id] or dimension
        return dimension

    if isinstance(node, ast.IfExp):
        same(0, 2)
        return same(2, 4)
    if isinstance(node, ast.BinOp):
        left, right = dimensions
        if isinstance(node.op, ast.Pow):
            same(1, 2, "number")
            return left
        if isinstance(node.op, ast.Mult) and "number" in dimensions:
            return left if right == "number" else right
        if isinstance(node.op, ast.Mult) and None in dimensions:
            return left or right
        if isinstance(node.op, ast.Div):
            if right in ("number", None):
                return left
            same(0, 2)
            return "number"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        match node.func.id:
            case "exp" | "log":
                return same(0, 1, "number")
            case "rate":
                return "rate"
            case "ewma":
                same(1, 2, "number")
                return dimensions[0]
    return same(0, len(parts))


def parts_of(node: ast.expr) -> list[ast.expr]:
    """Returns the operands of an operation; raises RuleError for other expressions."""
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [node.operand]
    if isinstance(node, ast.IfExp) and isinstance(node.test, ast.Compare):
        test = node.test
        if len(test.ops) == 1 and isinstance(test.ops[0], ast.Gt):
            return [test.left, test.comparators[0], node.body, node.orelse]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        name = node.func.id
        if len(node.args) == ARGUMENTS.get(name):
            return node.args
    raise RuleError(f"{ast.unparse(node)[:80]!r}: {_USE}")


def expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yields all subexpressions of an assignment, each before its operands."""
    pending = [assigned(statement)[1]]
    while pending:
        node = pending.pop()
        yield node
        if literal(node) is None and not isinstance(node, ast.Name):
            pending += parts_of(node)


def _emit(node: ast.expr, variables: list[str], rule: Rule) -> None:
    """Appends the operations that compute an expression."""
    program, value = rule._program, literal(node)
    if value is not None:
        program.append("number")
        rule.numbers.append(value)
        return
    if isinstance(node, ast.Name):
        own = node.id in variables
        program.append(f"load {variables.index(node.id)}" if own else node.id)
        return
    parts = parts_of(node)
    if isinstance(node, ast.IfExp):
        for part in parts[:2]:
            _emit(part, variables, rule)
        program.append("sub")
        for part in parts[2:]:
            _emit(part, variables, rule)
        program.append("choose")
        return
    for part in parts:
        _emit(part, variables, rule)
    if isinstance(node, ast.BinOp):
        program.append(_BINARY[type(node.op)])
    elif isinstance(node, ast.UnaryOp):
        program.append("neg")
    else:
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        program.append(node.func.id)


def with_numbers(rule: Rule, numbers: Sequence[float]) -> Rule:
    """Returns the rule with its literals replaced, in program order, rounded to four digits."""
    given = iter(numbers)

    class Changed(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, ast.expr) and (own := literal(node)) is not None:
                value = next(given)
                return node if value == own else ast.Constant(float(f"{value:.4g}"))
            if isinstance(node, ast.IfExp):  # in the program, its test comes first
                parts = [self.visit(each) for each in (node.test, node.body, node.orelse)]
                return ast.IfExp(*(cast(ast.expr, each) for each in parts))
            return self.generic_visit(node)

    return parse(ast.unparse(Changed().visit(rule.tree)))


def rules_of(path: Path) -> list[Rule]:
    """Reads a file of rules, one per line.

    Raises:
        KneepointError: the file cannot be read, or a line is not a rule.
    """
    rules = []
    for number, line in enumerate(read_text(path, _MAX_BYTES).splitlines(), 1):
        if line.strip():
            try:
                rules.append(parse(line))
            except RuleError as error:
                raise KneepointError(f"{path}, line {number}: {error}") from None
    return rules
