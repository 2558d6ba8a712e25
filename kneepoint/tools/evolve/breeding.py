"""Random rules, mutation and crossover: a part is replaced by a part of equal dimension."""

import ast
import math
import random
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from kneepoint.search.language import (
    ARGUMENTS,
    OUTPUTS,
    SIGNALS,
    Dimension,
    Rule,
    RuleError,
    assigned,
    dimension_of,
    expressions,
    parse,
    with_numbers,
)

MAX_OPERATORS = 40
_DEEPEST = 3
_TRIES = 50
_SKELETON = """\
q = {ms}
t = {threshold}
e = (t - {ms}) / t
w = w + {packets} if e > 0 else w - {packets}
window = w
keepalive = {delay}"""
_GRAMMAR: Mapping[str, Sequence[str]] = {
    "ms": (
        *("owd", "owd", "rtt", "rtt", "q", "q", "min_rtt", "silence", "change({ms})"),
        *("{factor} * {ms}", "{ms} + {ms}", "abs({ms} - {ms})", "{share} * owd + {share} * rtt"),
        *("ewma({ms}, {share})", "ewma({ms}, {share})", "ewma(abs({ms} - {ms}), {share})"),
        *("max({ms}, {ms})", "min({ms}, {ms})"),
    ),
    "threshold": ("{delay}", "{delay} * exp(clip({factor} * {number}, -1, 1))"),
    "number": (
        *("e", "e", "-{number}", "{factor} * {number}", "{number} + {number}", "(t - {ms}) / t"),
        *("min({number}, {factor})", "max({number}, -{factor})", "{ms} / ({ms} + {delay})"),
        "clip({number}, -{factor}, {factor})",
        "log(({rate} + 0.01) / ({rate} + 0.01))",
        "log(({rate} + 0.01) / ({rate} + 0.01))",
    ),
    "rate": ("rate({span})", "rate({span})", "ewma(rate({span}), {share})"),
    "packets": (
        *("{factor} * w ** {power}", "{factor} * w ** -{share}", "{small} * w", "{factor}"),
        *("{packets} * (1 + {factor} * min({number}, {factor}))", "{small} * flight"),
    ),
}
_SHORT: Mapping[str, Sequence[str]] = {
    "ms": ("owd", "rtt", "q"),
    "number": ("e", "log((rate({span}) + 0.01) / (rate({span}) + 0.01))"),
    "rate": ("rate({span})",),
    "packets": ("{factor} * w ** {power}",),
}
"""Productions at the maximum depth, which do not recurse."""
_AROUND: Mapping[str, Sequence[str]] = {
    "any": (
        "{x} * (1 + {small} * {number})",
        "{x} * exp(clip({factor} * {number}, -1, 1))",
        "{x} * exp({small} * clip({number}, -{factor}, 1))",
        "{x} if {number} > 0 else {factor} * {x}",
        "ewma({x}, {share})",
    ),
    "ms": (
        *("{x} + {ms}", "{x} + {factor} * change({x})", "max({x}, {ms})", "min({x}, {ms})"),
        "{x} + {factor} * ewma(abs({x} - {ms}), {share})",
        "{x} - {factor} * ewma(abs({x} - {ms}), {share})",
    ),
    "number": ("{x} + {number}", "clip({x}, -{factor}, {factor})"),
    "packets": ("{x} + {packets}",),
}
"""Productions that may surround a part x, by its dimension."""


def _between(low: float, high: float) -> Callable[[random.Random], float]:
    return lambda rng: math.exp(rng.uniform(math.log(low), math.log(high)))


_LITERALS: Mapping[str, Callable[[random.Random], float]] = {
    "share": lambda rng: rng.uniform(0.02, 1),
    "factor": _between(0.1, 5),
    "small": _between(0.005, 0.5),
    "delay": _between(3, 60),
    "span": _between(0.1, 10),
    "power": lambda rng: rng.uniform(-1, 0.5),
}


@dataclass(frozen=True)
class _Place:
    """A part of a rule.

    Args:
        node: its node in the rule's tree.
        statement: index of its assignment.
        position: index among the assignment's expressions.
        dimension: its dimension; None: any.
        names: variables that it may use.
    """

    node: ast.expr
    statement: int
    position: int
    dimension: Dimension | None
    names: frozenset[str]


def random_rule(rng: random.Random) -> Rule:
    """Returns a random rule."""
    while True:
        try:
            return parse(_filled(_SKELETON, rng, frozenset("qte"), 0))
        except RuleError:
            continue


