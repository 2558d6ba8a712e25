"""Rounds of tuning against worst cases."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from kneepoint.analysis.frames import Record, records, select
from kneepoint.analysis.inventory import InventoryEntry, experiment_entry
from kneepoint.analysis.results import Results
from kneepoint.common.tables import Tables, read_frame, real, table, text, texts, whole
from kneepoint.config.study import EMULATOR, Study
from kneepoint.questions.hardening import Hardening, Settings
from kneepoint.questions.hardening.plan import ROUNDS
from kneepoint.runs.results import RUNS

TABLES = (
    table(
        "hardening_rounds",
        "a round of tuning a controller against its own worst cases: power relative to the "
        "omniscient sender's on the networks of the first tuning, and relative to the opponent's "
        "on the round's worst case; parameters, network: JSON",
        text("hardening"),
        whole("repeat", "round"),
        real("own", "worst_case"),
        text("parameters", "network", "title", "controller"),
        text("opponent", optional=True),
        texts("network_titles"),
        whole("worst_case_trials"),
    ),
)


@dataclass(frozen=True)
class HardeningRuns:
    """A controller tuned against its own worst cases: frames as `plan` writes them."""

    name: str
    config: Hardening
    tune: Study
    worst_case: Study
    rounds: pd.DataFrame
    runs: pd.DataFrame


def hardened(results: Results) -> list[HardeningRuns]:
    """Reads the controllers that were tuned against their worst cases."""
    found = []
    for name, wanted in results.workflow.settings.part(Settings).hardening.items():
        tune, worst = (results.workflow.studies[n] for n in (wanted.tune, wanted.worst_case))
        folder = results.folder / "hardening" / name
        rounds = read_frame(folder / ROUNDS.file, ROUNDS)
        runs = read_frame(folder / "runs.parquet", RUNS)
        found.append(HardeningRuns(name, wanted, tune, worst, rounds, runs))
    return found


def inventory_entries(results: Results) -> Iterator[InventoryEntry]:
    """Yields the runs of all rounds."""
    for each in results.part(hardened):
        titles = [results.title(name) for name in each.tune.networks]
        about: Record = {"title": each.config.title, "settings": len(each.rounds)}
        about |= {"controllers": [each.tune.controller], "network_titles": titles}
        yield experiment_entry(each.name, "hardening", EMULATOR, **about), each.runs


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the table."""
    rounds = [_rounds(results, hardening) for hardening in results.part(hardened)]
    return {"hardening_rounds": pd.concat(rounds, ignore_index=True)} if rounds else {}


def _rounds(results: Results, hardening: HardeningRuns) -> pd.DataFrame:
    columns = ["repeat", "round", "own", "worst_case", "parameters", "network"]
    tune, worst_case = hardening.tune, hardening.worst_case
    titles = [results.title(name) for name in tune.networks]
    return hardening.rounds[columns].assign(
        hardening=hardening.name,
        title=hardening.config.title,
        controller=tune.controller,
        opponent=worst_case.opponent.controller if worst_case.opponent else None,
        network_titles=pd.Series([titles] * len(hardening.rounds)),
        worst_case_trials=worst_case.sampler.trials or 0,
    )


def hardenings(tables: Tables) -> pd.DataFrame:
    """Summarises each hardening, and counts the repeats whose last worst case is milder."""
    lines = []
    for _, rounds in tables["hardening_rounds"].groupby("hardening", sort=False):
        last = int(rounds["round"].max())
        before, after = (
            select(rounds, round=number).sort_values("repeat")["worst_case"].to_numpy()
            for number in (0, last)
        )
        first = records(rounds)[0]
        milder = int((after > before).sum())
        lines.append({**first, "rounds": last, "repeats": len(before), "milder": milder})
    return pd.DataFrame(lines)


def hardening_summary(tables: Tables) -> pd.DataFrame:
    """Returns the median, minimum and maximum values of each round's repeats."""
    found = tables["hardening_rounds"].groupby(["hardening", "round"], sort=False)
    columns = {
        f"{name}_{statistic}": (name, function)
        for name in ("worst_case", "own")
        for statistic, function in (("median", "median"), ("least", "min"), ("greatest", "max"))
    }
    return found.agg(**columns).reset_index()


DERIVED = {"hardenings": hardenings, "hardening_summary": hardening_summary}
