"""Power over the values of the only parameter, or the two parameters, that studies vary."""

import json
import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence

import pandas as pd

from kneepoint.analysis import statistics
from kneepoint.analysis.frames import (
    PARAMETER,
    STEP,
    Parts,
    Record,
    parameters_in,
    records,
    select,
    together,
)
from kneepoint.analysis.luck import Luck
from kneepoint.analysis.metrics import METRICS, POWER, per_metric
from kneepoint.analysis.results import Results, StudyRuns
from kneepoint.common.json_text import parse_json
from kneepoint.common.tables import Tables, flag, real, table, text, texts, whole
from kneepoint.stats.intervals import Chance

FEWEST = 8
"""The minimum number of values of a sweep."""

TABLES = (
    table(
        "sweeps",
        "the only parameter that studies vary, and its best value; fresh: whether the best value "
        "ran with fresh seeds; tables: published tables to compare it with",
        text("sweep", "controller", "network", "network_title", "parameter", "unit"),
        texts("tables"),
        whole("studies", "values", "runs"),
        real("least", "greatest", "best_value", "throughput_mbps", "signal_delay_p95_ms"),
        real("power", unit="Mbit/s/s"),
        text("best_study"),
        whole("best_trial", "best_runs"),
        flag("fresh"),
        real("half_width", "margin"),
    ),
    table(
        "sweep_points",
        "a value of a swept parameter and the mean of its runs; if a study chose the value, of "
        "its runs with fresh seeds",
        text("sweep"),
        real("value"),
        whole("runs"),
        per_metric(),
        flag("best", "tied"),
    ),
    table(
        "grid_cells",
        "a cell of a full grid over two parameters, x_name and y_name, on a network: power, ours "
        "and published; networks: of its study; best: the cell that the study chose, with fresh "
        "seeds",
        text("grid", "title", "controller", "network", "network_title"),
        whole("networks"),
        text("x_name", "y_name", "x_unit", "y_unit"),
        text("table", "report", optional=True),
        real("y", "x"),
        whole("row", optional=True),
        real("ours", "published", "step", unit="Mbit/s/s"),
        real("relative"),
        flag("agrees", optional=True),
        flag("best"),
    ),
    table(
        "grid_effects",
        "power at a value of a further parameter, relative to the mean of its cell, over the cells",
        text("grid", "parameter"),
        real("value", "relative"),
    ),
)


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the tables from the emulator's studies."""
    found, studies = Parts(list), results.studies
    luck = Luck(studies, results.repeats, results.table("hold_out"))
    taken: Counter[str] = Counter()
    for alone, alike in _varied_alone(studies).items():
        _sweep(found, results, alone[2], alike, luck, taken)
    for study in studies:
        if study.config.judges_power and study.is_alone:
            for network in study.config.networks:
                _grid(found, results, study, network)
    return together(found)


def _varied_alone(studies: Sequence[StudyRuns]) -> dict[tuple[str, str, str, str], list[StudyRuns]]:
    """Groups studies by controller, network, varied parameter and the values of all others."""
    groups: dict[tuple[str, str, str, str], list[StudyRuns]] = {}
    for study in studies:
        config = study.config
        if not config.judges_power or not study.is_alone or len(config.networks) != 1:
            continue
        varied = _varied(study.runs)
        if len(varied) == 1:
            held = parse_json(study.runs["parameters"].iloc[0])
            others = json.dumps({name: held[name] for name in held if name != varied[0]})
            alike = config.controller, config.networks[0], varied[0], others
            groups.setdefault(alike, []).append(study)
    return groups