def breed(parents: Sequence[Rule], rng: random.Random, known: Container[str]) -> Rule:
    """Breeds a rule that is not in `known`, from one or two of the parents."""
    for _ in range(_TRIES):
        parent = rng.choice(parents)
        way = rng.random()
        try:
            if way < 0.2:
                child = _crossed(parent, rng.choice(parents), rng)
            elif way < 0.6:
                child = _restructured(parent, rng)
            else:
                child = with_numbers(parent, _moved(parent.numbers, rng))
        except RuleError:
            continue
        if child.text not in known and child.operators <= MAX_OPERATORS:
            return child
    return random_rule(rng)


def _moved(numbers: Sequence[float], rng: random.Random) -> list[float]:
    """Multiplies about two of the numbers by a log-normal factor."""
    if not numbers:
        raise RuleError("has no numbers")
    share = min(1.0, 2 / len(numbers))
    width = rng.choice((0.05, 0.2, 0.6))
    return [
        value * math.exp(rng.gauss(0, width)) if rng.random() < share else value
        for value in numbers
    ]


def _restructured(rule: Rule, rng: random.Random) -> Rule:
    """Replaces a part by a random part or by one of its own parts, or surrounds it."""
    places = [each for each in _places(rule) if each.dimension]
    place = rng.choice(places)
    way = rng.choice(("anew", "around", "within"))
    if way == "within":
        parts = set(ast.walk(place.node)) - {place.node}
        inner = [
            each.node for each in places if each.node in parts and each.dimension == place.dimension
        ]
        if not inner:
            raise RuleError("contains no part of its own dimension")
        return _with(rule, place, rng.choice(inner))
    if way == "around":
        templates = [*_AROUND["any"], *_AROUND.get(str(place.dimension), ())]
        text = rng.choice(templates).replace("{x}", f"({ast.unparse(place.node)})")
        text = _filled(text, rng, place.names, _DEEPEST - 1)
    else:
        text = _filled(f"{{{place.dimension}}}", rng, place.names, 1)
    return _with(rule, place, ast.parse(text, mode="eval").body)


def _crossed(rule: Rule, other: Rule, rng: random.Random) -> Rule:
    """Replaces a part by a part of another rule with the same dimension."""
    place = rng.choice([each for each in _places(rule) if each.dimension])
    able = [
        each.node
        for each in _places(other)
        if each.dimension == place.dimension
        and {name.id for name in ast.walk(each.node) if isinstance(name, ast.Name)}
        <= {*place.names, *SIGNALS, *ARGUMENTS}
    ]
    if not able:
        raise RuleError("the other rule has no part that fits")
    return _with(rule, place, rng.choice(able))


def _places(rule: Rule) -> list[_Place]:
    dimensions: dict[str, Dimension | None] = {}
    for statement in rule.tree.body:  # a later statement may determine a variable's dimension
        name, value = assigned(statement)
        dimension = dimension_of(value, dimensions)
        dimensions[name] = dimensions.get(name) or dimension
    found, names = [], frozenset[str]()
    for number, statement in enumerate(rule.tree.body):
        name, value = assigned(statement)
        for position, node in enumerate(expressions(statement)):
            dimension = dimension_of(node, dict(dimensions))
            if node is value:
                dimension = OUTPUTS.get(name) or dimensions[name]
            found.append(_Place(node, number, position, dimension, names))
        names |= {name} - {*OUTPUTS}
    return found


def _with(rule: Rule, place: _Place, new: ast.expr) -> Rule:
    """Returns the rule with the part at a place replaced."""
    tree = rule.tree
    old = list(expressions(tree.body[place.statement]))[place.position]

    class Replaced(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else self.generic_visit(node)

    return parse(ast.unparse(Replaced().visit(tree)))


def _filled(template: str, rng: random.Random, names: frozenset[str], depth: int) -> str:
    """Fills each {symbol} of a template with a random production or literal."""

    def draw(match: re.Match[str]) -> str:
        dimension = match[1]
        if dimension in _LITERALS:
            return f"{_LITERALS[dimension](rng):.3g}"
        choices = (_GRAMMAR if depth < _DEEPEST else _SHORT)[dimension]
        able = [text for text in choices if not _VARIABLE.search(text) or names >= _used(text)]
        return f"({_filled(rng.choice(able), rng, names, depth + 1)})"

    return re.sub(r"\{(\w+)\}", draw, template)


_VARIABLE = re.compile(r"\b[qte]\b")


def _used(text: str) -> set[str]:
    return set(_VARIABLE.findall(text))
