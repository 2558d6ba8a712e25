"""Statistics of settings on held-out networks: DataFrame in, DataFrame out.

A setting's relative power is its power over that of the network's omniscient bound, so that
networks of any rate compare. Its held-out score is the geometric mean of that over the held-out
networks: the order of settings by it does not depend on the bounds, and no network outweighs
another. A failed run has power 0, and so has the score then; nothing can be related to that.

Frames of settings, networks and runs are as `experiments.hold_out` writes them.
"""

import math

import numpy as np
import pandas as pd

from reports import statistics
from reports.frames import Record, records
from reports.metrics import POWER

PUBLISHED, TUNED, BOTH = "published", "tuned", "both"


def distinct_settings(settings: pd.DataFrame) -> pd.DataFrame:
    """One row for each controller and constants: the one that is best, or else the first.

    Its origin is BOTH where the best published and a tuned setting are the same.
    """
    ordered = settings.sort_values("best", ascending=False, kind="stable")
    groups = ordered[ordered["best"]].groupby(["controller", "constants"])["origin"]
    origins = groups.agg(lambda each: BOTH if each.nunique() > 1 else each.iloc[0])
    kept = ordered.drop_duplicates(["controller", "constants"]).sort_values("trial").copy()
    keys = pd.MultiIndex.from_frame(kept[["controller", "constants"]])
    kept["origin"] = origins.reindex(keys).fillna(PUBLISHED).to_numpy()
    return kept.reset_index(drop=True)


def relative_power(runs: pd.DataFrame, networks: pd.DataFrame) -> pd.DataFrame:
    """Mean power of each setting on each network: trial, network, runs, power, relative."""
    groups = _counted(runs).groupby(["trial", "network"], sort=False)[POWER]
    table = pd.DataFrame({"runs": groups.size(), POWER: groups.mean()}).reset_index()
    bounds = networks.set_index("network")[POWER]
    table["relative"] = table[POWER] / table["network"].map(bounds).astype(float)
    return table


def scores(relative: pd.DataFrame, networks: pd.DataFrame) -> pd.DataFrame:
    """Relative power of each setting here and elsewhere: columns trial, training, held_out."""
    wide = relative.pivot_table(index="trial", columns="network", values="relative")
    is_training = networks.set_index("network")["is_training"]
    held = wide[[name for name in wide.columns if not is_training[name]]]
    with np.errstate(divide="ignore"):
        logarithm = np.log(held).mean(axis=1)
    training = wide[[name for name in wide.columns if is_training[name]]].mean(axis=1)
    return pd.DataFrame({"training": training, "held_out": np.exp(logarithm)}).reset_index()


