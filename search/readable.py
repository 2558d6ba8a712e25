"""Studies in the form that Optuna's dashboard shows: titles, units and notes."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from kneepoint.common.study_record import natural_value
from kneepoint.common.units import suffix_of, unit_of
from kneepoint.config.study import Direction, Front
from kneepoint.runs.results import OBJECTIVES, TRIAL_METRICS, VIOLATION
from kneepoint.search.loop import BOUND

REPORT = "report.html"
_POWER = "Mbit/s/s"


@dataclass(frozen=True)
class ReadableStudy:
    """A study in the form of Optuna's storages."""

    name: str
    directions: Sequence[Direction]
    value_names: list[str]
    attributes: dict[str, Any]
    note: str
    trials: list[FrozenTrial]


def readable_study(
    folder: str, known: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], report: str
) -> ReadableStudy:
    """Returns a study with its trials.

    Args:
        folder: the name of its folder in the results.
        known: its summary; `units` maps columns of parameters to their declared units.
        rows: its trials, at least one.
        report: HTML of the report, to which the note links; "" for none.
    """
    title = known.get("title", "untitled")
    objective = str(known.get("objective", "value"))
    is_power = objective.endswith(" power") and "log" not in objective
    value_names, columns = [f"{objective} ({_POWER})" if is_power else objective], ["value"]
    directions: Sequence[Direction] = [known["direction"]]
    if OBJECTIVES[0] in rows[0]:
        value_names = [with_unit(name.removeprefix("objective_"), {}) for name in OBJECTIVES]
        columns, directions = list(OBJECTIVES), Front.directions
    goals = [f"{direction} {name}" for direction, name in zip(directions, value_names, strict=True)]
    stated = _stated(known, objective)
    anchor = re.search(rf'id="([\w-]+-{re.escape(folder)})"', report)
    link = f"/{REPORT}#{anchor[1]}" if anchor else f"/{REPORT}"
    place = f"{known.get('controller', '')} on {_text(known.get('networks', []))}"
    lines = [
        f"## {title}\n",
        *([f"[{folder} in the report]({link})\n"] if report else []),
        f"- {place}, engine {known.get('engine', 'unknown')}",
        f"- objective: {' and '.join(goals)}",
        f"- the best: {stated}",
    ]
    attributes = {BEST: stated} | {
        key: _text(value)
        for key, value in known.items()
        if key not in _ELSEWHERE and value not in (None, [], {})
    }
    units: Mapping[str, str] = known.get("units", {})
    names = {name: with_unit(name, units) for name in rows[0]}
    trials = [_trial(row, names, known["searched"], columns) for row in rows]
    name = f"{folder}: {title}"
    return ReadableStudy(name, directions, value_names, attributes, "\n".join(lines), trials)


BEST = "the best"
"""The only attribute that changes when a study ends."""
_ELSEWHERE = ("name", "title", "searched", "units", "best", "failed")


def _stated(known: Mapping[str, Any], objective: str) -> str:
    """Returns the best trial's value with fresh seeds; the dashboard shows the search's value."""
    best = known.get("best") or {}
    if not best.get("runs"):
        return "its value is from the search, and biased by selection"
    value, low, high = (natural_value(objective, best[name]) for name in ("value", "low", "high"))
    return (
        f"{value:.4g} [{low:.4g}, {high:.4g}] with fresh seeds in trial {best['trial']}; its value "
        "in the search is biased by selection"
    )


def _trial(
    row: Mapping[str, Any],
    names: Mapping[str, str],
    searched: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
) -> FrozenTrial:
    distributions: dict[str, BaseDistribution] = {}
    searched = [each for each in searched if each["low"] < each["high"]]
    for each in searched:
        kind: Any = IntDistribution if isinstance(row[each["column"]], int) else FloatDistribution
        distribution = kind(each["low"], each["high"], log=bool(each["log"]))
        distributions[names[each["column"]]] = distribution
    means = {names[name]: row[name] for name in TRIAL_METRICS if not math.isnan(row[name])}
    violation = row.get(VIOLATION)
    trial = create_trial(
        state=TrialState[row["state"]],
        values=[row[name] for name in columns],
        params={names[each["column"]]: row[each["column"]] for each in searched},
        distributions=distributions,
        user_attrs={**means, **({"reason": row["reason"]} if row["reason"] else {})},
        intermediate_values=dict(enumerate(row.get("reports", ()))),
        constraints=None if violation is None else {BOUND: violation},
        # The dashboard reads the constraints from a list.
        system_attrs=None if violation is None else {"constraints": [violation]},
    )
    trial.datetime_start = trial.datetime_complete = None  # the times are not recorded
    return trial


def with_unit(name: str, units: Mapping[str, str]) -> str:
    """Returns the name of a parameter or metric with its unit: throughput (Mbit/s).

    Args:
        name: a column of the results.
        units: declared units by name; for other names, the suffix gives the unit.
    """
    plain = name.removeprefix("parameter_")
    of_name = unit_of(plain)
    unit = units.get(name, _POWER if plain.endswith("power") else of_name)
    unit = {"1": "", "0 or 1": ""}.get(unit, unit)
    if of_name and unit == of_name:
        plain = plain.removesuffix(f"_{suffix_of(plain)}")
    return f"{plain} ({unit})" if unit else plain


def _text(value: object) -> object:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
