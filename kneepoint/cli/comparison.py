"""Results of a paired comparison of two settings, as data and as text."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol

import numpy as np

from kneepoint.analysis.frames import Record
from kneepoint.analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from kneepoint.common.columns import columns
from kneepoint.engines.base import RunRecord
from kneepoint.stats.paired import holm, min_pairs, paired_ratio
from kneepoint.stats.ranks import enough_runs

SIGNIFICANT = 0.05
COMPARABLE = {"power": POWER, "throughput": THROUGHPUT, "signal-delay": SIGNAL_DELAY}
"""Metrics by their names on the command line."""

Pairs = Mapping[int, tuple[RunRecord, RunRecord]]
"""The runs of A and B, by their common seed or number."""
_MORE = {
    "seed": ("give more --runs", "give --runs {}"),
    "number": ("import more runs of both", "import {} runs of both"),
}
"""Remedies for too few pairs, by the key of pairs: without and with the number of pairs."""

_Sides = tuple[Sequence[float], Sequence[float]]


class ComparedSetting(Protocol):
    """A setting to compare: a `RunSpec`, or a setting of measured runs."""

    @property
    def controller(self) -> str:
        """The name of the controller."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """The values of its parameters."""


def compare_settings(
    specs: Sequence[ComparedSetting],
    metric: str,
    runs: Mapping[str, Pairs],
    left_out: Sequence[str],
    seed: int,
    paired_by: Literal["seed", "number"] = "seed",
) -> Record:
    """Returns the comparison of A and B; missing values are None.

    Args:
        specs: A and B.
        metric: to compare, a field of a run's record.
        runs: by network.
        left_out: networks that cannot be prepared.
        seed: of the statistics.
        paired_by: the common key of a pair: the seed of emulated runs, or the number of a run.
    """
    networks, known = [], []
    for name, pairs in runs.items():
        complete = [pair for pair in pairs.values() if all(run.status == "ok" for run in pair)]
        a, b = ([getattr(pair[side], metric) for pair in complete] for side in (0, 1))
        known += [(a, b)] if complete else []
        networks.append(
            {
                "network": name,
                "a": sum(a) / len(a) if a else None,
                "b": sum(b) / len(b) if b else None,
                **_figures([(a, b)] if complete else [], metric, seed),
                "enough_runs": enough_runs(np.divide(a, b), seed).runs,
                "runs": [_described(each, *pair, metric) for each, pair in pairs.items()],
            }
        )
    corrected = holm([math.nan if each["p"] is None else each["p"] for each in networks])
    for each, p in zip(networks, corrected, strict=True):
        each |= {"p_holm": _number(p), "better": _better(each, p, metric)}
    together = _figures(known, metric, seed)
    together |= {"networks": len(known), "better": _better(together, together["p"], metric)}
    settings = [
        {"controller": each.controller, "parameters": {**each.parameters}} for each in specs
    ]
    found = {
        "a": settings[0],
        "b": settings[1],
        "metric": metric,
        "unit": METRICS[metric].unit,
        "paired_by": paired_by,
        "networks": networks,
        "overall": together,
        "left_out": list(left_out),
    }
    together["verdict"] = _verdict(found)
    return found


def is_better_above_1(metric: str) -> bool:
    """Returns whether a ratio A/B above 1 means that A is better."""
    return metric != SIGNAL_DELAY


def failures_in(found: Record) -> list[str]:
    """Returns a line with the first reason for each setting and network with failed runs."""
    lines = []
    for each in found["networks"]:
        for name in ("a", "b"):
            reasons = [run[f"reason_{name}"] for run in each["runs"] if f"reason_{name}" in run]
            if reasons:
                runs = f"{len(reasons)} of {_count(len(each['runs']), 'run')}"
                lines.append(f"failed: {name.upper()} on {each['network']}, {runs}: {reasons[0]}")
    return lines


def text_of(found: Record, titles: Sequence[str]) -> str:
    """Returns a comparison as text for the terminal; `titles` name A and B."""
    of_logs = ("log power A", "B", "A-B [95 %]") if found["metric"] == POWER else ()
    head = ("network", "pairs", "A", "B", "A/B [95 %]", *of_logs, "p", "better", "pairs for 1 %")
    rows = [head, *(_row(each, len(of_logs)) for each in found["networks"])]
    together = found["overall"]
    if len(found["networks"]) > 1:
        rows.append(_row({"network": "all", "p_holm": together["p"], **together}, len(of_logs)))
    parts = [
        *(f"{name}: {title}" for name, title in zip("AB", titles, strict=True)),
        *("", columns(rows), "", together["verdict"], "", *_remarks(found), *failures_in(found)),
    ]
    if found["left_out"]:
        parts.append(f"excluded, because they cannot be prepared: {', '.join(found['left_out'])}")
    return "\n".join(parts)


def _row(of: Record, of_logs: int) -> tuple[str, ...]:
    a, b = ("-" if of.get(name) is None else f"{of[name]:.4g}" for name in ("a", "b"))
    enough = of.get("enough_runs", "-") or f"more than {of['pairs']}"
    logs = ["-"] * of_logs
    if log := of.get("log_power"):
        logs = [f"{log[name]:.3f}" for name in ("a", "b", "difference")]
        logs[-1] += f" [{log['low']:.3f}, {log['high']:.3f}]" if log["low"] is not None else ""
    figures = of["interval"] or "-", *logs, _p_text(of["p_holm"]), of["better"] or "-"
    return (of["network"], str(of["pairs"]), a, b, *figures, str(enough))


def _remarks(found: Record) -> Iterator[str]:
    networks, metric = found["networks"], METRICS[found["metric"]]
    seeds = [run["seed"] for run in networks[0]["runs"]]
    shared = "share a seed" if found["paired_by"] == "seed" else "have the same number"
    yield (
        f"A and B are means of {metric.title.lower()} in {metric.unit}; pairs {shared}, "
        + (f"{seeds[0]} to {seeds[-1]}." if len(seeds) > 1 else f"{seeds[0]}.")
    )
    if len(networks) > 1:
        better = [each["better"] for each in networks]
        yield (
            f"By network, A is better on {better.count('A')}, B on {better.count('B')}; no "
            f"difference is shown on {better.count(None)} (p corrected by Holm). Intervals are "
            "for other runs on these networks, not for other networks."
        )
    least = min_pairs(len(networks), SIGNIFICANT)
    if len(seeds) < least:
        yield (
            f"So few pairs cannot show even a clear difference on a network: of "
            f"{_count(len(networks), 'network')} each needs {least}; {_more(found, least)}."
        )
    enough = [each["enough_runs"] for each in networks]
    if unknown := enough.count(None):
        where = f" on {unknown} of {len(networks)} networks" if len(networks) > 1 else ""
        yield f"More pairs are needed to know A/B within 1 %{where}; {_more(found)}."
    else:
        yield f"{_count(max(enough), 'pair')} per network would be enough to know A/B within 1 %."


def _verdict(found: Record) -> str:
    """Returns one or two sentences on all networks together."""
    together, noun = found["overall"], METRICS[found["metric"]].title.lower()
    if together["ratio"] is None:
        return "No pair of runs succeeded: there is nothing to compare."
    ratio = f"A/B = {together['interval']}"
    caveat = " Pairs with a failed run are excluded." if failures_in(found) else ""
    if better := together["better"]:
        gain = together["ratio"] if better == "A" else 1 / together["ratio"]
        change, word = (gain - 1, "more") if gain > 1 else (1 - gain, "less")
        other = "B" if better == "A" else "A"
        return (
            f"{better} is better: {_percent(change)} {word} {noun} than {other} ({ratio}).{caveat}"
        )
    if together["low"] is None:
        return (
            f"Undecided: {ratio}; one pair of runs per network gives no interval: "
            f"{_more(found)}.{caveat}"
        )
    if together["pairs"] < (least := min_pairs(1, SIGNIFICANT)):
        return (
            f"Undecided: {ratio}; {_count(together['pairs'], 'pair')} cannot show a difference at "
            f"the {SIGNIFICANT:.0%} level, {least} can: {_more(found, least)}.{caveat}"
        )
    if not together["low"] <= 1 <= together["high"]:
        return (
            f"Undecided: {ratio}, but the test of pairs gives p = {_p_text(together['p'])}: "
            f"{_more(found)}.{caveat}"
        )
    return (
        f"No difference of {noun} is shown ({ratio}, p = {_p_text(together['p'])}). That does "
        f"not make them equal: any ratio in the interval remains possible.{caveat}"
    )


def _more(found: Record, runs: int | None = None) -> str:
    return _MORE[found["paired_by"]][runs is not None].format(runs)


def _figures(known: Sequence[_Sides], metric: str, seed: int) -> Record:
    """Returns means, ratio and interval for the values of A and B on each network.

    With power, log power is included: means of ln(throughput/delay), and their difference.
    """
    found = paired_ratio(known, seed) if known else None
    figures: Record = {
        name: _number(getattr(found, name, math.nan)) for name in ("ratio", "low", "high", "p")
    }
    if metric == POWER and known:
        ratio, low, high = (figures[name] for name in ("ratio", "low", "high"))
        of = zip("ab", zip(*known, strict=True), strict=True)
        logs = {name: float(np.mean([np.log(each).mean() for each in side])) for name, side in of}
        ends = {"low": low and math.log(low), "high": high and math.log(high)}
        figures["log_power"] = {**logs, "difference": math.log(ratio), **ends}
    return figures | {"interval": found and str(found), "pairs": found.pairs if found else 0}


def _better(of: Record, p: float | None, metric: str) -> str | None:
    """Returns the significantly better setting, A or B, or None."""
    if p is None or not p <= SIGNIFICANT or not of["low"] or of["low"] <= 1 <= of["high"]:
        return None
    return "A" if (of["ratio"] > 1) == is_better_above_1(metric) else "B"


def _described(seed: int, a: RunRecord, b: RunRecord, metric: str) -> Record:
    sides = {"a": a, "b": b}
    figures = {name: getattr(run, metric) for name, run in sides.items()}
    reasons = {f"reason_{name}": run.reason for name, run in sides.items() if run.status != "ok"}
    return {"seed": seed, **figures, **reasons}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _percent(share: float) -> str:
    value = 100 * share
    return f"{value:.{0 if value >= 10 else 1 if value >= 1 else 2}f} %"


def _p_text(p: float | None) -> str:
    return "-" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
