"""The result of paired runs of two settings, as numbers and as text."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from analysis.enough import Enough, enough_runs
from analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from analysis.paired import Ratio, holm, least_pairs, paired_ratio
from engines.base import RunRecord, RunSpec
from kneepoint.cli import columns
from kneepoint.runs import is_path

SIGNIFICANT = 0.05
COMPARABLE = {"power": POWER, "throughput": THROUGHPUT, "signal-delay": SIGNAL_DELAY}
"""Metrics by their names on the command line."""


@dataclass(frozen=True)
class Pair:
    """The runs of A and B with one seed."""

    seed: int
    a: RunRecord
    b: RunRecord

    @property
    def failures(self) -> dict[str, str]:
        """The reasons by the settings, A and B, that failed."""
        records = {"A": self.a, "B": self.b}
        return {name: each.reason for name, each in records.items() if each.status != "ok"}


@dataclass(frozen=True)
class OnNetwork:
    """One network: values of the pairs without a failed run; `found` is None if there are none.

    `p` is corrected for the number of networks.
    """

    network: str
    pairs: Sequence[Pair]
    a: Sequence[float]
    b: Sequence[float]
    found: Ratio | None
    p: float
    enough: Enough


@dataclass(frozen=True)
class Comparison:
    """Two settings on several networks; `given` holds the parameters that the user set."""

    specs: Sequence[RunSpec]
    given: Sequence[Mapping[str, float]]
    metric: str
    networks: Sequence[OnNetwork]
    overall: Ratio | None
    left_out: Sequence[str]

    @classmethod
    def of(
        cls,
        specs: Sequence[RunSpec],
        given: Sequence[Mapping[str, float]],
        metric: str,
        pairs: Mapping[str, Sequence[Pair]],
        left_out: Sequence[str],
    ) -> Self:
        """Compares; the first run's seed is that of the statistics, too.

        Args:
            specs: a run of A, and one of B.
            given: the parameters that the user set of them.
            metric: to compare, a field of a run's record.
            pairs: by network.
            left_out: networks that cannot be prepared.
        """
        seed = specs[0].seed
        table = [_on_network(name, each, metric, seed) for name, each in pairs.items()]
        corrected = holm([each.p for each in table])
        networks = [replace(each, p=p) for each, p in zip(table, corrected, strict=True)]
        known = [(each.a, each.b) for each in networks if each.found]
        overall = paired_ratio(known, seed) if known else None
        return cls(specs, given, metric, networks, overall, left_out)

    @property
    def noun(self) -> str:
        """What is compared, in a sentence."""
        return METRICS[self.metric].title.lower()

    @property
    def greater_is_better(self) -> bool:
        """Whether A is better where the ratio is above 1."""
        return self.metric != SIGNAL_DELAY

    def better(self, found: Ratio | None, p: float) -> str | None:
        """Returns A or B if it is shown to be better, otherwise None."""
        if found is None or not p <= SIGNIFICANT or not (found.low > 1 or found.high < 1):
            return None
        return "A" if (found.ratio > 1) == self.greater_is_better else "B"

    def failures(self) -> list[str]:
        """Returns a line for each setting and network that failed, with the first reason."""
        lines = []
        for each in self.networks:
            for name in ("A", "B"):
                reasons = [pair.failures[name] for pair in each.pairs if name in pair.failures]
                if reasons:
                    runs = f"{len(reasons)} of {_count(len(each.pairs), 'run')}"
                    lines.append(f"failed: {name} on {each.network}, {runs}: {reasons[0]}")
        return lines

    def verdict(self) -> str:
        """Returns one or two sentences about all networks together."""
        found, noun = self.overall, self.noun
        if found is None:
            return "No pair of runs succeeded: there is nothing to compare."
        caveat = " Pairs with a failed run are excluded." if self.failures() else ""
        better = self.better(found, found.p)
        if better is not None:
            gain = found.ratio if better == "A" else 1 / found.ratio
            change, word = (gain - 1, "more") if gain > 1 else (1 - gain, "less")
            other = "B" if better == "A" else "A"
            return (
                f"{better} is better: {_percent(change)} {word} {noun} than {other} "
                f"(A/B = {found}).{caveat}"
            )
        if math.isnan(found.low):
            return (
                f"Undecided: A/B = {found}, but one pair of runs per network gives no interval. "
                f"Give --runs.{caveat}"
            )
        return (
            f"No difference of {noun} is shown (A/B = {found}, p = {_p_text(found.p)}). That does "
            f"not make them equal: any ratio in the interval remains possible.{caveat}"
        )

    def described(self) -> dict[str, Any]:
        """Returns the comparison for JSON; None stands for what does not exist."""
        settings = {
            name: {"controller": spec.controller, "constants": dict(spec.constants)}
            for name, spec in zip(("a", "b"), self.specs, strict=True)
        }
        overall = {
            **_figures(self.overall),
            "networks": self.overall.networks if self.overall else 0,
            "pairs": self.overall.pairs if self.overall else 0,
            "better": self.better(self.overall, self.overall.p) if self.overall else None,
            "verdict": self.verdict(),
        }
        return {
            **settings,
            "metric": self.metric,
            "unit": METRICS[self.metric].unit,
            "networks": [self._network_described(each) for each in self.networks],
            "overall": overall,
            "left_out": list(self.left_out),
        }

    def _network_described(self, each: OnNetwork) -> dict[str, Any]:
        return {
            "network": each.network,
            "pairs": len(each.a),
            "a": _mean(each.a),
            "b": _mean(each.b),
            **_figures(each.found),
            "p_holm": _known(each.p),
            "better": self.better(each.found, each.p),
            "enough_runs": each.enough.runs,
            "runs": [
                {"seed": pair.seed}
                | {name: getattr(getattr(pair, name), self.metric) for name in ("a", "b")}
                | {f"reason_{name.lower()}": why for name, why in pair.failures.items()}
                for pair in each.pairs
            ],
        }

    def text(self) -> str:
        """Returns the comparison for people."""
        settings = zip(("A", "B"), self.specs, self.given, strict=True)
        parts = [
            *(f"{name}: {_setting_text(spec, given)}" for name, spec, given in settings),
            "",
            columns(list(self._rows())),
            "",
            self.verdict(),
            "",
            *self._remarks([pair.seed for pair in self.networks[0].pairs]),
            *self.failures(),
        ]
        if self.left_out:
            parts.append(f"excluded, because they cannot be prepared: {', '.join(self.left_out)}")
        return "\n".join(parts)

    def _rows(self) -> Iterator[tuple[str, ...]]:
        yield "network", "pairs", "A", "B", "A/B [95 %]", "p", "better", "pairs for 1 %"
        for each in self.networks:
            means = (_mean(values) for values in (each.a, each.b))
            yield (
                each.network,
                str(len(each.a)),
                *("-" if mean is None else f"{mean:.4g}" for mean in means),
                str(each.found) if each.found else "-",
                _p_text(each.p),
                self.better(each.found, each.p) or "-",
                str(each.enough),
            )
        if self.overall is not None and len(self.networks) > 1:
            found = self.overall
            better = self.better(found, found.p) or "-"
            yield "all", str(found.pairs), "", "", str(found), _p_text(found.p), better, ""

    def _remarks(self, seeds: Sequence[int]) -> Iterator[str]:
        yield (
            f"A and B are means of {self.noun} in {METRICS[self.metric].unit}; pairs share a seed, "
            + (f"{seeds[0]} to {seeds[-1]}." if len(seeds) > 1 else f"{seeds[0]}.")
        )
        better = [self.better(each.found, each.p) for each in self.networks]
        if len(better) > 1:
            yield (
                f"By network, A is better on {better.count('A')}, B on {better.count('B')}; no "
                f"difference is shown on {better.count(None)} (p corrected by Holm). Intervals are "
                "for other seeds on these networks, not for other networks."
            )
        least = least_pairs(len(better), SIGNIFICANT)
        if len(seeds) < least:
            yield (
                f"So few pairs cannot show even a clear difference on a network: of "
                f"{_count(len(better), 'network')} each needs {least}; give --runs {least}."
            )
        unknown = sum(each.enough.runs is None for each in self.networks)
        if unknown:
            where = f" on {unknown} of {len(better)} networks" if len(better) > 1 else ""
            yield f"More pairs are needed to know A/B within 1 %{where}; give --runs."
        else:
            most = max(each.enough.runs or 0 for each in self.networks)
            yield f"{_count(most, 'pair')} per network would be enough to know A/B within 1 %."


def _on_network(name: str, pairs: Sequence[Pair], metric: str, seed: int) -> OnNetwork:
    complete = [pair for pair in pairs if not pair.failures]
    a = [getattr(pair.a, metric) for pair in complete]
    b = [getattr(pair.b, metric) for pair in complete]
    found = paired_ratio([(a, b)], seed) if complete else None
    ratios = [one / other for one, other in zip(a, b, strict=True)]
    p = found.p if found else math.nan
    return OnNetwork(name, pairs, a, b, found, p, enough_runs(ratios, seed))


def _figures(found: Ratio | None) -> dict[str, float | None]:
    names = ("ratio", "low", "high", "p")
    return {name: _known(getattr(found, name)) if found else None for name in names}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _percent(share: float) -> str:
    value = 100 * share
    return f"{value:.{0 if value >= 10 else 1 if value >= 1 else 2}f} %"


def _setting_text(spec: RunSpec, given: Mapping[str, float]) -> str:
    name = Path(spec.controller).stem if is_path(spec.controller) else spec.controller
    if not given:
        return f"{name} with its defaults"
    return f"{name}, " + ", ".join(f"{key} = {value:g}" for key, value in given.items())


def _p_text(p: float) -> str:
    return "-" if math.isnan(p) else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
