"""Settings on networks that no search has seen.

A setting's relative power is its power over the power of the network's omniscient bound, so that
networks of different rates are comparable. Its held-out score is the geometric mean of relative
power over the held-out networks: the order of settings by score does not depend on the bounds, and
no network outweighs another. A failed run has power 0. A setting whose runs all fail on a network
has score 0, and no ratio to it exists.

On the training network, the power of a tuned setting is the value that its search states, from
fresh seeds. On held-out networks, settings are compared by pairs of runs. Frames of settings,
networks and runs are as `plan` writes them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record, records
from kneepoint.analysis.inventory import InventoryEntry, experiment_entry
from kneepoint.analysis.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from kneepoint.analysis.results import Results, StudyRuns
from kneepoint.analysis.statistics import counted, on_front, succeeded
from kneepoint.common.tables import Tables, flag, real, table, text, texts, whole
from kneepoint.config.study import EMULATOR
from kneepoint.questions.held_out import across
from kneepoint.questions.held_out.across import SEED, relative_runs
from kneepoint.questions.held_out.plan import NETWORKS
from kneepoint.runs.hold_out import SETTINGS
from kneepoint.runs.results import RUNS
from kneepoint.stats import Floats
from kneepoint.stats.intervals import Chance, t_quantile
from kneepoint.stats.paired import holm, over_networks, paired_ratio
from kneepoint.stats.ranks import median_interval, rank_correlation

TABLES = (
    table(
        "held_out_settings",
        "a distinct setting; power relative to the omniscient bound. The best settings, which "
        "were repeated, also have ranks, and 95 % intervals over seeds alone of held_out, of the "
        "interquartile mean of all runs (middle) and of the mean of ln(power in Mbit/s/s); "
        "behind: held_out over the greatest held_out, minus 1, with its interval over networks",
        SETTINGS.columns,
        real("parameter_*", "training", "held_out"),
        whole("training_rank", "held_out_rank", "gap", optional=True),
        text("label", optional=True),
        whole("repeats", optional=True),
        real("held_out_low", "held_out_high", "middle", "middle_low", "middle_high"),
        real("log_power", "log_power_low", "log_power_high"),
        real("behind", "behind_low", "behind_high", "behind_p"),
    ),
    table(
        "held_out_gains",
        "the gain of a tuned setting over its controller's best published setting; held_out_gain "
        "has 95 % intervals over networks (gain_low, gain_high, gain_p by Holm) and over seeds "
        "alone",
        text("controller"),
        text("published_study", "published_table", "published_parameters", optional=True),
        text("tuned_study", "tuned_table", "tuned_parameters", optional=True),
        whole("published_trial", "published_row", "tuned_trial", "tuned_row", optional=True),
        whole("better", "worse", optional=True),
        real("published_power", "published_half_width", unit="Mbit/s/s"),
        real("tuned_power", "tuned_half_width", unit="Mbit/s/s"),
        real("training_gain", "margin", "held_out_gain", "gain_low", "gain_high", "gain_p"),
        real("seeds_low", "seeds_high"),
    ),
    table(
        "held_out_profiles",
        "the share of held-out networks on which one of the best settings is within a factor of "
        "the network's best, with its 95 % interval",
        whole("trial"),
        real("factor", "share", "low", "high"),
    ),
    table(
        "held_out_duels",
        "a tuned setting against another: on how many of the held-out networks its mean power is "
        "greater, and the p value of the difference over networks, by Holm",
        whole("trial", "other", "networks", "ahead"),
        real("p"),
    ),
    table(
        "held_out_networks",
        "a network with its omniscient bound, the setting that comes nearest to it, and the "
        "studies that searched it",
        text("network", "title"),
        flag("is_training"),
        texts("searched_by"),
        real("capacity_mbps", "signal_delay_p95_ms"),
        real("power", unit="Mbit/s/s"),
        real("nearest"),
        text("nearest_label"),
    ),
    table(
        "held_out_power",
        "one of the best settings on a network: mean power, in which a failed run counts 0, also "
        "relative to the bound; over the successful runs, throughput, delay, power and the "
        "covariance of single runs in Mbit/s and ms; whether it is on the Pareto front, and its "
        "knee",
        whole("trial"),
        text("network"),
        whole("runs"),
        real("power", "standard_deviation", unit="Mbit/s/s"),
        real("relative"),
        whole("succeeded", optional=True),
        real("throughput_mbps", "signal_delay_p95_ms"),
        real("succeeded_power", unit="Mbit/s/s"),
        real("throughput_variance", "covariance", "delay_variance"),
        flag("on_front", "knee", optional=True),
    ),
    table(
        "generality",
        "a setting tuned on several networks against a setting tuned on the training network "
        "alone: relative change of power, with 95 % intervals over networks (none on the single "
        "training network; p of held-out by Holm) and over seeds alone",
        text("controller", "specialist", "generalist"),
        whole("networks"),
        texts("network_titles"),
        real("training_change", "training_low", "training_high", "training_p"),
        real("training_seeds_low", "training_seeds_high"),
        real("held_out_change", "held_out_low", "held_out_high", "held_out_p"),
        real("held_out_seeds_low", "held_out_seeds_high"),
    ),
)

PUBLISHED, TUNED, BOTH = "published", "tuned", "both"
SURE = 0.05
"""The maximum p value of a gain or a loss beyond chance."""


@dataclass(frozen=True)
class HeldOutRuns:
    """Settings on held-out networks: frames as `plan` writes them.

    Settings have a column `parameter_<name>` for each parameter; networks a column title.
    """

    settings: pd.DataFrame
    networks: pd.DataFrame
    runs: pd.DataFrame


def held_out(results: Results) -> HeldOutRuns | None:
    """Reads the settings, the networks and all runs."""
    found = [results.table("hold_out", schema) for schema in (SETTINGS, NETWORKS, RUNS)]
    settings, networks, runs = found
    if settings is None or networks is None or runs is None:
        return None
    networks = networks.assign(title=networks["network"].map(results.title))
    return HeldOutRuns(settings, networks, runs)


def inventory_entries(results: Results) -> Iterator[InventoryEntry]:
    """Yields the runs of all settings."""
    if found := results.part(held_out):
        yield experiment_entry("hold_out", "hold_out", EMULATOR), found.runs


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the tables; empty without held-out networks."""
    found = results.part(held_out)
    if found is None:
        return {}
    networks = found.networks.sort_values(
        "is_training", ascending=False, kind="stable", ignore_index=True
    )
    relative = relative_power(found.runs, networks)
    relative = with_fresh(relative, found.settings, networks, results.studies)
    scored, distinct = scores(relative, networks), distinct_settings(found.settings)
    ranked = ranks(distinct[distinct["best"]], scored)
    ranked["label"] = _setting_labels(ranked)
    trials = ranked["trial"].tolist()
    wide = relative.pivot_table(index="trial", columns="network", values="relative")
    wide = wide.loc[trials, networks["network"]]
    networks["nearest"] = wide.max().to_numpy()
    networks["nearest_label"] = ranked.set_index("trial")["label"][wide.idxmax()].to_numpy()
    searched = searched_by(results.studies)
    networks["searched_by"] = [searched.get(name, []) for name in networks["network"]]
    bounds = networks[~networks["is_training"]].set_index("network")[POWER]
    best = found.settings.loc[found.settings["best"], "trial"].tolist()
    values = across.relative_runs(counted(found.runs), best, bounds)
    of_ranked = values[[best.index(trial) for trial in trials]]
    own = ranked[["trial", "training_rank", "held_out_rank", "gap", "label"]]
    own = own.merge(across.intervals(of_ranked, trials, bounds), on="trial")
    own = own.merge(across.behind(of_ranked, trials), on="trial")
    settings = distinct.merge(scored, on="trial").merge(own, on="trial", how="left")
    gained = gains(found.settings, relative, networks)
    is_tuned = (ranked["origin"] != PUBLISHED).to_numpy()
    on_networks = wide.reset_index().melt("trial", var_name="network", value_name="relative")
    for more in (relative.drop(columns="relative"), planes(found.runs, trials)):
        on_networks = on_networks.merge(more, on=["trial", "network"], how="left")
    return {
        "held_out_settings": settings,
        "held_out_gains": across.paired_gains(gained, values, best),
        "held_out_networks": networks,
        "held_out_profiles": across.profiles(of_ranked, trials),
        "held_out_duels": across.duels(of_ranked[is_tuned], ranked.loc[is_tuned, "trial"].tolist()),
        "held_out_power": on_networks,
        "generality": generality(results, found),
    }


