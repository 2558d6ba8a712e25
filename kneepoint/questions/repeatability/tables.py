"""The spread of repeated runs: of the emulator, on the calibrated host, and of real runs."""

from collections.abc import Iterator

import pandas as pd

from kneepoint.analysis import statistics
from kneepoint.analysis.frames import Parts, Record, records, together
from kneepoint.analysis.inventory import InventoryEntry, experiment_entry, not_run
from kneepoint.analysis.metrics import METRICS, per_metric
from kneepoint.analysis.results import Repeats, Results
from kneepoint.common.tables import Tables, real, table, text
from kneepoint.config.study import EMULATOR, MAHIMAHI

CALIBRATED = "calibrated"
"""The value of `whose` for the emulator's runs on the calibrated host; otherwise an engine."""
_OF = ["whose", "setting", "label"]

TABLES = (
    table(
        "repeatability_runs",
        "a run of a repeated setting; `whose` names its engine: emulator, calibrated (the emulator "
        "on the calibrated host) or mahimahi",
        text("whose", "setting", "label"),
        per_metric(),
    ),
    table(
        "repeatability_published",
        "a published mean of a repeated setting",
        text("whose", "setting", "metric", "source"),
        real("published_mean", "published_standard_deviation", "published_n"),
        real("published_step", "published_standard_deviation_step"),
    ),
)


def inventory_entries(results: Results) -> Iterator[InventoryEntry]:
    """Yields the runs of repeated settings."""
    for engine, repeats in ((EMULATOR, results.repeats), (MAHIMAHI, results.real_repeats)):
        for each in repeats:
            about: Record = {"title": each.config.title, "settings": len(each.config.settings)}
            about["controllers"] = list(dict.fromkeys(s.controller for s in each.config.settings))
            yield experiment_entry(each.name, "repeat", engine, **about), each.runs
    repeated = {each.name for each in results.real_repeats}
    for name, wanted in results.workflow.repeats.items():
        if wanted.engine == MAHIMAHI and name not in repeated:
            yield not_run(name)


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the tables. Runs of a setting that several files repeat on a network are pooled."""
    found = Parts(list)
    first: dict[tuple[str, ...], tuple[str, str]] = {}
    predicted = results.table("agreement")
    for engine, every in ((EMULATOR, results.repeats), (MAHIMAHI, results.real_repeats)):
        for repeats in every:
            runs = statistics.succeeded(repeats.runs).assign(whose=engine)
            alike = ["controller", "parameters"]
            keys = runs[["setting", "label", *alike, "network"]].drop_duplicates()
            pooled = {}
            for key in records(keys):
                place = engine, key["controller"], key["network"], key["parameters"]
                pooled[key["setting"]] = first.setdefault(place, (key["setting"], key["label"]))
            named = [pooled[own] for own in runs["setting"]]
            runs = runs.assign(**dict(zip(_OF[1:], zip(*named, strict=True), strict=False)))
            found["repeatability_runs"].append(runs[[*_OF, *METRICS]])
            if engine == MAHIMAHI and predicted is not None:
                keys = keys[[own == pooled[own][0] for own in keys["setting"]]]
                keys = keys.drop(columns="network")
                emulated = statistics.succeeded(predicted).merge(keys, on=alike)
                emulated = emulated.assign(whose=CALIBRATED)
                found["repeatability_runs"].append(emulated[[*_OF, *METRICS]])
            published = _published(repeats)
            published = published[published["setting"].isin(pooled)].assign(whose=engine)
            published["setting"] = [pooled[own][0] for own in published["setting"]]
            found["repeatability_published"].append(published)
    return together(found)


def _published(repeats: Repeats) -> pd.DataFrame:
    """Returns the published means of the settings: columns of repeatability_published."""
    rows = [
        {
            "setting": repeats.key(each.setting),
            "metric": each.metric,
            "source": each.source,
            "published_mean": each.mean,
            "published_standard_deviation": each.standard_deviation,
            "published_n": each.n,
            "published_step": each.step,
            "published_standard_deviation_step": each.standard_deviation_step or each.step,
        }
        for each in repeats.config.published
    ]
    return pd.DataFrame(rows, columns=None if rows else ["setting"])


def spreads(tables: Tables) -> pd.DataFrame:
    """Returns the spread of each metric over the runs of each setting."""
    values = tables["repeatability_runs"].set_index(_OF).rename_axis(columns="metric")
    long = pd.DataFrame({"value": values.stack(future_stack=True)}).reset_index()
    return statistics.spreads(long, [*_OF, "metric"])


def beside_published(tables: Tables) -> pd.DataFrame:
    """Compares published means with our means (see `spreads`).

    z is the difference over its standard error, NaN unless both n and deviations are known.
    """
    by = ["whose", "setting", "metric"]
    published = tables["repeatability_published"]
    found = published.merge(spreads(tables), on=by, how="left", validate="many_to_one")
    found["relative"] = found["mean"] / found["published_mean"] - 1
    variances = found["standard_deviation"] ** 2 / found["n"]
    variances += found["published_standard_deviation"] ** 2 / found["published_n"]
    return found.assign(z=(found["mean"] - found["published_mean"]) / variances**0.5)


DERIVED = {
    "repeatability": spreads,
    "repeatability_beside_published": beside_published,
}
