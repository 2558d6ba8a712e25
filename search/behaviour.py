"""Identifies the rule that an unknown sender follows, from its flow logs.

Each candidate rule receives the acknowledgments of the logs, whatever it would have sent itself;
its distance compares its window after each acknowledgment with the packets that the sender had in
flight. The errors of a rule that accumulates its steps accumulate as well, and the distance is flat
far from the best fit. CMA-ES therefore fits prefixes of the logs of increasing length, and starts
each stage from the best fits and families of the stage before.
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
from kneepoint.engines.base import RunRecord, RunSpec, run_reliably
from kneepoint.engines.catalogue import Catalogue, Controller, Parameter
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.replay import NoSenderError, Replay
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.language import Rule, with_numbers

NEAR, EXPLAINED = 0.05, 0.8
"""The maximum distance and the minimum explained share of a sender that behaves like a rule."""
_SAME = 0.002
"""The search ends at this distance: windows are known in whole packets only."""
_FAILED = 3
"""Distance of a failed replay, greater than any other."""
_SILENCE_MS = 1000
"""Keepalive of a sender that was never silent: the value of most rules."""
_DRAWN, _PATIENCE, _GAIN = 100, 60, 0.999
"""Random initial points per parameter; generations without this gain that end a search."""
_WHOLE = 45_000
"""The maximum number of events of all logs; more events do not change the result."""


class _Stage(NamedTuple):
    """Effort of a stage: events of all logs, fits, trials per fit, initial step, families kept."""

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
"""A controller, and the rule that it interprets, if it interprets rules."""
_Point = tuple[float, ...]
_Fit = tuple[float, _Point]
"""A distance, and its point in the unit cube."""


@dataclass(frozen=True)
class Family:
    """Rules that differ in their parameters.

    Args:
        controller: the controller that executes the rules.
        rule: the rule that it interprets, if it interprets rules.
        searched: searched parameters with their ranges, integers last.
        fixed: values of the other parameters, read from the logs.
    """

    controller: Controller
    rule: Rule | None
    searched: Sequence[Parameter]
    fixed: Mapping[str, float]

    @classmethod
    def of(cls, controller: Controller, rule: Rule | None, seen: Mapping[str, Any]) -> "Family":
        """Makes a family that searches every parameter that the logs do not show.

        Args:
            controller: the controller.
            rule: its rule, if it interprets rules.
            seen: what the logs show (see `build/replay --help`).
        """
        fixed: dict[str, float] = dict(rule.code) if rule else {}
        for name, parameter in controller.parameters.items():
            if name.startswith("initial_"):
                fixed[name] = max(parameter.min, seen["started"])
            elif name == "keepalive_ms":
                fixed[name] = max(1, math.floor(seen["shortest_ms"] or _SILENCE_MS))
        searched = [each for each in controller.parameters.values() if each.name not in fixed]
        if rule is not None:
            numbers = [
                (controller.parameters[f"number_{k}"], x) for k, x in enumerate(rule.numbers)
            ]
            searched = [
                replace(number, low=min(x / 4, 4 * x), high=max(x / 4, 4 * x))
                for number, x in numbers
            ]
        return cls(controller, rule, sorted(searched, key=lambda each: each.is_integer), fixed)

    @property
    def name(self) -> str:
        """The text of the rule, or else the name of the controller."""
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
    """How closely a family fits a sender.

    Args:
        family: the family.
        fits: its best fits, the best first.
        parameters: all parameters at the best fit.
        distance: distance of the best fit; 0 is the same behaviour (see `build/replay --help`).
        explained: share of acknowledgments after which windows differ by at most one packet.
    """

    family: Family
    fits: Sequence[_Fit] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    distance: float = math.inf
    explained: float = 0

    @property
    def words(self) -> str:
        """The rule with its numbers, or the controller with its fitted parameters and units."""
        family, found = self.family, self.parameters
        if family.rule is not None:
            numbers = [found[f"number_{k}"] for k in range(len(family.rule.numbers))]
            return with_numbers(family.rule, numbers).text
        shown = [*family.searched, family.controller.parameters["keepalive_ms"]]
        units = ["" if each.unit in ("1", "0 or 1") else f" {each.unit}" for each in shown]
        said = (f"{s.name} {found[s.name]:.4g}{unit}" for s, unit in zip(shown, units, strict=True))
        return f"{family.name} with {', '.join(said)}"

    @property
    def is_near(self) -> bool:
        """Whether the sender behaves like this family."""
        return self.distance <= NEAR and self.explained >= EXPLAINED


def known_families(catalogue: Catalogue) -> list[Controller]:
    """Returns the controllers of published reports."""
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
    """Returns families by their distance from the sender of the logs, the nearest first.

    If distances of families differ by less than whole packets can resolve, the family with fewer
    parameters comes first.

    Args:
        logs: flow logs of one sender.
        known: controllers and rules to fit.
        seed: of the initial points and of CMA-ES.

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
    """Returns families by distance, floored at `least`, then by number of parameters."""
    return sorted(found, key=lambda each: (max(each.distance, least), len(each.family.searched)))


def _on_whole(logs: Sequence[Path], fitted: Likeness) -> Likeness:
    """Returns a family dropped at an early stage, with its distance on the whole logs."""
    with Replay(logs, _WHOLE // len(logs)) as replay:
        found = replay.compare(fitted.family.controller.name, fitted.parameters)
    is_ok = found["status"] == "ok"
    return replace(
        fitted,
        distance=found["distance"] if is_ok else _FAILED,
        explained=found.get("explained", 0),
    )


def _fit(logs: Sequence[Path], stage: _Stage, seed: int, before: Likeness) -> Likeness:
    """Returns a family's best fits to the stage's prefix of each log."""
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
        parameters = family.controller.complete(family.values(point), family.name)
        explained = replay.compare(name, parameters).get("explained", 0)
    return Likeness(family, _varied(family, fits), parameters, distance, explained)


def _varied(family: Family, fits: Iterable[_Fit]) -> list[_Fit]:
    """Returns fits by distance times k, for the k-th fit with the same integer parameters."""
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
    """Returns the best fit of a search from a point, with its integer parameters fixed."""
    real = sum(not each.is_integer for each in family.searched)
    best = fit(start)
    if real < 2:  # CMA-ES needs two dimensions: scan the range of the first parameter instead
        shares = np.linspace(0, 1, _DRAWN, endpoint=False).tolist() if start else []
        return min([best, *(fit((share, *start[1:])) for share in shares)])
    import cmaes  # of the extra `search`, which a contest without this fit does not need

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