def _sweep(
    found: Parts,
    results: Results,
    parameter: str,
    studies: Sequence[StudyRuns],
    luck: Luck,
    taken: Counter[str],
) -> None:
    """Adds a sweep, if it has enough values."""
    controller, network = studies[0].config.controller, studies[0].config.networks[0]
    runs = pd.concat([study.runs for study in studies], ignore_index=True)
    compared = {table for study in studies for table in study.compare}
    groups = statistics.succeeded(runs).groupby(PARAMETER + parameter)
    curve = groups[list(METRICS)].mean().rename_axis("value").reset_index()
    curve.insert(1, "runs", groups.size().to_numpy())
    chosen = _chosen(studies, parameter)
    curve = _with_fresh(curve, {at: metrics for at, (_, metrics) in chosen.items()})
    alone = [study.runs for study in studies if not (study.record.best and study.record.best.runs)]
    listed = set(pd.concat(alone)[PARAMETER + parameter]) if alone else set()
    best = _best(curve, chosen, listed, luck.of(controller, network))
    if best is None or len(curve) < FEWEST:
        return
    best_value = curve["value"][best.label]
    first = runs[runs[PARAMETER + parameter] == best_value].iloc[0]
    study, metrics = chosen.get(best_value, (first["study"], None))
    ends = (metrics["high"] - metrics["low"]) / 2 / metrics[POWER] if metrics else best.half_width
    of_study = runs[(runs["study"] == study) & (runs[PARAMETER + parameter] == best_value)]
    key = f"{controller}-{parameter}-{network}"
    taken[key] += 1
    key = key if taken[key] == 1 else f"{key}-{taken[key]}"
    sweep = {
        "sweep": key,
        "controller": controller,
        "network": network,
        "network_title": results.title(network),
        "parameter": parameter,
        "unit": results.unit(controller, parameter),
        "tables": [each for each in results.published["table"].unique() if each in compared],
        "studies": len(studies),
        "values": len(curve),
        "runs": curve["runs"].sum(),
        "least": curve["value"].min(),
        "greatest": curve["value"].max(),
        "best_value": best_value,
        **{metric: curve[metric][best.label] for metric in METRICS if "queueing" not in metric},
        "best_study": study,
        "best_trial": of_study["trial"].iloc[0],
        "best_runs": best.runs,
        "fresh": metrics is not None,
        "half_width": ends,
        "margin": best.margin,
    }
    points = curve.assign(best=curve.index == best.label, tied=curve.index.isin(best.ties))
    found["sweeps"].append(pd.DataFrame([sweep]))
    found["sweep_points"].append(points.assign(sweep=key))


Chosen = Mapping[float, tuple[str, Mapping[str, float]]]
"""By chosen value, the study that chose it, and its metrics with fresh seeds."""


def _chosen(studies: Sequence[StudyRuns], parameter: str) -> Chosen:
    """Returns the values that studies chose, each from the study with most fresh runs."""
    found: dict[float, tuple[str, Mapping[str, float]]] = {}
    for study in studies:
        best = study.record.best
        if best and best.runs:
            metrics = best.networks[study.config.networks[0]]
            value = float(best.parameters[parameter])
            if value not in found or metrics["runs"] > found[value][1]["runs"]:
                found[value] = study.name, metrics
    return found


def _with_fresh(curve: pd.DataFrame, fresh: Mapping[float, Mapping[str, float]]) -> pd.DataFrame:
    """Replaces the metrics of chosen values, which selection biases, by metrics of fresh runs."""
    columns = ["runs", *METRICS]
    fresh_rows = pd.DataFrame([{"value": at, **metrics} for at, metrics in fresh.items()])
    known = fresh_rows.reindex(columns=["value", *columns]).dropna().set_index("value")
    found = curve.set_index("value")
    found.update(known.astype(float))
    return found.reset_index().astype({"runs": int})


def _best(
    curve: pd.DataFrame, chosen: Chosen, listed: Container[float], chance: Chance
) -> statistics.Best | None:
    """Returns the best point of a curve: the greatest power, with fresh seeds, of chosen values.

    If no study chose a value, the best point is the point of greatest power on the curve. A listed
    value, which no study selected for its luck, is the best if it exceeds the chosen values by more
    than chance.
    """
    fresh = curve[POWER].where(curve["value"].isin(list(chosen)))
    best = statistics.best(fresh, curve["runs"], chance)
    if best is None:
        return statistics.best(curve[POWER], curve["runs"], chance)
    others = curve[[value in listed and value not in chosen for value in curve["value"]]]
    allowed = others["runs"].map(lambda n: best.value * (1 + chance.margin(best.runs, n)))
    beyond = others[POWER][others[POWER] > allowed]
    label = int(beyond.index[int(beyond.to_numpy().argmax())]) if len(beyond) else best.label
    return statistics.best(curve[POWER], curve["runs"], chance, label)


