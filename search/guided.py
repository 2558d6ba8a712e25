"""A search in real time that the emulator guides: few real runs, of the settings that may be best.

First, emulated searches run on the calibrated host with several propagation delays, several
searches per delay; the leading settings of all searches are repeated at every delay. Real runs then
estimate how the real path differs: in its propagation delay, by a factor common to all settings,
and by a smooth residual over the parameters. The delay shows in the throughput, too, which varies
from run to run several times less than power. Real runs are allocated to the settings that may be
best, until one is clearly as good as the best, or the budget is spent.
"""

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from typing import TypeVar

import numpy as np
import pyarrow as pa

from kneepoint.common.tables import Table, from_rows, real, table, whole
from kneepoint.config.study import EMULATOR
from kneepoint.config.workflow import CALIBRATED
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Outcome, Plan, Steps
from kneepoint.runs.results import RESULTS, FinishedRun, FinishedTrial, means_of, trials_table
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.leaders import (
    Leader,
    Settled,
    leading,
    measure,
    measurement,
    settle,
    summarise_choice,
)
from kneepoint.search.loop import ask_and_tell
from kneepoint.search.plan import StudyPlan, summarise
from kneepoint.search.samplers import make_asker
from kneepoint.search.study import best_trial, columns_of, failures, plan_of
from kneepoint.stats import Floats
from kneepoint.stats.posterior import (
    MIN_NOISE,
    Hypothesis,
    Measured,
    Posterior,
    coordinates,
    hypotheses_of_search,
    rounded,
    smooth,
)

R = TypeVar("R")

PATHS = (-0.1, -0.05, 0.0, 0.05, 0.1)
"""Relative changes of the propagation delay at which settings are searched."""


@dataclass(frozen=True)
class Effort:
    """The number of emulated runs before the first real run; fewer emulated runs cost real runs.

    Args:
        starts: searches per path, with different seeds: one search may miss a peak.
        first: measurements of each leading setting on each path.
        further: maximum number of further measurements per path, of settings that may be best.
        at_once: further measurements that are chosen at once.
        certainty: probability that the recommendation is within 1 % of the best, at which they end.
    """

    starts: int = 6
    first: int = 2
    further: int = 1000
    at_once: int = 25
    certainty: float = 0.99


@dataclass(frozen=True)
class Discrepancy:
    """Errors of emulated power: prior standard deviations, in natural logarithms.

    Args:
        common: of the factor common to all settings.
        residual: of the residual, which varies smoothly over the parameters.
    """

    common: float
    residual: float

    def of_throughput(self) -> "Discrepancy":
        """Returns the discrepancy of throughput: 0.5 % if power has 1.1 % (docs/real-runs.md)."""
        return Discrepancy(0.5 * self.common, 0.5 * self.residual)


EFFORT = Effort()
DELAY_CHANGES = np.linspace(PATHS[0], PATHS[-1], 9)
"""Hypotheses on the real path: relative differences of its propagation delay from calibration."""
DELAY_CHANGE_PRIOR = np.exp(-np.abs(DELAY_CHANGES) / 0.04)
DISCREPANCY_PRIOR = {
    Discrepancy(0.01, 0.003): 0.4,
    Discrepancy(0.01, 0.01): 0.3,
    Discrepancy(0.3, 0.01): 0.1,
    Discrepancy(0.3, 0.04): 0.1,
    Discrepancy(0.3, 0.15): 0.1,
}
"""Prior probabilities: a calibrated emulator is within 1 % for most settings (docs/real-runs.md);
with a large common error, its ranking of settings is not reliable either."""
CORRELATION_LENGTH = 2.0
"""The correlation length of the residual, in standard deviations of the leading settings'
parameters."""
NOISE_RATIO_PRIOR = {0.7: 0.25, 1.0: 0.5, 1.4: 0.25}
"""Prior probabilities of the noise of real runs relative to emulated runs."""
PROMISED = Discrepancy(0.01, 0.01)
"""Discrepancy of a right guide: the mean error of calibrated hosts is 1.1 % (docs/real-runs.md)."""
MIN_REAL_RUNS = 8
"""The minimum number of real measurements for the test of the guide."""
DOUBT = 0.05
"""Significance level of the test that rejects the guide."""


