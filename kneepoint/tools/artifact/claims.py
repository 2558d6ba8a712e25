"""The claims of a report as a table: each claim, its place, and the command that checks it.

Every number is from a table of the analysis. The value that the command prints must lie between
`low` and `high`.
"""

import math
import shlex
from collections.abc import Iterator, Sequence

import pandas as pd

from kneepoint.analysis.frames import Record, records, select
from kneepoint.analysis.metrics import METRICS, POWER, as_printed
from kneepoint.common.json_text import parse_json
from kneepoint.common.tables import Tables
from kneepoint.config.study import POWERS
from kneepoint.reports import parts
from kneepoint.runs.audit_table import AGREEING

COLUMNS = ("id", "claim", "part", "table", "value", "low", "high", "unit", "command")


def claims(tables: Tables, config: str) -> pd.DataFrame:
    """Returns a row for each claim: columns COLUMNS.

    Args:
        tables: tables of the analysis.
        config: path of the configuration, for the commands.

    Raises:
        KneepointError: a table is missing or damaged.
    """
    where = [] if config == "config/config.yaml" else ["--config", config]
    each = {
        "audit": _audited,
        "sweeps": _swept,
        "searches": _tuned,
        "search_parameters": _recovered,
        "held_out_gains": _held_out,
        "agreement": _confirmed,
    }
    there = (
        of_table for name, of_table in each.items() if name in tables
    )  # of the installed questions
    found = [row for of_table in there for row in of_table(tables)]
    rows = [
        {
            "part": parts.part_of_table(row["table"]),
            **row,
            "id": f"claim-{number}",
            "command": shlex.join(["kneepoint", *row["command"], *where]),
        }
        for number, row in enumerate(found, 1)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _claim(table: str, claim: str, found: Sequence[float], unit: str, *command: str) -> Record:
    """Returns a claim's row; `found` is its value and, unless exact, the ends of the tolerance."""
    value, low, high = found if len(found) == 3 else [*found] * 3
    numbers = {"value": value, "low": low, "high": high}
    return {"table": table, "claim": claim, **numbers, "unit": unit, "command": command}


def _audited(tables: Tables) -> Iterator[Record]:
    """Claims of replayed rows: one further run of each row, by power or another printed metric."""
    run = tables["settings_run"]
    run = run[run["traffic"].isna() & (run["engine"] == "emulator")]
    setting = ["controller", "network", "parameters"]
    seeds = dict(zip(run[setting].itertuples(index=False, name=None), run["seed"], strict=True))
    audit = tables["audit"]
    for row in records(audit[audit["verdict"].isin(AGREEING)]):
        metric = next((each for each in (POWER, *METRICS) if row[f"published_{each}"] > 0), POWER)
        place = (row["controller"], row["network"], row["parameters"])
        if place in seeds and row[f"low_{metric}"] < math.inf:
            yield _claim(
                "audit",
                f"Row {row['row'] + 1} of {row['table']} is {row['verdict']}: {metric} is "
                f"{as_printed(row, metric)} as printed, and the value is the mean of our runs",
                [row[f"{which}_{metric}"] for which in ("ours", "low", "high")],
                METRICS[metric].unit,
                *_run(*place),
                *("--seed", str(seeds[place])),
            )


def _swept(tables: Tables) -> Iterator[Record]:
    for row in records(select(tables["sweeps"], fresh=True)):
        points = select(tables["sweep_points"], sweep=row["sweep"])
        tied = points[points["tied"] | points["best"]]["value"]
        yield _claim(
            "sweeps",
            f"The best {row['parameter']} of {row['controller']} on {row['network']}, with the "
            "range of values whose power differs by no more than chance",
            [row["best_value"], tied.min(), tied.max()],
            row["unit"],
            *("study", row["best_study"]),
        )


def _tuned(tables: Tables) -> Iterator[Record]:
    """Claims of searches, which are exact: a search is the same on every machine."""
    searches = tables["searches"]
    searches = searches[(searches["engine"] == "emulator") & (searches["fresh_runs"] > 0)]
    for search in records(searches):
        name, is_power = search["search"], search["objective"] in (*POWERS, "front")
        said = f"The objective of {name} for its best trial, with fresh seeds"
        value = math.exp(search["best_value"]) if search["is_logarithm"] else search["best_value"]
        unit = METRICS[POWER].unit if is_power else ""
        yield _claim("searches", said, [value], unit, "study", name, "--json")
        for row in records(select(tables["search_parameters"], search=name)):
            found = [row["best"]]
            said = f"The best {row['parameter']} of {search['controller']} that {name} found"
            near = [row["near_low"], row["near_high"]]
            if pd.notna(near).all():
                found += near
                said = f"{said}, with its range over the nearly best trials"
            yield _claim("search_parameters", said, found, row["unit"], "study", name)


def _recovered(tables: Tables) -> Iterator[Record]:
    for row in records(tables["search_parameters"].dropna(subset=["pinned_low"])):
        said = f"{row['parameter']}, which {row['search']} fits to published tables"
        found = [row["best"], row["pinned_low"], row["pinned_high"]]
        claim = f"{said}, is {row['verdict']}"
        line = _claim("search_parameters", claim, found, row["unit"], "study", row["search"])
        yield line | {"part": parts.PUBLISHED}  # other rows of the table are in another part


def _held_out(tables: Tables) -> Iterator[Record]:
    """Claims of gains and losses beyond the variation of seeds: new runs must agree in sign."""
    networks, gains = tables["held_out_networks"], tables["held_out_gains"]
    held = networks[~networks["is_training"].astype(bool)]["network"]
    for row in records(gains[(gains["seeds_low"] > 0) | (gains["seeds_high"] < 0)]):
        both = (
            f"{row['controller']}:{','.join(_pairs(row[f'{origin}_parameters']))}"
            for origin in ("tuned", "published")
        )
        ends = [1, math.inf] if row["seeds_low"] > 0 else [0, 1]
        yield _claim(
            "held_out_gains",
            f"The ratio of {row['controller']}'s tuned to its published power, on held-out "
            f"networks (95 % interval of seeds alone {1 + row['seeds_low']:.3f} to "
            f"{1 + row['seeds_high']:.3f})",
            [1 + row["held_out_gain"], *ends],
            "",
            *("compare", *both, *(word for name in held for word in ("--network", name))),
        )


def _confirmed(tables: Tables) -> Iterator[Record]:
    """Claims of predicted real runs; empty without results of real mahimahi."""
    agreement = tables["agreement"]
    for row in records(agreement[agreement["inside"].fillna(False).astype(bool)]):
        yield _claim(
            "agreement",
            f"{row['metric']} of {row['label']} in real mahimahi is as the emulator predicts",
            [row["real_mean"], row["expected_low"], row["expected_high"]],
            METRICS[row["metric"]].unit,
            *_run(row["controller"], row["network"], row["parameters"]),
            *("--engine", "mahimahi"),
        )


def _run(controller: str, network: str, parameters: str) -> list[str]:
    sets = [word for pair in _pairs(parameters) for word in ("--set", pair)]
    return ["run", controller, *sets, "--network", network]


def _pairs(parameters: str) -> list[str]:
    return [f"{name}={value!r}" for name, value in parse_json(parameters).items()]