def published_points(tables: Tables) -> pd.DataFrame:
    """Returns the published rows that print a sweep's parameter, for each sweep.

    Empty without the table audit, whose question may be missing.

    Returns:
        Columns sweep, table, row, report, kind, mark, value and the metrics.
    """
    parts = []
    columns = ["sweep", "table", "row", "report", "kind", "mark", "value", *METRICS]
    if "audit" not in tables:
        return pd.DataFrame(columns=columns)
    audited = tables["audit"].rename(columns={f"published_{metric}": metric for metric in METRICS})
    for sweep in records(tables["sweeps"]):
        value = {PARAMETER + sweep["parameter"]: "value"}
        of_network = select(audited, network=sweep["network"]).rename(columns=value)
        for name in sweep["tables"]:
            rows = select(of_network, table=name).assign(sweep=sweep["sweep"])
            parts.append(rows.reindex(columns=columns).dropna(subset=["value"]))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def bests(tables: Tables) -> pd.DataFrame:
    """Returns the best value by each published table's numbers, and our power at this value."""
    lines = []
    printed = published_points(tables).dropna(subset=[POWER])
    for (sweep, name), rows in printed.groupby(["sweep", "table"], sort=False):
        curve = select(tables["sweep_points"], sweep=sweep)
        best = records(rows.sort_values(POWER, ascending=False, kind="stable"))[0]
        here = float(curve.set_index("value")[POWER].get(best["value"], math.nan))
        lines.append(
            {
                "sweep": sweep,
                "table": name,
                "rows": len(rows),
                "row": best["row"],
                "value": best["value"],
                "published": best[POWER],
                "ours": here,
                "relative": here / best[POWER] - 1,
                "below": here / select(curve, best=True)[POWER].iloc[0] - 1,
            }
        )
    return pd.DataFrame(lines)


def _grid(found: Parts, results: Results, study: StudyRuns, network: str) -> None:
    """Adds the grid of a study on a network if it covers all pairs of values of two parameters.

    If the study varies more parameters, the grid has the two that its published table prints, and
    means over the others.
    """
    config = study.config
    varied = _varied(study.runs)
    published = select(results.published, network=network)
    table = next((each for each in study.compare if (published["table"] == each).any()), None)
    rows = select(published, table=table)
    printed = [name for name in varied if _values(rows, name) > 1]
    axes = printed if len(printed) == 2 else varied
    if len(axes) != 2:
        return
    y, x = (PARAMETER + name for name in axes)
    runs = statistics.succeeded(study.runs[study.runs["network"] == network])
    ours = _means(runs, x, y, POWER)
    best, chosen = study.record.best, None
    if best and best.runs and axes == varied and len(config.networks) == 1:
        chosen = float(best.parameters[axes[0]]), float(best.parameters[axes[1]])
        ours.loc[chosen] = best.networks[network][POWER]
    if ours.isna().any(axis=None) or min(ours.shape) < 2:
        return
    is_published = axes == printed
    rows = rows if is_published else rows[:0]
    key = study.name if len(config.networks) == 1 else f"{study.name}-{network}"
    grid = {
        "grid": key,
        "title": config.title,
        "controller": config.controller,
        "network": network,
        "network_title": results.title(network),
        "networks": len(config.networks),
        "x_name": axes[1],
        "y_name": axes[0],
        "x_unit": results.unit(config.controller, axes[1]),
        "y_unit": results.unit(config.controller, axes[0]),
        "table": table if is_published else None,
        "report": rows["report"].iloc[0] if is_published else None,
    }
    names = {y: "y", x: "x", POWER: "published", "row": "row", STEP + POWER: "step"}
    theirs = rows.reindex(columns=list(names)).astype(float).rename(columns=names)
    cells = _cells(ours, theirs)
    is_best = [(y, x) == chosen for y, x in zip(cells["y"], cells["x"], strict=True)]
    found["grid_cells"].append(cells.assign(**grid, best=is_best))
    for name in varied:
        if name not in axes:
            effect = _effect(runs, PARAMETER + name, [x, y])
            found["grid_effects"].append(effect.assign(grid=key, parameter=name))


