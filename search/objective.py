"""Objectives: pure functions from the runs of a trial to its score."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kneepoint.config.study import Over
from kneepoint.engines.expression import Expression
from kneepoint.runs.results import FinishedRun, FinishedTrial

MIN_POWER = 1e-3
"""Floor of power (Mbit/s/s) in logarithms, which a failed run has."""

MIN_GOODPUT = 1e-6
"""Floor of a goodput (Mbit/s) in logarithms."""

MISFIT_SCALE = 0.02
"""Relative error up to which the robust misfit is quadratic: published figures have two or three
digits."""

WORST_MISFIT = 10.0
"""Misfit of a metric that a failed run lacks; the upper bound of every misfit."""

PublishedMetrics = Mapping[int, Mapping[str, float]]
"""The metrics of each row of a table, by the row's number."""

FIT_METRICS = ("throughput_mbps", "signal_delay_p95_ms", "queueing_delay_p95_ms")


WORST_DELAY_MS = 60_000.0
"""Signal delay of a failed run (ms)."""

TAIL = 0.25
"""The default share of the worst runs that cvar averages."""


@dataclass(frozen=True)
class Score:
    """The score of a trial.

    Args:
        value: of the objective, in its unit.
        reason: why a run failed, or "".
        violation: relative excess over a bound; at most 0 where the bound holds.
        objectives: the objectives of a search for a Pareto front.
    """

    value: float
    reason: str = ""
    violation: float | None = None
    objectives: tuple[float, ...] = ()


def score_power(runs: Sequence[FinishedRun], over: Over, tail: float = TAIL) -> Score:
    """Scores by power, to maximise; a failed run counts as power 0."""
    powers = [power_of(run) for run in runs]
    return Score(_overall(_by_network(runs, powers), over, tail, MIN_POWER), _failure(runs))


def score_bounded(
    runs: Sequence[FinishedRun], over: Over, bound_ms: float, tail: float = TAIL
) -> Score:
    """Scores by throughput (Mbit/s) under a bound on the signal delay (ms).

    Both are aggregated over networks in the same way. A failed run has throughput 0 and the delay
    WORST_DELAY_MS.
    """
    throughput, delay_ms = _throughput(runs, over, tail), _delay_ms(runs, over, tail)
    return Score(throughput, _failure(runs), violation=delay_ms / bound_ms - 1)


def score_front(runs: Sequence[FinishedRun], over: Literal["mean", "worst", "mean_log"]) -> Score:
    """Scores by throughput (Mbit/s, to maximise) and signal delay (ms, to minimise).

    The value is their power, which is greatest at the knee of the front (Kleinrock 1979).
    """
    throughput, delay_ms = _throughput(runs, over, TAIL), _delay_ms(runs, over, TAIL)
    if over == "mean_log":
        throughput, delay_ms = math.exp(throughput), math.exp(delay_ms)
    power = throughput / delay_ms * 1000
    return Score(power, _failure(runs), objectives=(throughput, delay_ms))


def score_expression(
    runs: Sequence[FinishedRun], expression: Expression, over: Literal["mean", "worst"]
) -> Score:
    """Scores by an expression of each run's metrics, to maximise.

    A failed run, or a run for which the expression has no value, counts as a run that delivered
    nothing.
    """
    values = []
    for run in runs:
        network = run.planned.spec.network
        try:
            if run.record.status != "ok":
                raise ValueError
            values.append(expression.of_run(run.record, network))
        except ValueError:
            values.append(expression.of_failed_run(network.omniscient))
    return Score(_overall(_by_network(runs, values), over, TAIL, -math.inf), _failure(runs))


def power_of(run: FinishedRun) -> float:
    """Returns a run's power (Mbit/s/s): 0 if it failed."""
    return _counted(run, "power", 0.0)


def value_of_pair(run: FinishedRun, over: Over) -> float:
    """Returns the value of a run that a race compares: its power, or the logarithm of its power."""
    power = power_of(run)
    return math.log(max(power, MIN_POWER)) if over == "mean_log" else power


