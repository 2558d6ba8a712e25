"""Expressions of a run's metrics, evaluated without Python's eval: scores, objectives."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from kneepoint.common.errors import suggestion
from kneepoint.engines.base import AGES, RUN_METRICS, RunRecord
from kneepoint.networks.omniscient import Bound
from kneepoint.networks.scenario import PreparedNetwork

VARIABLES = (
    *(*RUN_METRICS, "signal_delay_p50_ms", *AGES),
    *("loss", "queue_loss", "configured_loss", "delay_ms"),
    *("omniscient_power", "omniscient_delay_ms", "excess_delay_ms"),
)
"""Variables of an expression: a run's metrics; `loss`, the share of packets dropped or lost;
`queue_loss`, the share that queues drop; `configured_loss`, the share that the uplink is configured
to lose; `delay_ms`, the one-way propagation delay; the omniscient bound of its network; and
`excess_delay_ms`, the 95th percentile of the signal delay minus the bound's."""

_FAILED: Mapping[str, float] = {
    "throughput_mbps": 1e-6,
    "capacity_mbps": 1.0,
    "utilization": 1e-6,
    "queueing_delay_p95_ms": 60_000.0,
    "signal_delay_p50_ms": 60_000.0,
    "signal_delay_p95_ms": 60_000.0,
    "excess_delay_ms": 60_000.0,
    "age_p50_ms": 60_000.0,
    "age_p95_ms": 60_000.0,
    "power": 1e-3,
    "loss": 1.0,
    "queue_loss": 1.0,
    "configured_loss": 0.0,
    "delay_ms": 20.0,
}
"""The metrics of a failed run in objectives: next to nothing is delivered, so that logarithms
exist."""

_MAX_CHARACTERS = 500
_MAX_DEPTH = 30
_MAX_NUMBER = 1e100
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

_Value = Callable[[Mapping[str, float | None]], float]


@dataclass(frozen=True)
class Expression:
    """An expression of a run's metrics; raises ValueError if the text is not an expression."""

    text: str

    def __post_init__(self) -> None:
        _compile(self.text)

    def of_run(self, record: RunRecord, network: PreparedNetwork) -> float:
        """Returns its value for a successful run.

        Raises:
            ValueError: see `of`.
        """
        sent, delay_ms = record.packets_sent or 0, record.signal_delay_p95_ms
        dropped, lost = record.packets_dropped or 0, record.packets_lost or 0
        bound = network.omniscient
        min_ms = bound.signal_delay_p95_ms if bound else None
        excess_ms = None if delay_ms is None or min_ms is None else delay_ms - min_ms
        return self.of(
            {
                **vars(record),
                "loss": (dropped + lost) / sent if sent else 0.0,
                "queue_loss": dropped / sent if sent else 0.0,
                "configured_loss": network.uplink.configured_loss,
                "delay_ms": network.uplink.delay_ms,
                "omniscient_power": bound.power if bound else None,
                "omniscient_delay_ms": min_ms,
                "excess_delay_ms": excess_ms,
            }
        )

    def of_failed_run(self, bound: Bound | None = None) -> float:
        """Returns its value for a failed run (see `of`)."""
        return self.of(
            {
                **_FAILED,
                "omniscient_power": bound.power if bound else 1.0,
                "omniscient_delay_ms": bound.signal_delay_p95_ms if bound else 1.0,
            }
        )

    def of(self, values: Mapping[str, float | None]) -> float:
        """Returns its value; raises ValueError if it is undefined, or a variable has no value."""
        try:
            value = _compile(self.text)(values)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ValueError(f"{self.text}: {error}") from None
        if not math.isfinite(value):
            raise ValueError(f"{self.text} is {value}")
        return value


@cache
def _compile(text: str) -> _Value:
    """Returns the function that evaluates an expression; raises ValueError if it is invalid."""
    if len(text) > _MAX_CHARACTERS:
        raise ValueError(f"an expression has at most {_MAX_CHARACTERS} characters")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("not an expression, such as throughput_mbps ** 2 / power") from None
    return _compiled(tree)


def _compiled(node: ast.AST, depth: int = 0) -> _Value:
    """Compiles a node of an expression; numbers become floats, so that no integer grows large."""
    if depth > _MAX_DEPTH:
        raise ValueError("too deeply nested")
    operation: Callable[..., float]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        if abs(node.value) > _MAX_NUMBER:
            raise ValueError(f"a number is at most {_MAX_NUMBER:g}")
        number = float(node.value)
        return lambda _: number
    if isinstance(node, ast.Name):
        name = node.id
        if name not in VARIABLES:
            raise ValueError(f"{name!r} is not a metric; {suggestion(name, VARIABLES)}")
        return lambda values: float(values[name])  # type: ignore[arg-type]  # None: a TypeError
    if isinstance(node, ast.BinOp | ast.UnaryOp) and type(node.op) in _OPERATORS:
        operation = _OPERATORS[type(node.op)]
        parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
    elif isinstance(node, ast.Call):
        name, parts = node.func.id if isinstance(node.func, ast.Name) else "", node.args
        right_count = len(parts) >= 2 if name in ("min", "max") else len(parts) == 1
        if name not in _FUNCTIONS or node.keywords or not right_count:
            known = ", ".join(_FUNCTIONS)
            raise ValueError(f"the only functions are {known}, with their number of arguments")
        operation = _FUNCTIONS[name]
    else:
        raise ValueError("an expression has only numbers, metrics, + - * / ** and functions")
    operands = [_compiled(part, depth + 1) for part in parts]
    return lambda values: operation(*(operand(values) for operand in operands))
