"""The price of generality: power lost on one network by tuning on several, and gained elsewhere.

A specialist was tuned on the training network alone, a generalist on several networks of which that
is one. Both run on held-out networks that neither has seen.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kneepoint.analysis.across import SEED, relative_runs
from kneepoint.analysis.frames import Record, records
from kneepoint.analysis.paired import (
    Floats,
    holm,
    over_networks,
    paired_ratio,
)
from kneepoint.analysis.results import HeldOutRuns, Results
from kneepoint.analysis.statistics import counted


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
                ones = pd.Series(1.0, runs["network"].drop_duplicates())
                values = relative_runs(runs, pair, ones).swapaxes(0, 1)
                powers = dict(zip(ones.index, values, strict=True))
                lines.append(
                    {
                        "controller": controller,
                        "specialist": specialist["study"],
                        "generalist": generalist["study"],
                        "networks": len(networks),
                        "network_titles": [results.title(each) for each in networks],
                        **_ratio("training", [powers.pop(training)]),
                        **_ratio("held_out", list(powers.values())),
                    }
                )
    table = pd.DataFrame(lines)
    if len(table):
        table["held_out_p"] = holm(table["held_out_p"].tolist())
    return table


def _ratio(where: str, powers: Sequence[Floats]) -> Record:
    """The generalist's power over the specialist's, with its intervals; none if a run failed.

    Powers are those of both on each network, pair by pair of the same seed: shape (2, runs).
    """
    names = [f"{where}_{name}" for name in _OF_RATIO]
    if not powers or any((pair <= 0).any() for pair in powers):
        return dict.fromkeys(names, np.nan)
    seeds = paired_ratio([(one, other) for one, other in powers], SEED)
    over = over_networks([np.log(one / other) for one, other in powers], SEED)
    ends = (over.low - 1, over.high - 1, over.p, seeds.low - 1, seeds.high - 1)
    return dict(zip(names, (seeds.ratio - 1, *ends), strict=True))


_OF_RATIO = ("change", "low", "high", "p", "seeds_low", "seeds_high")
"""Those without `seeds_` are over networks: NaN for one."""