_SPREAD = (THROUGHPUT, SIGNAL_DELAY)


def planes(runs: pd.DataFrame, trials: Sequence[int]) -> pd.DataFrame:
    """Returns means of settings' successful runs on each network, the Pareto front and its knee.

    The knee is the point of greatest power on the front (Kleinrock 1979).
    """
    good = succeeded(runs[runs["trial"].isin(trials)])
    groups = good.groupby(["network", "trial"])
    points = groups[list(_SPREAD)].mean()
    pairs = pd.MultiIndex.from_product([_SPREAD, _SPREAD])
    spreads = pd.DataFrame(groups[list(_SPREAD)].cov().unstack(), columns=pairs)
    points["throughput_variance"] = spreads[THROUGHPUT, THROUGHPUT]
    points["covariance"] = spreads[THROUGHPUT, SIGNAL_DELAY]
    points["delay_variance"] = spreads[SIGNAL_DELAY, SIGNAL_DELAY]
    points.insert(0, "succeeded", groups.size())
    points["succeeded_power"] = groups[POWER].mean()
    points = points.reset_index()
    is_on_front = np.zeros(len(points), dtype=bool)
    for places in points.groupby("network").indices.values():
        plane = points.iloc[places]
        is_on_front[places] = on_front(plane[THROUGHPUT], plane[SIGNAL_DELAY])
    power = points["succeeded_power"].where(is_on_front)
    is_knee = power == power.groupby(points["network"]).transform("max")
    return points.assign(on_front=is_on_front, knee=is_knee)


