"""Samplers: ours, and Optuna's by name. The only place that imports Optuna's samplers."""

from search.samplers.bracket import BracketSampler
from search.samplers.factory import Asker, make_asker
from search.samplers.golden import GoldenSectionSampler
from search.samplers.points import PointsSampler
from search.samplers.ternary import TernarySampler

__all__ = [
    "Asker",
    "BracketSampler",
    "GoldenSectionSampler",
    "PointsSampler",
    "TernarySampler",
    "make_asker",
]
