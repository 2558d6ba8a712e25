"""What one section of the report computes from the tables; no file holds it."""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_

import pandas as pd

from kneepoint.common.tables import Tables
from kneepoint.runs.question import in_tables, questions


def derived() -> Mapping[str, Callable[[Tables], pd.DataFrame]]:
    """By its name, what computes it; without a row, a frame may have no columns."""
    return reduce(or_, in_tables("DERIVED").values(), {})


def question_of(table: str) -> str | None:
    """The question whose stage makes a table, or a table from which its section derives one."""
    made = {
        name: [table for stage in question.stages for table in stage.tables]
        for name, question in questions().items()
    }
    derives = in_tables("DERIVED")
    return next((name for name in made if table in (*made[name], *derives.get(name, ()))), None)


def with_derived(tables: Tables) -> Tables:
    """Tables, and what is derived of them."""
    return {**tables, **{name: derive(tables) for name, derive in derived().items()}}