def standings(tables: Tables) -> pd.DataFrame:
    """Sorts the best settings by their rank on the training network."""
    ranked = tables["held_out_settings"].dropna(subset=["training_rank"])
    whole = ["training_rank", "held_out_rank", "gap", "repeats"]
    ranked = ranked.sort_values("training_rank", kind="stable", ignore_index=True)
    return ranked.astype(dict.fromkeys(whole, int))


def searched_by(studies: Iterable[StudyRuns]) -> dict[str, list[str]]:
    """Returns the studies that searched each network, with grids and fits but without replays."""
    found: dict[str, list[str]] = {}
    for study in studies:
        for network in study.config.networks if study.config.table is None else ():
            found.setdefault(network, []).append(study.config.title)
    return found


def summary(tables: Tables) -> pd.DataFrame:
    """Returns median gains over controllers, and the rank correlation of all settings.

    `unseen` counts held-out networks that no study searched. `surely_better` and `surely_worse`
    count gains and losses beyond chance over networks (p at most SURE after Holm's correction). The
    intervals of medians are over controllers: see `kneepoint.stats.ranks.median_interval`.
    """
    networks, settings = tables["held_out_networks"], tables["held_out_settings"]
    if networks.empty:
        return pd.DataFrame()
    compared = tables["held_out_gains"].dropna(subset=["training_gain"])
    is_sure = compared["gain_p"] <= SURE
    found = {
        "training": networks["network"].iloc[0],
        "training_title": networks["title"].iloc[0],
        "networks": len(networks) - 1,
        "unseen": sum(not by for by in networks["searched_by"][1:]),
        "settings": len(settings),
        "published": (settings["origin"] == PUBLISHED).sum(),
        "correlation": rank_correlation(settings["training"], settings["held_out"]),
        "compared": len(compared),
        "better": (compared["held_out_gain"] > 0).sum(),
        "surely_better": (is_sure & (compared["gain_low"] > 0)).sum(),
        "surely_worse": (is_sure & (compared["gain_high"] < 0)).sum(),
        "worse": (compared["held_out_gain"] < 0).sum(),
    }
    for name in ("training_gain", "held_out_gain"):
        median = median_interval(compared[name])
        found |= dict(zip((name, f"{name}_low", f"{name}_high"), median, strict=True))
    return pd.DataFrame([found])


