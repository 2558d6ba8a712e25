"""The claims of a report as rows: what is claimed, where, and the command that checks it.

Every number is one of the analysis's tables. What the command prints lies between `low` and `high`.
"""

import json
import math
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from analysis.frames import Record, records, select
from analysis.metrics import METRICS, POWER, as_printed
from analysis.schema import AGREEING
from common.tables import Tables
from reports import parts

COLUMNS = ("id", "claim", "part", "table", "value", "low", "high", "unit", "command")


def claims(tables: Tables, config: str) -> pd.DataFrame:
    """Returns a row for each claim: columns COLUMNS.

    Args:
        tables: those of the analysis.
        config: path of the configuration, for the commands.

    Raises:
        KneepointError: a table is missing or damaged.
    """
    found = [
        *_audited(tables),
        *_swept(tables),
        *_tuned(tables),
        *_recovered(tables),
        *_held_out(tables),
        *_confirmed(tables),
    ]
    where = [] if config == "config/config.yaml" else ["--config", config]
    rows = [
        {**row, "id": f"claim-{number}", "command": shlex.join([*row["command"], *where])}
        for number, row in enumerate(found, 1)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _audited(tables: Tables) -> Iterator[Record]:
    """One more run of ours of each row that agrees: its power, or what else was printed."""
    run = tables["settings_run"]
    run = run[run["traffic"].isna() & (run["engine"] == "emulator")]
    setting = ["controller", "network", "constants"]
    seeds = dict(zip(run[setting].itertuples(index=False, name=None), run["seed"], strict=True))
    audit = tables["audit"]
    for row in records(audit[audit["verdict"].isin(AGREEING)]):
        printed = [each for each in (POWER, *METRICS) if row[f"published_{each}"] > 0]
        place = (row["controller"], row["network"], row["constants"])
        metric = printed[0] if printed else POWER
        if place not in seeds or not row[f"low_{metric}"] < math.inf:
            continue
        yield _claim(
            f"Row {row['row'] + 1} of {row['table']} is {row['verdict']}: {metric} is "
            f"{as_printed(row, metric)} as printed, and the mean of ours is the value",
            parts.PUBLISHED,
            "audit",
            [row[f"{which}_{metric}"] for which in ("ours", "low", "high")],
            METRICS[metric].unit,
            [*_run(*place), "--seed", str(seeds[place])],
        )


def _swept(tables: Tables) -> Iterator[Record]:
    for row in records(tables["sweeps"]):
        points = select(tables["sweep_points"], sweep=row["sweep"])
        tied = points[points["tied"] | points["best"]]["value"]
        yield _claim(
            f"The best {row['constant']} of {row['controller']} on {row['network']}, beside values "
            "whose power differs by no more than chance",
            parts.FOUND,
            "sweeps",
            [row["best_value"], tied.min(), tied.max()],
            row["unit"],
            ["kneepoint", "study", row["best_study"]],
        )


def _tuned(tables: Tables) -> Iterator[Record]:
    """A search is the same on every machine: what it finds needs no tolerance."""
    searches = tables["searches"]
    for search in records(searches[searches["tunes"] & (searches["engine"] == "emulator")]):
        name, command = search["search"], ["kneepoint", "study", search["search"]]
        said = f"The power of the best trial of {name}"
        powers = [search[POWER]] * 3
        yield _claim(said, parts.FOUND, "searches", powers, METRICS[POWER].unit, command)
        for row in records(select(tables["search_constants"], search=name)):
            near = [row["near_low"], row["near_high"]]
            has_near = pd.notna(near).all()
            said = f"The best {row['constant']} of {search['controller']} that {name} found"
            yield _claim(
                f"{said}, beside those of its nearly best trials" if has_near else said,
                parts.FOUND,
                "search_constants",
                [row["best"], *(near if has_near else [row["best"]] * 2)],
                row["unit"],
                command,
            )


def _recovered(tables: Tables) -> Iterator[Record]:
    for row in records(tables["search_constants"].dropna(subset=["pinned_low"])):
        yield _claim(
            f"{row['constant']}, which {row['search']} fits to published tables, is "
            f"{row['verdict']}",
            parts.PUBLISHED,
            "search_constants",
            [row["best"], row["pinned_low"], row["pinned_high"]],
            row["unit"],
            ["kneepoint", "study", row["search"]],
        )


def _held_out(tables: Tables) -> Iterator[Record]:
    """Gains and losses whose interval does not hold 1: new runs must agree about the direction."""
    networks, gains = tables["held_out_networks"], tables["held_out_gains"]
    held = networks[~networks["is_training"].astype(bool)]["network"]
    for row in records(gains[(gains["gain_low"] > 0) | (gains["gain_high"] < 0)]):
        both = [_setting(row["controller"], row[f"{o}_constants"]) for o in ("tuned", "published")]
        ends = [1, math.inf] if row["gain_low"] > 0 else [0, 1]
        yield _claim(
            f"The ratio of {row['controller']}'s power as tuned to that as published, on held-out "
            f"networks (95 % interval {1 + row['gain_low']:.3f} to {1 + row['gain_high']:.3f})",
            parts.ELSEWHERE,
            "held_out_gains",
            [1 + row["held_out_gain"], *ends],
            "",
            ["kneepoint", "compare", *both, *(w for name in held for w in ("--network", name))],
        )


def _confirmed(tables: Tables) -> Iterator[Record]:
    """Real runs where the emulator predicts them; there are none without real mahimahi."""
    agreement = tables["agreement"]
    for row in records(agreement[agreement["inside"].fillna(False).astype(bool)]):
        metric = METRICS.get(row["metric"])
        if metric is not None:
            yield _claim(
                f"{row['metric']} of {row['label']} in real mahimahi is as the emulator predicts",
                parts.TRUSTED,
                "agreement",
                [row["real_mean"], row["expected_low"], row["expected_high"]],
                metric.unit,
                [
                    *_run(row["controller"], row["network"], row["constants"]),
                    *("--engine", "mahimahi"),
                ],
            )


def _claim(
    claim: str, part: str, table: str, found: Iterable[float], unit: str, command: list[str]
) -> Record:
    """A claim's row; `found` has its value and the ends of its tolerance."""
    values = (claim, part, table, *found, unit, command)
    return dict(zip(COLUMNS[1:], values, strict=True))


def _run(controller: str, network: str, constants: str) -> list[str]:
    sets = [word for pair in _pairs(constants) for word in ("--set", pair)]
    return ["kneepoint", "run", controller, *sets, "--network", network]


def _setting(controller: str, constants: str) -> str:
    return f"{controller}:{','.join(_pairs(constants))}"


def _pairs(constants: str) -> list[str]:
    values: dict[str, Any] = json.loads(constants)
    return [f"{name}={value!r}" for name, value in values.items()]