def standings(settings: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    """Settings by their rank on the training network, the best first.

    Returns:
        The columns of settings, then training, held_out, training_rank, held_out_rank (1 is the
        best; equals share the better rank), gap (places lost from the one to the other).
    """
    table = settings.merge(scored, on="trial", validate="one_to_one")
    for name in ("training", "held_out"):
        table[f"{name}_rank"] = table[name].rank(ascending=False, method="min").astype(int)
    table["gap"] = table["held_out_rank"] - table["training_rank"]
    return table.sort_values("training_rank", kind="stable", ignore_index=True)


def rank_correlation(one: "pd.Series[float]", other: "pd.Series[float]") -> float:
    """Spearman's: NaN for fewer than three, or where one is constant."""
    if len(one) < 3 or one.nunique() < 2 or other.nunique() < 2:
        return math.nan
    return float(one.rank().corr(other.rank()))


def gains(
    settings: pd.DataFrame, relative: pd.DataFrame, runs: pd.DataFrame, networks: pd.DataFrame
) -> pd.DataFrame:
    """What each tuned setting changes against its controller's best published one.

    Args:
        settings: all settings, not only distinct ones.
        relative: from `relative_power`.
        runs: their runs, for chance.
        networks: which one is the training network.

    Returns:
        One row for each tuned setting; missing where no published one was replayed: controller;
        for both `published_` and `tuned_`: trial, study, table, row, constants, and the mean power
        on the training network with the half width of its 95 % interval; tuned_study_power (in its
        search); training_gain and held_out_gain (relative), margin (of training_gain: what chance
        explains, 95 %), better and worse (held-out networks by the sign of the change).
    """
    training = networks.loc[networks["is_training"], "network"].iloc[0]
    there = runs[runs["network"] == training]
    power = relative.pivot_table(index="trial", columns="network", values=POWER)
    held_out = scores(relative, networks).set_index("trial")["held_out"]
    best = settings[settings["best"]]
    published = {row["controller"]: row for row in records(best[best["origin"] == PUBLISHED])}
    rows: list[Record] = []
    for after in records(best[best["origin"] == TUNED]):
        row = {"controller": after["controller"], "tuned_study_power": after["study_power"]}
        row |= _described("tuned", after, there)
        before = published.get(after["controller"])
        if before is not None:
            one, other = before["trial"], after["trial"]
            change = (power.loc[other] - power.loc[one]).drop(training)
            ratio = _ratio(power[training][other], power[training][one])
            row |= {
                **_described("published", before, there),
                "training_gain": ratio - 1,
                "margin": ratio * _chance(there, one, other),
                "held_out_gain": _ratio(held_out[other], held_out[one]) - 1,
                "better": (change > 0).sum(),
                "worse": (change < 0).sum(),
            }
        rows.append(row)
    table = pd.DataFrame(rows, columns=["controller", *_TEXT, *_WHOLE, *_REAL])
    return table.astype({**dict.fromkeys(_WHOLE, "Int64"), **dict.fromkeys(_REAL, float)})


_TEXT = tuple(f"{o}_{what}" for o in (PUBLISHED, TUNED) for what in ("study", "table", "constants"))
_WHOLE = (
    *(f"{o}_{what}" for o in (PUBLISHED, TUNED) for what in ("trial", "row")),
    "better",
    "worse",
)
_REAL = (
    *(f"{o}_{what}" for o in (PUBLISHED, TUNED) for what in ("power", "half_width")),
    *("tuned_study_power", "training_gain", "margin", "held_out_gain"),
)


def _described(origin: str, setting: Record, runs: pd.DataFrame) -> Record:
    """A setting, and the mean power of its runs with its interval; failed ones have none."""
    own = _counted(runs[runs["trial"] == setting["trial"]])
    spread = statistics.spread(own[POWER])
    known = {
        f"{origin}_{name}": setting[name]
        for name in ("trial", "study", "table", "row", "constants")
    }
    return {
        **known,
        f"{origin}_power": spread["mean"],
        f"{origin}_half_width": spread["high"] - spread["mean"],
    }


def _counted(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with the power that each counts with: none where its controller failed."""
    return runs.assign(**{POWER: runs[POWER].mask(runs["status"] == "failed", 0.0)})


def _ratio(one: float, other: float) -> float:
    return float(one) / float(other) if other else math.nan


def _chance(runs: pd.DataFrame, one: int, other: int) -> float:
    """The relative difference of two settings' mean powers that chance explains."""
    pair = runs[runs["trial"].isin([one, other])]
    counts = pair.groupby("trial").size()
    return statistics.chance(pair, ["trial"]).margin(counts[one], counts[other])


def best_printed(published: pd.DataFrame, network: str) -> pd.DataFrame:
    """The published row of each controller whose printed power on the network is the greatest.

    Args:
        published: columns table, row, controller, network and, if any is printed, power.
        network: where it was measured.

    Returns:
        These rows, the first of equals, with the controller as index.
    """
    rows = published.reindex(columns=["controller", "network", "table", "row", POWER])
    rows = rows[rows["network"] == network].dropna(subset=[POWER])
    rows = rows.sort_values(POWER, ascending=False, kind="stable").drop_duplicates("controller")
    return rows.set_index("controller")
