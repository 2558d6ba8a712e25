"""How repeatable runs are: the emulator's, real ones, and the emulator's on the calibrated host."""

import pandas as pd

from analysis import statistics
from analysis.frames import together
from analysis.metrics import POWER
from analysis.results import Results
from analysis.schema import STAGES
from common.tables import Tables
from experiments.models.study import EMULATOR, MAHIMAHI

CALIBRATED = "calibrated"
"""Whose runs they are: those of the emulator on the calibrated host; or an engine's."""


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    found: dict[str, list[pd.DataFrame]] = {t.name: [] for t in STAGES["repeatability"].tables}
    for engine in (EMULATOR, MAHIMAHI):
        repeats = results.repeats(engine)
        if not repeats:
            continue
        runs = pd.concat([each.runs for each in repeats], ignore_index=True)
        published = pd.concat([each.published for each in repeats], ignore_index=True)
        settings = pd.concat([each.settings for each in repeats], ignore_index=True)
        label = settings.set_index("setting")["label"]
        spread = statistics.repeatability(runs, ["setting"])
        beside = statistics.beside_published_spread(
            spread, published[published["setting"].isin(spread["setting"])]
        )
        good = statistics.succeeded(runs)
        parts = {
            "repeatability": spread.assign(whose=engine, label=spread["setting"].map(label)),
            "repeatability_published": beside.assign(
                whose=engine, label=beside["setting"].map(label)
            ),
            "repeatability_runs": good[["setting", POWER]].assign(whose=engine),
        }
        if engine == MAHIMAHI:
            again = emulated_spread(good, results.emulated())
            again = again.assign(whose=CALIBRATED, label=again["setting"].map(label))
            parts["repeatability"] = pd.concat([parts["repeatability"], again])
        for name, frame in parts.items():
            found[name].append(frame)
    return together(found)


def emulated_spread(repeated: pd.DataFrame, emulated: pd.DataFrame | None) -> pd.DataFrame:
    """The emulator's spread of settings that were repeated for real, on the calibrated host.

    Args:
        repeated: the real runs, with columns setting, controller, constants.
        emulated: the emulator's runs of confirmed settings, if there are any.

    Returns:
        As `statistics.repeatability`; no row for a setting that the emulator did not run.
    """
    if emulated is None:
        return statistics.repeatability(repeated.head(0), ["setting"])
    keys = repeated[["setting", "controller", "constants"]].drop_duplicates()
    return statistics.repeatability(
        emulated.merge(keys, on=["controller", "constants"]), ["setting"]
    )