def _means(rows: pd.DataFrame, x: str, y: str, value: str) -> pd.DataFrame:
    """Returns the mean of `value` over y (rows) and x (columns), both ascending."""
    return rows.pivot_table(index=y, columns=x, values=value, aggfunc="mean").sort_index()


def _effect(runs: pd.DataFrame, column: str, by: Sequence[str]) -> pd.DataFrame:
    """Returns power at each value of a parameter, relative to the mean over its values."""
    power = runs.groupby([*by, column])[POWER].mean()
    relative = power / power.groupby(list(by)).transform("mean") - 1
    return relative.groupby(column).mean().rename_axis("value").rename("relative").reset_index()


def _cells(ours: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Returns a row for each cell of the published grid or, without one, of our grid.

    Args:
        ours: power over y (rows) and x (columns).
        published: rows of the published grid, with columns y, x, published (power), row and step.
    """
    is_printed = len(published) > 0
    printed = _means(published, "x", "y", "published") if is_printed else ours * math.nan
    grids = {"ours": ours.reindex_like(printed), "published": printed}
    stacked = {name: each.stack(future_stack=True) for name, each in grids.items()}
    found = pd.DataFrame(stacked).rename_axis(["y", "x"]).reset_index()
    alone = published.drop_duplicates(["y", "x"], keep=False).drop(columns="published")
    found = found.merge(alone, "left", ["y", "x"])
    found["relative"] = found["ours"] / found["published"] - 1
    agrees = (found["relative"].abs() <= METRICS[POWER].relative).astype("boolean")
    return found.assign(agrees=agrees.where(found["relative"].notna()))


def grids(tables: Tables) -> pd.DataFrame:
    """Summarises each grid: cells, agreeing cells, and the greatest power, ours and published."""
    lines = []
    for _, cells in tables["grid_cells"].groupby("grid", sort=False):
        sizes = cells["relative"].abs()
        names = {"x_name": "x", "y_name": "y"}
        first = cells.drop(columns=["x", "y", "best"]).rename(columns=names)
        lines.append(
            {
                **records(first)[0],
                **_greatest(cells[cells["best"]] if cells["best"].any() else cells, "ours", "best"),
                **_greatest(cells, "published", "published_best"),
                "median": sizes.median(),
                "worst": sizes.max(),
                "cells": len(cells),
                "agreeing": int(cells["agrees"].sum()),
            }
        )
    return pd.DataFrame(lines)


def _greatest(cells: pd.DataFrame, whose: str, name: str) -> Record:
    """Returns the cell of greatest power."""
    known = cells.dropna(subset=[whose])
    best = records(known)[int(known[whose].to_numpy().argmax())] if len(known) else {}
    columns = {"x": "x", "y": "y", "power": whose, "row": "row"}
    return {f"{name}_{what}": best.get(column, math.nan) for what, column in columns.items()}


def _varied(runs: pd.DataFrame) -> list[str]:
    """Returns the parameters that differ among runs, in the order of their numbers of values."""
    names = [name.removeprefix(PARAMETER) for name in parameters_in(runs, varied=True)]
    return sorted(names, key=lambda name: _values(runs, name))


def _values(rows: pd.DataFrame, parameter: str) -> int:
    """Returns the number of distinct values of a parameter."""
    return rows[PARAMETER + parameter].nunique() if PARAMETER + parameter in rows else 0


DERIVED = {"grids": grids, "sweep_bests": bests}