@dataclass(frozen=True)
class EmulatedGuide:
    """The emulator's estimates: the leading settings and their values on every path.

    Args:
        settings: settings that lead on at least one path, shape (m,).
        at: their coordinates, shape (m, d).
        paths: posterior of log power on each of PATHS.
        throughputs: prior of log throughput on each of PATHS.
    """

    settings: tuple[Leader, ...]
    at: Floats
    paths: tuple[Posterior, ...]
    throughputs: tuple[Hypothesis, ...]

    @property
    def calibrated(self) -> Posterior:
        """The posterior on the calibrated path."""
        return self.paths[PATHS.index(0)]

    @property
    def winner(self) -> int:
        """The setting that the emulator alone recommends."""
        return int(np.argmax(self.calibrated.mean))

    def null_hypothesis(self, ratio: float = 1.0) -> Hypothesis:
        """Returns the hypothesis of a right guide: discrepancy PROMISED, noise times `ratio`."""
        return self._hypothesis(self.paths, 0.0, PROMISED, ratio)

    def doubt(self, measured: Measured) -> float:
        """Returns the p value of the test that the guide is right.

        Two tests are combined (Bonferroni): of deviations in any direction, and of deviations along
        the likely directions, a common factor and another propagation delay. Each p value is
        averaged over the noise ratios: noisier runs do not refute the guide.
        """
        of_path = self.paths[-1].mean - self.paths[0].mean
        likely = np.stack([np.ones_like(of_path), of_path], axis=1)
        nulls = [
            (self.null_hypothesis(ratio), weight) for ratio, weight in NOISE_RATIO_PRIOR.items()
        ]
        in_any_direction, in_likely = (
            sum(weight * null.p_value(measured, along) for null, weight in nulls)
            for along in (None, likely)
        )
        return min(1.0, 2 * min(in_any_direction, in_likely))

    def hypotheses(self, plan: StudyPlan, runs: Sequence[FinishedRun]) -> list[Hypothesis]:
        """Returns hypotheses on the real values, weighted by the throughputs of real runs."""
        real = throughputs(plan, self.settings, runs)
        found, logs = [], []
        for (slower, of_slower), (discrepancy, of_off), (ratio, of_ratio) in product(
            zip(DELAY_CHANGES, DELAY_CHANGE_PRIOR, strict=True),
            DISCREPANCY_PRIOR.items(),
            NOISE_RATIO_PRIOR.items(),
        ):
            found.append(self._hypothesis(self.paths, slower, discrepancy, ratio))
            carried = self._hypothesis(self.throughputs, slower, discrepancy.of_throughput(), ratio)
            logs.append(math.log(of_slower * of_off * of_ratio) + carried.evidence(real))
        weights = np.exp(np.maximum(np.array(logs) - max(logs), -100))
        return [replace(part, weight=float(w)) for part, w in zip(found, weights, strict=True)]

    def _hypothesis(
        self,
        of: Sequence[Posterior | Hypothesis],
        slower: float,
        discrepancy: Discrepancy,
        ratio: float,
    ) -> Hypothesis:
        """Returns a hypothesis; values are interpolated between the two nearest of PATHS."""
        shares = [float(np.interp(slower, PATHS, hat)) for hat in np.eye(len(PATHS))]
        each = list(zip(shares, of, strict=True))
        noise = np.maximum(of[PATHS.index(0)].noise, MIN_NOISE**2)
        return Hypothesis(
            np.sum([share * path.mean for share, path in each], axis=0),
            np.sum([share**2 * path.covariance for share, path in each], axis=0)
            + discrepancy.common**2
            + discrepancy.residual**2 * smooth(self.at, CORRELATION_LENGTH),
            ratio**2 * noise,
        )


@dataclass(frozen=True)
class GuidedOutcome:
    """The outcome of the real runs.

    Args:
        settled: the measurements and the recommendation.
        factor: geometric mean of real over emulated power, between the ends of its 95 % interval.
        doubt: p value of the test that the guide is right.
    """

    settled: Settled
    factor: tuple[float, float, float]
    doubt: float

    @property
    def is_off(self) -> bool:
        """Whether the test rejects the guide."""
        return self.doubt < DOUBT


