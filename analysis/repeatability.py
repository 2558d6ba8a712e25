"""How repeatable runs are: the emulator's, real ones, and the emulator's on the calibrated host."""

import pandas as pd

from analysis import statistics
from analysis.frames import together
from analysis.metrics import METRICS
from analysis.results import Results
from analysis.schema import STAGES
from common.tables import Tables
from experiments.models.study import EMULATOR, MAHIMAHI

CALIBRATED = "calibrated"
"""Whose runs they are: those of the emulator on the calibrated host; or an engine's."""
_OF = ["whose", "setting", "label"]


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    found: dict[str, list[pd.DataFrame]] = {t.name: [] for t in STAGES["repeatability"].tables}
    for engine in (EMULATOR, MAHIMAHI):
        for repeats in results.repeats(engine):
            label = repeats.settings.set_index("setting")["label"]
            runs = statistics.succeeded(repeats.runs).assign(whose=engine)
            parts = [runs]
            if engine == MAHIMAHI and (emulated := results.emulated()) is not None:
                keys = runs[["setting", "controller", "constants"]].drop_duplicates()
                parts.append(emulated.merge(keys, on=["controller", "constants"]))
                parts[-1] = statistics.succeeded(parts[-1]).assign(whose=CALIBRATED)
            every = pd.concat(parts, ignore_index=True)
            every["label"] = every["setting"].map(label)
            found["repeatability_runs"].append(every[[*_OF, *METRICS]])
            published = repeats.published[repeats.published["setting"].isin(runs["setting"])]
            named = published.set_index(["setting", "metric", "source"]).add_prefix("published_")
            published = named.reset_index().assign(whose=engine)
            found["repeatability_published"].append(published)
    return together(found)


def spreads(tables: Tables) -> pd.DataFrame:
    """The spread of each metric over the runs of each setting."""
    return statistics.repeatability(tables["repeatability_runs"], _OF)


def beside_published(tables: Tables) -> pd.DataFrame:
    """Published means beside ours.

    Returns:
        One row for each published mean: its columns, ours (see `spreads`), relative (ours over
        published, less one), z (the difference over its standard error, NaN unless both n and
        deviations are known).
    """
    by = ["whose", "setting", "metric"]
    published = tables["repeatability_published"]
    found = published.merge(spreads(tables), on=by, how="left", validate="many_to_one")
    found["relative"] = found["mean"] / found["published_mean"] - 1
    variances = found["standard_deviation"] ** 2 / found["n"]
    variances += found["published_standard_deviation"] ** 2 / found["published_n"]
    return found.assign(z=(found["mean"] - found["published_mean"]) / variances**0.5)