def _throughput(runs: Sequence[FinishedRun], over: Over, tail: float) -> float:
    values = [_counted(run, "throughput_mbps", 0.0) for run in runs]
    return _overall(_by_network(runs, values), over, tail, MIN_GOODPUT)


def _delay_ms(runs: Sequence[FinishedRun], over: Over, tail: float) -> float:
    """Returns the aggregate of signal delays, to minimise: the worst is the greatest."""
    values = [-_counted(run, "signal_delay_p95_ms", WORST_DELAY_MS) for run in runs]
    by_network = _by_network(runs, values)
    if over == "mean_log":
        means = [math.log(max(1.0, -math.fsum(each) / len(each))) for each in by_network]
        return math.fsum(means) / len(means)
    return -_overall(by_network, over, tail, -math.inf)


def _counted(run: FinishedRun, metric: str, of_failed: float) -> float:
    value: float | None = getattr(run.record, metric) if run.record.status == "ok" else of_failed
    assert value is not None
    return value


def _by_network(runs: Sequence[FinishedRun], values: Sequence[float]) -> list[list[float]]:
    by_network: dict[str, list[float]] = {}
    for run, value in zip(runs, values, strict=True):
        by_network.setdefault(run.planned.spec.network.name, []).append(value)
    return list(by_network.values())


def _overall(by_network: Sequence[Sequence[float]], over: Over, tail: float, least: float) -> float:
    """Aggregates values, to maximise.

    Values are averaged on each network, then aggregated over networks: by the mean, the minimum
    (worst), or the mean of natural logarithms of at least `least`. The conditional value at risk
    (cvar) is the mean of the worst share `tail` of all values (Rockafellar and Uryasev, Journal of
    Risk 2000).
    """
    if over == "cvar":
        every = sorted(value for values in by_network for value in values)
        worst = every[: math.ceil(tail * len(every))]
        return math.fsum(worst) / len(worst)
    means = [math.fsum(values) / len(values) for values in by_network]
    if over == "worst":
        return min(means)
    if over == "mean_log":
        means = [math.log(max(mean, least)) for mean in means]
    return math.fsum(means) / len(means)


def score_worst_case(runs: Sequence[FinishedRun], opponent: Sequence[FinishedRun]) -> Score:
    """Scores a network by the relative power of a controller on it, to minimise.

    Relative power is the mean power over the runs, divided by the opponent's mean power or, without
    an opponent, by the omniscient bound. A failed run has power 0; both powers are floored at
    MIN_POWER.
    """
    if opponent:
        reference = _mean_power(opponent)
    else:
        bound = runs[0].planned.spec.network.omniscient
        assert bound is not None
        reference = bound.power
    return Score(
        max(_mean_power(runs), MIN_POWER) / max(reference, MIN_POWER),
        _failure([*runs, *opponent]),
    )


def _mean_power(runs: Sequence[FinishedRun]) -> float:
    return math.fsum(map(power_of, runs)) / len(runs)


def score_flows(
    runs: Sequence[FinishedRun],
    over: Literal["sum_log", "worst", "share"],
    subjects: frozenset[str],
) -> Score:
    """Scores by the goodputs of several flows, to maximise, averaged over the runs.

    sum_log is the sum of the natural logarithms (Mbit/s), the utility of proportional fairness
    (Kelly, Maulloo, Tan: Rate control for communication networks, J. Oper. Res. Soc. 1998); worst
    is the lowest goodput; share is the share of the flows of the controller under study. In a
    failed run all goodputs are 0.

    Args:
        runs: the runs of the trial, with their flows.
        over: the aggregate over flows.
        subjects: names of the flows of the controller under study.
    """
    values = []
    for run in runs:
        flows = run.record.flows or ()
        goodputs = {flow["name"]: flow["goodput_mbps"] or 0.0 for flow in flows}
        total = math.fsum(goodputs.values())
        if over == "sum_log":
            each = [math.log(max(goodput, MIN_GOODPUT)) for goodput in goodputs.values()]
            values.append(math.fsum(each) if each else math.log(MIN_GOODPUT))
        elif over == "worst":
            values.append(min(goodputs.values(), default=0.0))
        else:
            own = math.fsum(goodputs[name] for name in subjects if name in goodputs)
            values.append(own / total if total > 0 else 0.0)
    return Score(math.fsum(values) / len(values), _failure(runs))