def on_path(plan: StudyPlan, slower: float) -> StudyPlan:
    """Returns a study with the propagation delay changed by a share `slower`."""
    if not slower:
        return plan

    def changed(network: PreparedNetwork) -> PreparedNetwork:
        delay_ms = network.uplink.delay_ms * (1 + slower)
        is_whole = bool(network.uplink.trace or network.downlink.trace)
        return network.with_value("delay_ms", round(delay_ms) if is_whole else delay_ms)

    seed = derive_seed(plan.seed, "path", str(slower))
    return replace(plan, networks=tuple(map(changed, plan.networks)), seed=seed)


def emulate(plan: StudyPlan) -> Generator[Batch, Iterator[FinishedRun], EmulatedGuide]:
    """Searches on every path in virtual time, and repeats the leading settings."""
    paths = [on_path(plan, slower) for slower in PATHS]
    points: dict[tuple[float, ...], Leader] = {}
    for path in paths:
        trials = list[FinishedTrial]()
        for start in range(EFFORT.starts):
            again = replace(path, seed=derive_seed(path.seed, "start", start))
            asker = make_asker(again.study.sampler, again.space, again.points, again.seed)
            trials += yield from ask_and_tell(again, asker, lambda _: None)
        for setting in leading(path, trials)[0]:
            key = tuple(setting.point.values())
            points.setdefault(key, Leader(len(points), setting.point))
    settings = tuple(points.values())
    at = coordinates(plan.space, [each.point for each in settings])
    asked = [(k, number) for number in range(EFFORT.first) for k in range(len(settings))]
    known = []
    for path in paths:
        known.append((yield from _repeat_leading(path, settings, at, asked)))
    values, carried = zip(*known, strict=True)
    return EmulatedGuide(settings, at, values, carried)


def _repeat_leading(
    path: StudyPlan, settings: Sequence[Leader], at: Floats, asked: Sequence[tuple[int, int]]
) -> Generator[Batch, Iterator[FinishedRun], tuple[Posterior, Hypothesis]]:
    """Repeats settings on a path; returns the posterior of log power, and log throughputs."""
    found, runs = yield from measure(path, settings, asked)
    known = Measured.empty(len(settings)).with_values(found)
    again = replace(path, seed=derive_seed(path.seed, "leaders"))
    hypotheses = hypotheses_of_search(at, known)
    settled = yield from settle(
        again,
        settings,
        lambda _: hypotheses,
        EFFORT.further,
        known,
        EFFORT.at_once,
        EFFORT.certainty,
    )
    told = throughputs(path, settings, [*runs, *settled.runs])
    return settled.posterior, told.as_prior()


def throughputs(
    plan: StudyPlan, settings: Sequence[Leader], runs: Sequence[FinishedRun]
) -> Measured:
    """Returns the log throughputs of measurements, whose runs are consecutive in `runs`."""
    each = len(measurement(plan, settings[0], 0))
    of_each = (runs[first : first + each] for first in range(0, len(runs), each))
    found = [(some[0].planned.trial, means_of(some).get("throughput_mbps", 0)) for some in of_each]
    logs = [(at, math.log(mbps)) for at, mbps in found if mbps > 0]
    return Measured.empty(len(settings)).with_values(logs)


def by_engine_of(
    plan: StudyPlan, steps: Generator[Batch, Iterator[FinishedRun], R]
) -> Generator[Batch, Iterator[FinishedRun], R]:
    """Runs auxiliary batches on the plan's engine; they do not count as trials."""
    try:
        batch = next(steps)
        while True:
            batch = steps.send((yield replace(batch, engine=plan.engine, counts=False)))
    except StopIteration as end:
        found: R = end.value
        return found


def spend(
    plan: StudyPlan, guide: EmulatedGuide, budget: int
) -> Generator[Batch, Iterator[FinishedRun], GuidedOutcome]:
    """Measures the guide's settings in at most `budget` real measurements."""
    settled = yield from settle(
        plan,
        guide.settings,
        partial(guide.hypotheses, plan),
        budget,
        least=MIN_REAL_RUNS,
        among_measured=True,
    )
    null, counts = guide.null_hypothesis(), settled.measured.counts
    factor = float(counts @ (settled.measured.means - null.mean) / counts.sum())
    half = 1.96 * math.sqrt(float(counts @ null.noise)) / float(counts.sum())
    low, middle, high = (math.exp(factor + each) for each in (-half, 0, half))
    return GuidedOutcome(settled, (low, middle, high), guide.doubt(settled.measured))


