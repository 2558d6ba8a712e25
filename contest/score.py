"""Scoring rules: expressions of a run's metrics, evaluated without Python's eval."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from common.errors import suggestion
from engines.base import METRICS, RunRecord
from networks.omniscient import Bound
from networks.scenario import PreparedNetwork

VARIABLES = (
    *(*METRICS, "signal_delay_p50_ms"),
    *("loss", "delay_ms", "omniscient_power", "omniscient_delay_ms", "excess_delay_ms"),
)
"""Variables of an expression: a run's metrics; `loss`, the share of dropped packets; `delay_ms`,
the propagation delay in one direction; the bounds of its network; and by how much the 95th
percentile of the signal delay exceeds the omniscient sender's."""

TRANSHUB = (
    "100 * (0.35 * utilization + 0.35 * delay_ms / (delay_ms + queueing_delay_p95_ms)"
    " + 0.30 * (1 - loss))"
)
"""Transhub's weights; it publishes the mean of three runs of ten cases."""

_MOST_CHARACTERS = 500
_MOST_DEPTH = 30
_MOST_NUMBER = 1e100
_OPERATORS: Mapping[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "log": math.log,
    "log2": math.log2,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "min": min,
    "max": max,
    "abs": abs,
}


@dataclass(frozen=True)
class Score:
    """A scoring rule; more is better.

    Args:
        name: on the leaderboard.
        expression: of a run.
        is_ratio: scores are compared by their ratio, and averaged geometrically.
    """

    name: str
    expression: str
    is_ratio: bool = False

    def of(self, record: RunRecord, network: PreparedNetwork, bound: Bound) -> float:
        """Returns the score of a run that succeeded.

        Raises:
            ValueError: it has none, because of a division by zero or the logarithm of zero.
        """
        sent = record.packets_sent or 0
        values = {name: getattr(record, name) for name in METRICS} | {
            "loss": (record.packets_dropped or 0) / sent if sent else 0.0,
            "delay_ms": network.uplink.delay_ms,
            "omniscient_power": bound.power,
            "omniscient_delay_ms": bound.signal_delay_p95_ms,
            "signal_delay_p50_ms": record.signal_delay_p50_ms,
            "excess_delay_ms": (record.signal_delay_p95_ms or 0) - bound.signal_delay_p95_ms,
        }
        try:
            score = _value(ast.parse(self.expression, mode="eval").body, values)
        except (ArithmeticError, TypeError) as error:
            raise ValueError(f"{self.expression}: {error}") from None
        if not math.isfinite(score) or (self.is_ratio and score <= 0):
            raise ValueError(f"{self.expression} is {score}")
        return score


_RULES = {
    "power": Score("power", "power", is_ratio=True),
    "log_power": Score("log_power", "log(power)"),
    "median_power": Score(
        "median_power", "1000 * throughput_mbps / signal_delay_p50_ms", is_ratio=True
    ),
    "excess_power": Score(
        "excess_power",
        "1000 * throughput_mbps / (delay_ms + max(0, excess_delay_ms))",
        is_ratio=True,
    ),
    "transhub": Score("transhub", TRANSHUB),
}


def score_of(text: str) -> Score:
    """Returns a rule by its name, or made of an expression.

    Raises:
        ValueError: it is neither.
    """
    if text in _RULES:
        return _RULES[text]
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"an expression has at most {_MOST_CHARACTERS} characters")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"neither {', '.join(_RULES)} nor an expression") from None
    _check(tree)
    return Score("score", text)


def _check(node: ast.AST, depth: int = 0) -> None:
    """Raises ValueError unless a node may be part of an expression."""
    if depth > _MOST_DEPTH:
        raise ValueError("too deeply nested")
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        if abs(node.value) > _MOST_NUMBER:
            raise ValueError(f"a number is at most {_MOST_NUMBER:g}")
    elif isinstance(node, ast.Name):
        if node.id not in VARIABLES:
            raise ValueError(f"{node.id!r} is not a metric; {suggestion(node.id, VARIABLES)}")
    elif isinstance(node, ast.BinOp | ast.UnaryOp) and type(node.op) in _OPERATORS:
        for operand in _operands(node):
            _check(operand, depth + 1)
    elif isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        least = 2 if name in ("min", "max") else 1
        right_count = len(node.args) >= 2 if least == 2 else len(node.args) == 1
        if name not in _FUNCTIONS or node.keywords or not right_count:
            known = ", ".join(_FUNCTIONS)
            raise ValueError(f"the only functions are {known}, with their number of arguments")
        for argument in node.args:
            _check(argument, depth + 1)
    else:
        raise ValueError("an expression has only numbers, metrics, + - * / ** and functions")


def _operands(node: ast.BinOp | ast.UnaryOp) -> tuple[ast.expr, ...]:
    return (node.left, node.right) if isinstance(node, ast.BinOp) else (node.operand,)


def _value(node: ast.AST, values: Mapping[str, float]) -> float:
    """The value of an expression that was checked; every number is a float, so none grows."""
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]  # it was checked
    if isinstance(node, ast.Name):
        return float(values[node.id])
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        numbers: list[Any] = [_value(each, values) for each in _operands(node)]
        return _OPERATORS[type(node.op)](*numbers)
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return _FUNCTIONS[node.func.id](*(_value(each, values) for each in node.args))
