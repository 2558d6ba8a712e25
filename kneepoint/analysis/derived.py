"""What one section of the report computes from the tables; no file holds it."""

from collections.abc import Callable, Mapping
from functools import reduce
from importlib import import_module
from operator import or_

import pandas as pd

from kneepoint.analysis import (
    agreement,
    confirmation,
    host,
)
from kneepoint.common.tables import Tables
from kneepoint.runs.question import stages

_DERIVED: Mapping[str, Callable[[Tables], pd.DataFrame]] = {
    "agreement_accuracy": agreement.accuracy,
    "agreement_settings": agreement.settings,
    "confirmed": confirmation.confirmed,
    "probe_levels": host.probe_levels,
}


def derived() -> Mapping[str, Callable[[Tables], pd.DataFrame]]:
    """By its name, what computes it; without a row, a frame may have no columns."""
    made = (vars(import_module(stage.module)).get("DERIVED", {}) for stage in stages().values())
    return reduce(or_, made, _DERIVED)


def with_derived(tables: Tables) -> Tables:
    """Tables, and what is derived of them."""
    return {**tables, **{name: derive(tables) for name, derive in derived().items()}}
