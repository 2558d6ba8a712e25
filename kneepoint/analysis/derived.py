"""What one section of the report computes from the tables; no file holds it."""

from collections.abc import Callable, Mapping
from functools import reduce
from importlib import import_module
from operator import or_

import pandas as pd

from kneepoint.common.tables import Tables
from kneepoint.runs.question import PACKAGE, stages


def derived() -> Mapping[str, Callable[[Tables], pd.DataFrame]]:
    """By its name, what computes it; without a row, a frame may have no columns."""
    made = (vars(import_module(stage.module)).get("DERIVED", {}) for stage in stages().values())
    return reduce(or_, made, {})


def question_of(table: str) -> str | None:
    """The question whose stage makes a table, or a table from which its section derives one."""
    for stage in stages().values():
        if table in stage.tables or table in vars(import_module(stage.module)).get("DERIVED", {}):
            return stage.module.removeprefix(f"{PACKAGE}.").partition(".")[0]
    return None


def with_derived(tables: Tables) -> Tables:
    """Tables, and what is derived of them."""
    return {**tables, **{name: derive(tables) for name, derive in derived().items()}}