def _setting_labels(settings: pd.DataFrame) -> "pd.Series[str]":
    """Names settings by controller and origin, and by study if several tuned a controller."""
    names = settings["controller"].map(labels.sentence) + ", " + settings["origin"]
    shared = names.duplicated(keep=False)
    return names.where(~shared, names + " by " + settings["study"])


def distinct_settings(settings: pd.DataFrame) -> pd.DataFrame:
    """Returns one row for each controller and parameters: the row that is best, or else the first.

    Its origin is BOTH where the best published and a tuned setting are the same.
    """
    ordered = settings.sort_values("best", ascending=False, kind="stable")
    groups = ordered[ordered["best"]].groupby(["controller", "parameters"])["origin"]
    origins = groups.agg(lambda each: BOTH if each.nunique() > 1 else each.iloc[0])
    kept = ordered.drop_duplicates(["controller", "parameters"]).sort_values("trial").copy()
    keys = pd.MultiIndex.from_frame(kept[["controller", "parameters"]])
    kept["origin"] = origins.reindex(keys).fillna(PUBLISHED).to_numpy()
    return kept.reset_index(drop=True)


def relative_power(runs: pd.DataFrame, networks: pd.DataFrame) -> pd.DataFrame:
    """Returns the mean power of each setting on each network.

    Returns:
        Columns trial, network, runs, power, standard_deviation (NaN for one run), relative.
    """
    groups = counted(runs).groupby(["trial", "network"], sort=False)[POWER]
    figures = {"runs": groups.size(), POWER: groups.mean(), "standard_deviation": groups.std()}
    table = pd.DataFrame(figures).reset_index()
    bounds = networks.set_index("network")[POWER]
    table["relative"] = table[POWER] / table["network"].map(bounds).astype(float)
    return table


def with_fresh(
    relative: pd.DataFrame,
    settings: pd.DataFrame,
    networks: pd.DataFrame,
    studies: Iterable[StudyRuns],
) -> pd.DataFrame:
    """Replaces the power of tuned settings on the training network by their searches' fresh power.

    A published setting that equals a tuned setting gets the same power.
    """
    best = {study.name: study.record.best for study in studies}
    ((training, bound),) = networks.loc[networks["is_training"], ["network", POWER]].to_numpy()
    stated: dict[tuple[str, str], Mapping[str, float]] = {}
    for row in records(settings[settings["origin"] == TUNED]):
        found = best.get(row["study"])
        if found is not None and training in found.networks:
            stated[row["controller"], row["parameters"]] = found.networks[training]
    table = relative.copy()
    for row in records(settings):
        if on_training := stated.get((row["controller"], row["parameters"])):
            here = (table["trial"] == row["trial"]) & (table["network"] == training)
            runs, half = int(on_training["runs"]), (on_training["high"] - on_training["low"]) / 2
            deviation = half * math.sqrt(runs) / float(t_quantile(runs - 1))
            figures = {"runs": runs, POWER: on_training[POWER], "standard_deviation": deviation}
            table.loc[here, [*figures, "relative"]] = *figures.values(), on_training[POWER] / bound
    return table


def scores(relative: pd.DataFrame, networks: pd.DataFrame) -> pd.DataFrame:
    """Returns the relative power of each setting: columns trial, training, held_out."""
    wide = relative.pivot_table(index="trial", columns="network", values="relative")
    is_training = networks.set_index("network")["is_training"]
    held = wide[[name for name in wide.columns if not is_training[name]]]
    with np.errstate(divide="ignore"):
        logarithm = np.log(held).mean(axis=1)
    training = wide[[name for name in wide.columns if is_training[name]]].mean(axis=1)
    return pd.DataFrame({"training": training, "held_out": np.exp(logarithm)}).reset_index()


