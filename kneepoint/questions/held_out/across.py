"""Settings across held-out networks: intervals, interquartile means, performance profiles.

Arrays have the shape (settings, networks, runs); a run whose controller failed counts 0. Run k of a
network has the same seed for every setting, so that differences are paired.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from kneepoint.analysis.frames import records
from kneepoint.analysis.metrics import POWER
from kneepoint.runs.seeds import derive_seed
from kneepoint.stats import Floats
from kneepoint.stats.bootstrap import bootstrap_interval, percentile_interval
from kneepoint.stats.paired import Ratio, holm, over_networks
from kneepoint.stats.robust import interquartile_means

FACTORS = np.array([1.0, 1.1, 1.25, 1.5, 2.0])
"""The factors from the best setting at which performance profiles are evaluated."""
SEED = derive_seed("held_out")
"""The seed of every bootstrap in this module."""


def relative_runs(runs: pd.DataFrame, trials: Sequence[int], bounds: "pd.Series[float]") -> Floats:
    """Returns power relative to the bound of each network: shape (trials, networks, runs).

    Args:
        runs: with columns trial, network and power (0 for failed runs).
        trials: the settings.
        bounds: the power of each network's bound, by name.

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


def intervals(values: Floats, trials: Sequence[int], bounds: "pd.Series[float]") -> pd.DataFrame:
    """Returns statistics of each setting across networks: columns of held_out_settings.

    held_out is the geometric mean over networks of the mean. middle is the interquartile mean of
    all runs, which uses more runs than a median and, unlike a mean, does not depend on a single
    network. log_power is the mean over networks and runs of ln(power); NaN if a run failed.
    """
    ends = np.array([[*map(math.exp, _interval(_log_means(each)))] for each in values])
    with np.errstate(divide="ignore"):
        logs = np.log(values * bounds.to_numpy(dtype=float)[None, :, None])
    of_logs = np.array([_interval(list(of_setting)) for of_setting in logs])
    middle, low, high = percentile_interval(interquartile_means, values, SEED)
    return pd.DataFrame(
        {
            "trial": trials,
            "repeats": values.shape[2],
            "held_out_low": ends[:, 0],
            "held_out_high": ends[:, 1],
            "middle": middle,
            "middle_low": low,
            "middle_high": high,
            "log_power": [each.mean() if np.isfinite(each).all() else math.nan for each in logs],
            "log_power_low": of_logs[:, 0],
            "log_power_high": of_logs[:, 1],
        }
    )


def profiles(values: Floats, trials: Sequence[int]) -> pd.DataFrame:
    """Returns the share of networks on which a setting's mean is within a factor of the best mean.

    Dolan and More, Benchmarking optimization software with performance profiles, Mathematical
    Programming 91, 2002. On a network where every setting fails, no setting is within any factor.
    """
    places = pd.MultiIndex.from_product([trials, FACTORS], names=["trial", "factor"])
    found = zip(("share", "low", "high"), percentile_interval(_shares, values, SEED), strict=True)
    return pd.DataFrame({name: each.ravel() for name, each in found}, places).reset_index()


def _shares(runs: Floats) -> Floats:
    """Returns shares of networks: shape (settings, FACTORS)."""
    means = runs.mean(axis=2)
    behind = np.divide(means.max(axis=0), means, out=np.full_like(means, math.inf), where=means > 0)
    within: Floats = (behind[:, :, None] <= FACTORS * (1 + 1e-12)).mean(axis=1)
    return within


def paired_gains(gains: pd.DataFrame, values: Floats, trials: Sequence[int]) -> pd.DataFrame:
    """Adds the intervals (95 %) of gains; NaN where there is no gain.

    gain_low, gain_high and gain_p are over networks, with p corrected by Holm for the number of
    gains; seeds_low and seeds_high are over seeds alone.
    """
    place = {trial: i for i, trial in enumerate(trials)}
    found = []
    for gain in records(gains):
        pair = gain["published_trial"], gain["tuned_trial"]
        known = [values[place[trial]] for trial in pair if trial in place]
        strata = _differences(*map(_log_means, known)) if len(known) == 2 else []
        over, (low, high) = _over_networks(strata), _interval(strata)
        found.append((over.low - 1, over.high - 1, over.p, math.exp(low) - 1, math.exp(high) - 1))
    columns = ["gain_low", "gain_high", "gain_p", "seeds_low", "seeds_high"]
    table = pd.DataFrame(found, columns=columns, index=gains.index)
    table["gain_p"] = holm(table["gain_p"].tolist())
    return gains.join(table.astype(float))


def behind(values: Floats, trials: Sequence[int]) -> pd.DataFrame:
    """Compares each setting with the best: the greatest geometric mean of power over networks.

    Returns:
        Columns trial, behind (its power over the best power, minus 1), behind_low, behind_high
        and behind_p: over networks, with p corrected by Holm for the number of other settings.
        NaN where a setting fails on a network.
    """
    logs = [_log_means(each) for each in values]
    scores = [float(np.mean([each.mean() for each in of])) for of in logs]
    best = int(np.argmax(np.nan_to_num(scores, nan=-math.inf)))
    found = [
        (ratio.ratio - 1, ratio.low - 1, ratio.high - 1, math.nan if i == best else ratio.p)
        for i, ratio in enumerate(_over_networks(_differences(logs[best], of)) for of in logs)
    ]
    columns = ["behind", "behind_low", "behind_high", "behind_p"]
    table = pd.DataFrame(found, columns=columns)
    table["behind_p"] = holm(table["behind_p"].tolist())
    return table.assign(trial=trials)


def duels(values: Floats, trials: Sequence[int]) -> pd.DataFrame:
    """Counts the networks on which each setting has more mean power than each other setting.

    p is from the sign-flip test over networks, corrected by Holm for the number of pairs of
    settings; NaN where a setting fails on a network.
    """
    means, logs = values.mean(axis=2), [_log_means(each) for each in values]
    pairs = list(combinations(range(len(trials)), 2))
    p_values = [_over_networks(_differences(logs[i], logs[j])).p for i, j in pairs]
    rows = [
        (trials[one], trials[other], values.shape[1], int((means[one] > means[other]).sum()), p)
        for (i, j), p in zip(pairs, holm(p_values), strict=True)
        for one, other in ((i, j), (j, i))
    ]
    return pd.DataFrame(rows, columns=["trial", "other", "networks", "ahead", "p"])


def _differences(one: Sequence[Floats], other: Sequence[Floats]) -> list[Floats]:
    return [after - before for before, after in zip(one, other, strict=True)]


def _log_means(of_networks: Floats) -> list[Floats]:
    """Returns, for each network, values whose mean is the logarithm of the runs' mean.

    Logarithms are linearised at the mean, so that relative variation stays the same; not finite for
    a mean of 0.
    """
    means = of_networks.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return list(np.log(means) + (of_networks - means) / means)


def _interval(strata: Sequence[Floats]) -> tuple[float, float]:
    return bootstrap_interval(strata, SEED) if _is_finite(strata) else (math.nan, math.nan)


def _over_networks(strata: Sequence[Floats]) -> Ratio:
    if _is_finite(strata):
        return over_networks(strata, SEED)
    return Ratio(math.nan, math.nan, math.nan, math.nan, len(strata), 0)


def _is_finite(strata: Sequence[Floats]) -> bool:
    return bool(strata) and all(np.isfinite(each).all() for each in strata)