def plan(job: Job, name: str) -> Plan:
    """Plans a guided study of the configuration.

    Raises:
        KneepointError: a network is not prepared, the host is not calibrated, or the engine does
            not work.
    """
    real = plan_of(job, name)
    emulated = _on_calibrated_host(job, real)
    budget = real.study.real_runs
    assert budget is not None

    def steps() -> Steps:
        guide = yield from by_engine_of(emulated, emulate(emulated))
        found = yield from spend(real, guide, budget // len(real.networks))
        return _outcome(real, guide, found, budget)

    return Plan(real.engine, budget, steps())


def _on_calibrated_host(job: Job, real: StudyPlan) -> StudyPlan:
    host = PreparedNetwork.load(job.workflow.results / CALIBRATED / "network.json")
    networks = (job.network(network.name) for network in real.networks)
    return replace(
        real,
        study=real.study.model_copy(update={"engine": EMULATOR}),
        engine=job.engine(EMULATOR),
        networks=tuple(
            replace(each, host_model=host.host_model, host_latency_us=host.host_latency_us)
            for each in networks
        ),
        seed=derive_seed(real.seed, "guide"),
    )


def _outcome(plan: StudyPlan, guide: EmulatedGuide, found: GuidedOutcome, budget: int) -> Outcome:
    settled = found.settled
    runs: dict[int, list[FinishedRun]] = {}
    for run in settled.runs:
        runs.setdefault(run.planned.trial, []).append(run)
    trials = [_trial(plan, guide.settings[k], runs[k]) for k in sorted(runs)]
    chosen = settled.verdict.recommended
    best = best_trial(plan, next(trial for trial in trials if trial.number == chosen))
    said = summarise_choice(guide.settings, settled, budget, guide.winner)
    of_guide = {
        "real_over_emulated": dict(
            zip(("low", "mean", "high"), map(rounded, found.factor), strict=True)
        ),
        "doubt": rounded(found.doubt),
        "is_off": found.is_off,
    }
    off = (
        f"; the guide is wrong: real power is {found.factor[1]:.3f} of the emulated power, or the "
        "ranking of settings differs"
    )
    message = (
        f"{len(settled.runs)} of at most {budget} real runs: trial {chosen}, within 1 % of the "
        f"best with probability {settled.verdict.within:.2f}, {said['gain']:+.1%} over the "
        f"recommendation of the emulator alone{off if found.is_off else ''}"
    )
    return Outcome(
        runs=[run.planned for run in settled.runs],
        message=message,
        tables={
            "trials.parquet": trials_table(plan.name, columns_of(plan), trials),
            "candidates.parquet": _candidates(plan, guide, settled),
        },
        summaries={
            "study.json": {
                **summarise(plan),
                "n_trials": len(trials),
                "failed": asdict(failures(trials)),
                "best": asdict(best),
                "posterior": said,
                "guide": of_guide,
            }
        },
    )


def _trial(plan: StudyPlan, setting: Leader, runs: Sequence[FinishedRun]) -> FinishedTrial:
    score = plan.score(runs, setting.point)
    return FinishedTrial(
        setting.trial, setting.point, score.value, score.reason, means_of(runs), len(runs)
    )


def _schema(searched: Iterable[str] = ()) -> Table:
    return table(
        "candidates",
        "a candidate of a guided search: emulated estimate, real measurements, final posterior (as "
        "natural logarithms); other columns are the searched values",
        whole("trial"),
        real(*searched),
        real("emulated", "emulated_deviation", "measurements", "measured"),
        real("posterior", "deviation", "best"),
        version=RESULTS,
        is_open=True,
    )


CANDIDATES = _schema()


def _candidates(plan: StudyPlan, guide: EmulatedGuide, settled: Settled) -> pa.Table:
    emulated, posterior, measured = guide.calibrated, settled.posterior, settled.measured
    columns: dict[str, Floats] = {
        "emulated": emulated.mean,
        "emulated_deviation": emulated.deviation,
        "measurements": measured.counts,
        "measured": np.where(measured.counts > 0, measured.means, np.nan),
        "posterior": posterior.mean,
        "deviation": posterior.deviation,
        "best": settled.verdict.best,
    }
    rows = (
        {"trial": setting.trial, **setting.point}
        | {name: rounded(float(column[k])) for name, column in columns.items()}
        for k, setting in enumerate(guide.settings)
    )
    return from_rows(_schema(plan.space), rows)