def ranks(settings: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    """Ranks settings, the best on the training network first.

    The best has rank 1, and equal settings share the better rank; gap is the held-out rank minus
    the training rank.
    """
    table = settings.merge(scored, on="trial", validate="one_to_one")
    for name in ("training", "held_out"):
        table[f"{name}_rank"] = table[name].rank(ascending=False, method="min").astype(int)
    table["gap"] = table["held_out_rank"] - table["training_rank"]
    return table.sort_values("training_rank", kind="stable", ignore_index=True)


def gains(settings: pd.DataFrame, relative: pd.DataFrame, networks: pd.DataFrame) -> pd.DataFrame:
    """Compares each tuned setting with its controller's best published setting.

    Args:
        settings: all settings, duplicates included.
        relative: from `relative_power` or `with_fresh`.
        networks: with is_training, which marks the training network.

    Returns:
        For each tuned setting columns of the table held_out_gains, missing where no published
        setting was replayed: powers are on the training network, with half_width of the 95 %
        interval; training_gain is their ratio minus 1; margin is the part of it that chance
        explains (95 %); better and worse count held-out networks.
    """
    training = networks.loc[networks["is_training"], "network"].iloc[0]
    on_training = relative[relative["network"] == training].set_index("trial")
    n, spread = on_training["runs"].astype(int), on_training["standard_deviation"]
    half_width = t_quantile((n - 1).where(n > 1)) * spread / np.sqrt(n)
    powers = on_training[[POWER]].assign(half_width=half_width).reset_index()
    best = settings[settings["best"]].merge(powers, on="trial").set_index("controller")
    published, tuned = (
        best.loc[best["origin"] == origin, _OF_GAIN].add_prefix(f"{origin}_")
        for origin in (PUBLISHED, TUNED)
    )
    found = tuned.join(published).reset_index()
    power = relative.pivot_table(index="trial", columns="network", values=POWER)
    power = power.join(scores(relative, networks).set_index("trial")["held_out"])
    before, after = (
        power.reindex(found[f"{origin}_trial"]).reset_index(drop=True)
        for origin in (PUBLISHED, TUNED)
    )
    ratio = after / before.where(before != 0)
    elsewhere = (after - before).drop(columns=[training, "held_out"])
    is_known = found["published_trial"].notna()
    pairs = zip(found["published_trial"], found["tuned_trial"], strict=True)
    return found.assign(
        better=(elsewhere > 0).sum(axis="columns").where(is_known),
        worse=(elsewhere < 0).sum(axis="columns").where(is_known),
        training_gain=ratio[training] - 1,
        margin=ratio[training] * [_chance(on_training, *pair) for pair in pairs],
        held_out_gain=ratio["held_out"] - 1,
    )


_OF_GAIN = ["study", "table", "parameters", "trial", "row", POWER, "half_width"]


def _chance(on_training: pd.DataFrame, one: float, other: float) -> float:
    """Returns the relative difference of two settings' mean powers that chance explains."""
    pair = on_training.reindex([one, other])
    free = (pair["runs"] - 1).where(pair[POWER] > 0, 0)
    degrees = float(free.sum())
    if not degrees:
        return math.nan
    squares = (free * (pair["standard_deviation"] / pair[POWER]) ** 2).sum()
    return Chance(math.sqrt(float(squares) / degrees), int(degrees)).margin(*pair["runs"])


def generality(results: Results, found: HeldOutRuns) -> pd.DataFrame:
    """Compares settings tuned on several networks with settings tuned on one (generality)."""
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
    """Returns the generalist's power over the specialist's with intervals; NaN if a run failed.

    `powers` has an array for each network, of shape (2, runs): run k of both has the same seed.
    """
    names = [f"{where}_{name}" for name in _OF_RATIO]
    if not powers or any((pair <= 0).any() for pair in powers):
        return dict.fromkeys(names, np.nan)
    seeds = paired_ratio([(one, other) for one, other in powers], SEED)
    over = over_networks([np.log(one / other) for one, other in powers], SEED)
    ends = (over.low - 1, over.high - 1, over.p, seeds.low - 1, seeds.high - 1)
    return dict(zip(names, (seeds.ratio - 1, *ends), strict=True))


_OF_RATIO = ("change", "low", "high", "p", "seeds_low", "seeds_high")
"""low, high and p are over networks: NaN for one network."""


DERIVED = {"held_out": summary, "held_out_standings": standings}
