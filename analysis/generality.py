"""The price of generality: power lost on one network by tuning on several, and gained elsewhere.

A specialist was tuned on the training network alone, a generalist on several networks of which that
is one. Both run on held-out networks that neither has seen.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.across import SEED
from analysis.frames import Record, records
from analysis.metrics import POWER
from analysis.paired import holm, paired_ratio
from analysis.results import HeldOutRuns, Results
from analysis.statistics import counted


def compute(results: Results, found: HeldOutRuns) -> pd.DataFrame:
    """The table generality."""
    networks_of = {study.name: study.config.networks for study in results.studies}
    tuned = found.settings[found.settings["origin"] == "tuned"]
    is_training = found.networks.set_index("network")["is_training"]
    training = str(is_training.index[is_training][0])
    lines = []
    for controller, settings in tuned.groupby("controller", sort=False):
        by_count = {
            row["trial"]: len(networks_of.get(row["study"], ())) for row in records(settings)
        }
        alone = [row for row in records(settings) if by_count[row["trial"]] == 1]
        several = [row for row in records(settings) if by_count[row["trial"]] > 1]
        for generalist in several:
            for specialist in alone:
                networks = networks_of[generalist["study"]]
                pair = generalist["trial"], specialist["trial"]
                runs = counted(found.runs[found.runs["trial"].isin(pair)])
                by_network = _by_network(runs, *pair)
                lines.append(
                    {
                        "controller": controller,
                        "specialist": specialist["study"],
                        "generalist": generalist["study"],
                        "networks": len(networks),
                        "network_titles": [results.title(each) for each in networks],
                        **_ratio("training", {training: by_network[training]}),
                        **_ratio(
                            "held_out",
                            {name: by_network[name] for name in by_network if name != training},
                        ),
                    }
                )
    table = pd.DataFrame(lines)
    if len(table):
        table["held_out_p"] = holm(table["held_out_p"].tolist())
    return table


def _by_network(runs: pd.DataFrame, one: int, other: int) -> dict[str, tuple[pd.Series, pd.Series]]:
    """The powers of two settings on each network, pair by pair of the same seed."""
    powers = {
        (name, trial): of[POWER].reset_index(drop=True)
        for (name, trial), of in runs.groupby(["network", "trial"], sort=False)
    }
    names = runs["network"].drop_duplicates()
    return {str(name): (powers[name, one], powers[name, other]) for name in names}


def _ratio(where: str, pairs: Mapping[str, tuple[pd.Series, pd.Series]]) -> Record:
    """The generalist's power over the specialist's, with its interval; none if a run failed."""
    names = (f"{where}_{name}" for name in ("change", "low", "high", "p"))
    values = [(one.to_numpy(), other.to_numpy()) for one, other in pairs.values()]
    if not values or any((each <= 0).any() for pair in values for each in pair):
        return dict.fromkeys(names, np.nan)
    found = paired_ratio(values, SEED)
    return dict(zip(names, (found.ratio - 1, found.low - 1, found.high - 1, found.p), strict=True))
