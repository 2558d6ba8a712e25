"""Settings across held-out networks: intervals, interquartile means, performance profiles.

Intervals cover other seeds on the same networks. The settings of a hold-out share the
seed of run k of a network, so that differences are of pairs.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.frames import records
from analysis.metrics import POWER
from analysis.paired import Floats, bootstrap_interval, holm, sign_flip_test
from analysis.profiles import interquartile_means, performance_profiles
from experiments.seeds import derive_seed

FACTORS = (1.0, 1.1, 1.25, 1.5, 2.0)
"""Factors from the best at which performance profiles are evaluated."""
SEED = derive_seed("held_out")
"""Of every bootstrap here."""


def relative_runs(runs: pd.DataFrame, trials: Sequence[int], bounds: "pd.Series[float]") -> Floats:
    """Power relative to the bound of each network: shape (trials, networks, runs).

    Args:
        runs: with columns trial, network and power (0 for failed runs).
        trials: the settings.
        bounds: of each network, by name, the power of its bound.

    Returns:
        The number of runs that every setting has on every network.
    """
    place = runs.groupby(["trial", "network"]).cumcount()
    wide = runs.assign(place=place).pivot_table(
        index=["trial", "network"], columns="place", values=POWER
    )
    keys = pd.MultiIndex.from_product([trials, bounds.index])
    found = wide.reindex(keys).to_numpy(dtype=float).reshape(len(trials), len(bounds), -1)
    common = int((~np.isnan(found)).sum(axis=2).min())
    relative: Floats = found[:, :, :common] / bounds.to_numpy(dtype=float)[None, :, None]
    return relative


def intervals(values: Floats, trials: Sequence[int]) -> pd.DataFrame:
    """Statistics of each setting across networks.

    Args:
        values: of the shape (settings, networks, runs), relative to each network's bound.
        trials: the settings.

    Returns:
        Columns trial, repeats (runs on each network), held_out_low, held_out_high (a 95 % interval
        of the geometric mean over networks of the mean), middle, middle_low, middle_high (the
        interquartile mean of all runs). The interval of a single run is NaN.
    """
    middles = interquartile_means(values, SEED)
    lines = []
    for trial, of_setting, middle in zip(trials, values, middles, strict=True):
        low, high = _interval(_log_means(of_setting))
        lines.append(
            {
                "trial": trial,
                "repeats": values.shape[2],
                "held_out_low": low,
                "held_out_high": high,
                "middle": middle.value,
                "middle_low": middle.low,
                "middle_high": middle.high,
            }
        )
    return pd.DataFrame(lines)


def profiles(values: Floats, trials: Sequence[int]) -> pd.DataFrame:
    """Performance profiles: columns trial, factor, share (of networks), low, high."""
    found = performance_profiles(values, FACTORS, SEED)
    return pd.DataFrame(
        {
            "trial": trial,
            "factor": factor,
            "share": found.share[i, j],
            "low": found.low[i, j],
            "high": found.high[i, j],
        }
        for i, trial in enumerate(trials)
        for j, factor in enumerate(FACTORS)
    )


def paired_gains(gains: pd.DataFrame, values: Floats, trials: Sequence[int]) -> pd.DataFrame:
    """The gains with gain_low, gain_high (95 %) and gain_p, corrected for their number by Holm.

    The p value is that of the sign-flip test over pairs of runs. NaN where there is no gain.
    """
    place = {trial: i for i, trial in enumerate(trials)}
    found = []
    for gain in records(gains):
        pair = gain["published_trial"], gain["tuned_trial"]
        known = [values[place[trial]] for trial in pair if trial in place]
        low = high = p = math.nan
        if len(known) == 2:
            strata = [
                after - before
                for before, after in zip(_log_means(known[0]), _log_means(known[1]), strict=True)
            ]
            low, high = _interval(strata)
            is_finite = all(np.isfinite(each).all() for each in strata)
            p = sign_flip_test(strata, SEED) if is_finite else math.nan
        found.append((low - 1, high - 1, p))
    table = pd.DataFrame(found, columns=["gain_low", "gain_high", "gain_p"], index=gains.index)
    table["gain_p"] = holm(table["gain_p"].tolist())
    return gains.join(table.astype(float))


def _log_means(of_networks: Floats) -> list[Floats]:
    """For each network, values whose mean is the logarithm of its mean, with the same variation.

    These are the linear terms of the logarithm at the mean; a mean of 0 has none.
    """
    means = of_networks.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return list(np.log(means) + (of_networks - means) / means)


def _interval(strata: Sequence[Floats]) -> tuple[float, float]:
    if not all(np.isfinite(each).all() for each in strata):
        return math.nan, math.nan
    low, high = bootstrap_interval(strata, SEED)
    return math.exp(low), math.exp(high)
