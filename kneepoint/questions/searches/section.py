"""Texts of the section on searches: samplers, goals and best values."""

import math
from collections.abc import Mapping, Sequence

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record
from kneepoint.analysis.metrics import FIGURES
from kneepoint.analysis.recovery import CHANCE, DRAWS
from kneepoint.common.json_text import parse_json
from kneepoint.config.study import POWERS
from kneepoint.questions.searches.tables import NEAR
from kneepoint.search.objective import MISFIT_SCALE

__all__ = ["CHANCE", "DRAWS", "MISFIT_SCALE", "NEAR", "best_parameters", "best_value", "goal"]
__all__ += ["method"]

_SAMPLERS = {
    **{"tpe": "TPE", "cmaes": "CMA-ES", "qmc": "quasi-Monte-Carlo"},
    **{"nsga2": "NSGA-II", "nsga3": "NSGA-III"},
}
_GOALS = {
    "mean": "mean power",
    "worst": "least power",
    "mean_log": "geometric mean of power",
    "cvar": "mean power of the worst runs",
    "front": "Pareto front of throughput and signal delay",
    "sum_log": "sum of the logarithms of goodputs",
    "worst_flow": "least goodput",
    "share": "share of the link",
    "worst_case": "least power",
}


def method(search: Record) -> str:
    """Returns the name of a search's sampler, as its authors spell it."""
    sampler = str(search["sampler"])
    return _SAMPLERS.get(sampler, sampler)


def goal(search: Record, opponent: str) -> str:
    """Returns in words the goal of a search whose objective is not an expression.

    Args:
        search: a row of searches.
        opponent: the sender to which a worst case is relative; "" if it is unknown.
    """
    objective = str(search["objective"])
    if objective == "bounded":
        return f"throughput, signal delay at most {labels.number(search['bound_ms'])} ms"
    if objective == "least":
        return f"smallest value that keeps {_bounds_kept(parse_json(search['keeping']))}"
    if objective == "worst_case" and opponent:
        return f"least power relative to {opponent}"
    return _GOALS.get(objective, objective)


def _bounds_kept(bounds: Mapping[str, float]) -> str:
    """Returns as text the bounds that a search for the smallest value keeps."""
    named = {name: FIGURES[name].title.lower() for name in bounds if name in FIGURES}
    return labels.joined([f"{named.get(name, name)} {bound:g}" for name, bound in bounds.items()])


def best_parameters(parameters: Sequence[Record], search: str) -> dict[str, float]:
    """Returns the best value of each parameter of a search, from rows of search_parameters."""
    return {row["parameter"]: row["best"] for row in parameters if row["search"] == search}


def best_value(search: Record) -> str:
    """Returns the best value of a search with its interval over fresh seeds, if they have run."""
    read = math.exp if search["is_logarithm"] else float
    value, low, high = (read(search[name]) for name in ("best_value", "best_low", "best_high"))
    if math.isnan(low):
        return f"{value:.4g}"
    half = (high - low) / 2
    places = 2 if search["objective"] in POWERS or not half else -math.floor(math.log10(half)) + 1
    return labels.plus_minus(value, half, min(max(places, 0), 6))
