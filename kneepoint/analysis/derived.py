"""Tables that a section of the report derives from other tables, and that are not written."""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_

import pandas as pd

from kneepoint.common.tables import Tables
from kneepoint.runs.question import modules, questions


def derived() -> Mapping[str, Callable[[Tables], pd.DataFrame]]:
    """Returns the functions that compute derived tables, by name; empty tables may lack columns."""
    return reduce(or_, _derived_by_question().values(), {})


def _derived_by_question() -> Mapping[str, Mapping[str, Callable[[Tables], pd.DataFrame]]]:
    """Returns each question's derived tables, from the variable DERIVED of its module `tables`."""
    return {name: getattr(module, "DERIVED", {}) for name, module in modules("tables").items()}


def question_of(table: str) -> str | None:
    """Returns the question whose stage makes a table, or whose section derives it."""
    derives = _derived_by_question()
    known = {name: (*each.tables, *derives.get(name, ())) for name, each in questions().items()}
    return next((name for name, tables in known.items() if table in tables), None)


def with_derived(tables: Tables) -> Tables:
    """Returns the tables together with the derived tables."""
    return {**tables, **{name: derive(tables) for name, derive in derived().items()}}