def score_least(
    runs: Sequence[FinishedRun], value: float, greatest: float, keeping: Iterable[tuple[str, float]]
) -> Score:
    """Scores by a parameter, to minimise while some metrics reach their bounds.

    Where the mean of each metric reaches its bound the score is the parameter; otherwise it is
    greater than any such parameter, by the largest relative shortfall: so a metric that only grows
    with the parameter makes the score unimodal, which bracketing samplers need.

    Args:
        runs: the runs of the trial.
        value: the parameter.
        greatest: its upper bound in the search.
        keeping: metrics and their bounds.
    """
    shortfall = 0.0
    for metric, bound in keeping:
        values = [getattr(run.record, metric) or 0.0 for run in runs]
        mean = math.fsum(values) / len(values)
        shortfall = max(shortfall, (bound - mean) / bound)
    return Score(value if shortfall <= 0 else greatest * (1 + shortfall), _failure(runs))


def score_fit(
    runs: Sequence[FinishedRun], tables: Sequence[PublishedMetrics], robust: bool
) -> Score:
    """Scores by the misfit to published rows, to minimise.

    The runs of a row are averaged. Each figure of the row has a relative error e = |ln(ours /
    published)| and a loss; the misfit is the mean loss of a table, averaged over tables, which
    weigh the same however many rows they have. Power counts only where a row has neither throughput
    nor delay, which determine it. The robust loss is Huber's: e^2 / 2s up to s = MISFIT_SCALE, then
    e - s/2, so that a wrong row pulls no harder than a row with the error s. Otherwise the loss is
    e^2.

    Args:
        runs: the runs of the trial, each with its row.
        tables: the published rows of each table.
        robust: whether the loss is Huber's.
    """
    misfits = [_misfit(runs, published, robust) for published in tables]
    return Score(math.fsum(misfits) / len(misfits), _failure(runs))


def _misfit(runs: Sequence[FinishedRun], published: PublishedMetrics, robust: bool) -> float:
    losses = []
    for number, metrics in published.items():
        of_row = [run for run in runs if run.planned.row == number]
        for metric in [name for name in FIT_METRICS if name in metrics] or ["power"]:
            if metric in metrics:
                losses.append(loss_of(_relative_error(of_row, metric, metrics[metric]), robust))
    return math.fsum(losses) / len(losses)


def find_best(trials: Sequence[FinishedTrial], minimise: bool) -> FinishedTrial:
    """Returns the best of at least one trial; of equal trials, the first.

    A stopped trial is never the best. A trial that keeps the bound is better than any trial that
    does not; if none keeps it, the trial with the smallest violation is best.
    """
    sign = -1 if minimise else 1

    def rank(trial: FinishedTrial) -> tuple[bool, float, float]:
        beyond = max(0.0, trial.violation or 0.0)
        return not trial.is_stopped, -beyond, sign * trial.value

    return max(trials, key=rank)


def _relative_error(runs: Sequence[FinishedRun], metric: str, published: float) -> float | None:
    """Returns |ln(ours / published)|, or None if a run failed or none measured the metric."""
    values = [getattr(run.record, metric) for run in runs if run.record.status == "ok"]
    if len(values) < len(runs) or not values:
        return None
    ours = math.fsum(values) / len(values)
    return abs(math.log(ours / published)) if ours > 0 and published > 0 else None


def loss_of(error: float | None, robust: bool) -> float:
    """Returns the loss of a relative error; None stands for a metric missing in a failed run."""
    if error is None:
        return WORST_MISFIT
    if not robust:
        loss = error**2
    elif error <= MISFIT_SCALE:
        loss = error**2 / (2 * MISFIT_SCALE)
    else:
        loss = error - MISFIT_SCALE / 2
    return min(loss, WORST_MISFIT)


def _failure(runs: Sequence[FinishedRun]) -> str:
    return next((run.record.reason for run in runs if run.record.status == "failed"), "")
