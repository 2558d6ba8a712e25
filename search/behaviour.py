"""Which rule behaves like an unknown sender, whose acknowledgments and packets in flight are known.

Candidates hear the acknowledgments of the sender's logs, whatever they would have sent themselves;
the nearest has, after each, the window that the sender filled. The errors of a rule that adds up
its steps add up as well, and far from the best fit all fits are alike: CMA-ES, from several points,
fits ever longer beginnings of the logs, each with the best fits and families of the one before.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import (
    RunRecord,
    RunSpec,
    run_reliably,
)
from kneepoint.engines.catalogue import (
    Catalogue,
    Constant,
    Controller,
)
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.replay import NoSenderError, Replay
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.language import Rule, with_numbers

NEAR, EXPLAINED = 0.05, 0.8
"""The greatest distance from a rule that a sender behaves like, and the least share explained."""
_SAME = 0.002
"""No lesser distance is searched for: windows are known in whole packets."""
_FAILED = 3
"""Beyond every distance."""
_SILENCE_MS = 1000
"""The keepalive of a sender that was never silent, as most rules have it."""
_DRAWN, _PATIENCE, _GAIN = 100, 60, 0.999
"""Points to begin with, for each parameter; generations without this gain that end a search."""
_WHOLE = 45_000
"""Events of all logs together: more make no difference."""


class _Stage(NamedTuple):
    """What is fitted, and the effort: fits, trials of each, their first step, and families."""

    events: int
    fits: int
    trials: int
    step: float
    families: int


_STAGES = (
    _Stage(900, 24, 1000, 0.2, 99),
    _Stage(4000, 12, 1000, 0.1, 6),
    _Stage(15_000, 8, 1000, 0.05, 4),
    _Stage(_WHOLE, 6, 2000, 0.03, 3),
    _Stage(_WHOLE, 4, 3000, 0.15, 1),
)

Known: TypeAlias = tuple[Controller, Rule | None]
"""A controller, or a rule that it performs."""
_Point = tuple[float, ...]
_Fit = tuple[float, _Point]
"""A distance, and where it is in the unit cube."""


@dataclass(frozen=True)
class Family:
    """Rules that differ in their parameters.

    Args:
        controller: that performs them.
        rule: that it performs, if it performs rules that are data.
        searched: parameters with their ranges, whole numbers last.
        fixed: values of others, which a log shows.
    """

    controller: Controller
    rule: Rule | None
    searched: Sequence[Constant]
    fixed: Mapping[str, float]

    @classmethod
    def of(cls, controller: Controller, rule: Rule | None, seen: Mapping[str, Any]) -> "Family":
        """Searches all but what a log shows: see `build/replay --help`."""
        fixed: dict[str, float] = dict(rule.code) if rule else {}
        for name, constant in controller.constants.items():
            if name.startswith("initial_"):
                fixed[name] = max(constant.least, seen["started"])
            elif name == "keepalive_ms":
                fixed[name] = max(1, math.floor(seen["shortest_ms"] or _SILENCE_MS))
        searched = [each for each in controller.constants.values() if each.name not in fixed]
        if rule is not None:
            numbers = [(controller.constants[f"number_{k}"], x) for k, x in enumerate(rule.numbers)]
            searched = [
                replace(number, low=min(x / 4, 4 * x), high=max(x / 4, 4 * x))
                for number, x in numbers
            ]
        return cls(controller, rule, sorted(searched, key=lambda each: each.is_integer), fixed)

    @property
    def name(self) -> str:
        """The controller's, or the rule's text."""
        return self.rule.text if self.rule else self.controller.name

    def values(self, point: Iterable[float]) -> dict[str, float]:
        """Returns the parameters at a point."""
        found = dict(self.fixed)
        for each, share in zip(self.searched, point, strict=True):
            if each.is_log:
                value = each.low * (each.high / each.low) ** share
                found[each.name] = round(value) if each.is_integer else value
            elif each.is_integer:
                value = math.floor(each.low + share * (each.high - each.low + 1))
                found[each.name] = min(value, int(each.high))
            else:
                found[each.name] = each.low + share * (each.high - each.low)
        return found


@dataclass(frozen=True)
class Likeness:
    """How near a family comes to a sender.

    Args:
        family: the family.
        fits: the nearest, the first first.
        constants: all parameters at the first.
        distance: its distance; 0 is the same behaviour (see `build/replay --help`).
        explained: share of acknowledgments after which windows differ by at most a packet.
    """

    family: Family
    fits: Sequence[_Fit] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    distance: float = math.inf
    explained: float = 0

    @property
    def words(self) -> str:
        """The rule with its numbers, or the controller with what was searched and its units."""
        family, found = self.family, self.constants
        if family.rule is not None:
            numbers = [found[f"number_{k}"] for k in range(len(family.rule.numbers))]
            return with_numbers(family.rule, numbers).text
        shown = [*family.searched, family.controller.constants["keepalive_ms"]]
        units = ["" if each.unit in ("1", "0 or 1") else f" {each.unit}" for each in shown]
        said = (f"{s.name} {found[s.name]:.4g}{unit}" for s, unit in zip(shown, units, strict=True))
        return f"{family.name} with {', '.join(said)}"

    @property
    def is_near(self) -> bool:
        """Whether the sender behaves like it."""
        return self.distance <= NEAR and self.explained >= EXPLAINED


def known_families(catalogue: Catalogue) -> list[Controller]:
    """Returns the rules of the reports."""
    return [each for each in catalogue.controllers.values() if each.source.startswith("report")]


def require_ran(record: RunRecord, what: str) -> None:
    """Raises NoSenderError if a run failed, and KneepointError if the machine prevented it."""
    if record.status != "ok":
        error = NoSenderError if record.status == "failed" else KneepointError
        raise error(f"{what}: {record.reason}")


def log_runs(settings: EmulatorSettings, specs: Sequence[RunSpec], folder: Path) -> list[Path]:
    """Runs senders and returns their flow logs; raises as `require_ran` does."""
    logs = [folder / f"{number}.flow.log" for number in range(len(specs))]
    for spec, log in zip(specs, logs, strict=True):
        with closing(settings.keeping(folder / "uplink.log", log).open()) as engine:
            record = run_reliably(engine, spec)
        require_ran(record, f"{spec.controller} on {spec.network.name}")
    return logs


def identify(logs: Sequence[Path], known: Sequence[Known], seed: int) -> list[Likeness]:
    """Returns families by their distance from the sender of all these logs, the nearest first.

    Of families that are as near as whole packets can tell, the one with fewer parameters is first.

    Raises:
        NoSenderError: a log is damaged.
    """
    with Replay(logs, _WHOLE) as replay:
        seen = replay.compare("fixed_window", {})
    going = [Likeness(Family.of(*each, seen)) for each in known]
    ended: list[Likeness] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for stage in _STAGES:
            ended += going[stage.families :]
            going = _ranked(pool.map(partial(_fit, logs, stage, seed), going[: stage.families]))
        return _ranked([*going, *pool.map(partial(_on_whole, logs), ended)], least=2 * _SAME)


def _ranked(found: Iterable[Likeness], least: float = 0) -> list[Likeness]:
    """Returns families by distance, of which those up to `least` are alike."""
    return sorted(found, key=lambda each: (max(each.distance, least), len(each.family.searched)))


def _on_whole(logs: Sequence[Path], fitted: Likeness) -> Likeness:
    """Returns a family that was given up early, with its distance from the whole logs."""
    with Replay(logs, _WHOLE // len(logs)) as replay:
        found = replay.compare(fitted.family.controller.name, fitted.constants)
    is_ok = found["status"] == "ok"
    return replace(
        fitted,
        distance=found["distance"] if is_ok else _FAILED,
        explained=found.get("explained", 0),
    )


def _fit(logs: Sequence[Path], stage: _Stage, seed: int, before: Likeness) -> Likeness:
    """Returns a family's nearest fits to the beginnings of the logs."""
    family = before.family
    name, size = family.controller.name, len(family.searched)
    with Replay(logs, stage.events // len(logs)) as replay:

        def fit(point: _Point) -> _Fit:
            found = replay.compare(name, family.values(point))
            return (found["distance"] if found["status"] == "ok" else _FAILED), point

        starts = before.fits
        if not starts:
            rng = np.random.default_rng(derive_seed(seed, family.name))
            drawn = rng.random((max(1, _DRAWN * size), size)).tolist()
            starts = _varied(family, (fit(tuple(point)) for point in drawn))
        fits: list[_Fit] = []
        for number, (_, start) in enumerate(starts[: stage.fits]):
            fits.append(_descend(family, stage, fit, start, derive_seed(seed, number)))
            if stage.events == _WHOLE and fits[-1][0] <= _SAME:
                break
        distance, point = min(fits)
        constants = family.controller.complete(family.values(point), family.name)
        explained = replay.compare(name, constants).get("explained", 0)
    return Likeness(family, _varied(family, fits), constants, distance, explained)


def _varied(family: Family, fits: Iterable[_Fit]) -> list[_Fit]:
    """Returns fits in order, the k-th of the same whole numbers as if it were k times as far."""
    known: Counter[_Point] = Counter()
    ranked = []
    for distance, point in sorted(fits):
        values = family.values(point)
        whole = tuple(values[each.name] for each in family.searched if each.is_integer)
        known[whole] += 1
        ranked.append((known[whole] * distance, distance, point))
    return [(distance, point) for _, distance, point in sorted(ranked)]


def _descend(
    family: Family, stage: _Stage, fit: Callable[[_Point], _Fit], start: _Point, seed: int
) -> _Fit:
    """Returns the best fit of a search that begins at a point and keeps its whole numbers."""
    real = sum(not each.is_integer for each in family.searched)
    best = fit(start)
    if real < 2:  # one number, real or whole, takes all its values
        shares = np.linspace(0, 1, _DRAWN, endpoint=False).tolist() if start else []
        return min([best, *(fit((share, *start[1:])) for share in shares)])
    import cmaes  # of the extra `search`: a contest without behaviour needs none

    size = 8 + 2 * int(3 * math.log(real))
    search = cmaes.CMA(
        mean=np.array(start[:real]),
        sigma=stage.step,
        bounds=np.array([(0, 1)] * real),
        seed=seed % 2**32,
        population_size=size,
    )
    gained = trials = 0
    while best[0] > _SAME and trials < min(stage.trials, gained + _PATIENCE * size):
        if search.should_stop():
            break
        asked = [search.ask() for _ in range(size)]
        fits = [fit((*each.tolist(), *start[real:])) for each in asked]
        search.tell([(each, distance) for each, (distance, _) in zip(asked, fits, strict=True)])
        trials += size
        if min(fits)[0] < _GAIN * best[0]:
            gained = trials
        best = min(best, *fits)
    return best
