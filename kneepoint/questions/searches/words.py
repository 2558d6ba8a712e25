"""What the templates of searches call by their name."""

import math
from collections.abc import Mapping, Sequence

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record
from kneepoint.analysis.metrics import FIGURES
from kneepoint.analysis.recovery import CHANCE as CHANCE
from kneepoint.analysis.recovery import DRAWS as DRAWS
from kneepoint.config.study import POWERS
from kneepoint.questions.searches.tables import NEAR as NEAR
from kneepoint.reports.words import is_known, plus_minus, where
from kneepoint.search.objective import MISFIT_SCALE as MISFIT_SCALE

_SAMPLERS = {
    "tpe": "TPE",
    "cmaes": "CMA-ES",
    "qmc": "quasi-Monte-Carlo",
    "nsga2": "NSGA-II",
    "nsga3": "NSGA-III",
}


def sampler(name: str) -> str:
    """A sampler's name in prose."""
    return _SAMPLERS.get(name, name)


def best_of(constants: Sequence[Record], search: str) -> dict[str, float]:
    """The best value of each parameter of a search, from rows of search_constants."""
    return {row["constant"]: row["best"] for row in where(constants, search=search)}


def stated(search: Record) -> str:
    """The value of a search's best as it is named everywhere: with fresh seeds, if it has them."""
    read = math.exp if search["is_logarithm"] else float
    value, low, high = (read(search[name]) for name in ("best_value", "best_low", "best_high"))
    if not is_known(low):
        return f"{value:.4g}"
    half = (high - low) / 2
    places = 2 if search["objective"] in POWERS or not half else -math.floor(math.log10(half)) + 1
    return plus_minus(value, half, min(max(places, 0), 6))


def bounds_kept(bounds: Mapping[str, float]) -> str:
    """What a search for the smallest value keeps."""
    named = {name: FIGURES[name].title.lower() for name in bounds if name in FIGURES}
    return labels.joined([f"{named.get(name, name)} {bound:g}" for name, bound in bounds.items()])
