"""A guided search: few and reproducible real runs, of the best settings; errors of the guide."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.common.tables import read_frame
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.runs.job import Job
from kneepoint.runs.results import RUNS, TRIALS, FinishedRun, PlannedRun
from kneepoint.search import guided
from kneepoint.search.guided import CANDIDATES, MIN_REAL_RUNS, PATHS, Effort, EmulatedGuide
from kneepoint.search.leaders import CLEAR, Leader
from kneepoint.stats.posterior import Hypothesis, Measured, Posterior
from tests.benchmarks.guided import SEARCHES, Task, compare, lines
from tests.experiments.calibrated import CONFIRM
from tests.experiments.fakes import (
    FakeEngine,
    ShuffledExecutor,
    job_of,
    measure,
    network,
    perform,
    run_spec,
)
from tests.experiments.fakes import plan as make_plan
from tests.experiments.wire import NETWORK, command, prepare_wire, write

HOST_US = 200
STUDY: dict[str, Any] = {
    "title": "GuidedOutcome",
    "controller": "fixed_window",
    "engine": "mahimahi",
    "networks": ["wire"],
    "space": {"window": {"low": 2, "high": 40}},
    "sampler": {"kind": "random", "trials": 60},
    "guide": "emulator",
    "real_runs": 12,
}
KEYS = ("controller", "space", "sampler")
CONFIGURATION = {"studies": ["guided"], "confirm": CONFIRM}

Behaviour = Callable[[RunSpec], RunRecord]
Open = Callable[..., Job]


def world(shift: float = 0.0, factor: float = 1.0) -> Behaviour:
    """Emulated power peaks at window 12, real power at a window greater by a factor exp(shift)."""

    def run(spec: RunSpec) -> RunRecord:
        is_real = spec.engine == "mahimahi"
        assert is_real or spec.network.host_latency_us == HOST_US
        noise = np.random.default_rng(int(spec.run_id[8:16], 16)).standard_normal()
        off = np.log(spec.parameters["window"] / 12) - shift * is_real
        power = 40 * np.exp(-0.5 * off**2 + 0.015 * noise) * (factor if is_real else 1)
        metrics = {
            "throughput_mbps": 4.0,
            "capacity_mbps": 5.0,
            "utilization": 0.8,
            "queueing_delay_p95_ms": 50.0,
            "signal_delay_p50_ms": 40.0,
            "signal_delay_p95_ms": 80.0,
            "power": power,
            "packets_sent": 9,
            "packets_delivered": 9,
            "packets_dropped": 0,
        }
        return RunRecord.measured(spec, metrics)

    return run


@pytest.fixture(autouse=True)
def _few_emulated_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "EFFORT", Effort(starts=1, further=100))


@pytest.fixture
def open_job(tmp_path: Path) -> Open:
    """Makes jobs of the guided study on a calibrated host; keywords are keys of the study."""
    write(tmp_path / "config/networks/wire.yaml", NETWORK)
    prepare_wire(tmp_path, tmp_path / "networks/wire")
    host = json.loads((tmp_path / "networks/wire/network.json").read_text())
    (tmp_path / "results/calibration").mkdir(parents=True)
    calibrated = json.dumps({**host, "host_latency_us": HOST_US})
    (tmp_path / "results/calibration/network.json").write_text(calibrated)

    def opened(
        fake: FakeEngine,
        order: int = 0,
        executes: type[ShuffledExecutor] = ShuffledExecutor,
        **changes: Any,
    ) -> Job:
        write(tmp_path / "config/studies/guided.yaml", {**STUDY, **changes})
        return job_of(tmp_path, "guided", CONFIGURATION, executes(fake, order))

    return opened


def outcome(job: Job) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((job.out_dir / "study.json").read_text())
    return found


def digests(job: Job) -> list[str]:
    return [sha256_of(file.read_bytes()) for file in sorted(job.out_dir.glob("*.parquet"))]


def test_a_right_guide_needs_few_real_runs(open_job: Open) -> None:
    job = open_job(FakeEngine(world()))
    perform(job)
    found = outcome(job)
    told, runs = found["posterior"], read_frame(job.out_dir / "runs.parquet", RUNS)
    assert set(runs["engine"]) == {"mahimahi"}
    assert MIN_REAL_RUNS <= told["runs"] == len(runs) <= told["budget"] == 12
    assert found["best"]["parameters"]["window"] in (11, 12, 13)
    guide = found["guide"]
    assert told["within_1_percent"] > CLEAR and not guide["is_off"]
    low, high = (guide["real_over_emulated"][end] for end in ("low", "high"))
    assert low < 1 < high < low + 0.1
    trials = read_frame(job.out_dir / "trials.parquet", TRIALS)
    assert trials["n_runs"].sum() == len(runs)
    assert set(trials["trial"]) == set(runs["trial"]) >= {found["best"]["trial"]}
    candidates = read_frame(job.out_dir / "candidates.parquet", CANDIDATES).set_index("trial")
    assert candidates["measurements"].sum() == len(runs)
    alone = told["otherwise"]["trial"]
    assert candidates["emulated"].idxmax() == alone
    assert candidates.loc[trials["trial"], "measured"].notna().all()


def test_real_runs_correct_the_guide_and_tell_that_it_is_wrong(open_job: Open) -> None:
    job = open_job(FakeEngine(world(shift=0.3, factor=0.8)), real_runs=30)
    perform(job)
    found = outcome(job)
    told, guide = found["posterior"], found["guide"]
    assert guide["is_off"] and told["gain"] > 0.01
    assert guide["real_over_emulated"]["high"] < 0.9
    assert told["otherwise"]["searched"]["parameter_window"] in (11, 12, 13)
    assert found["best"]["parameters"]["window"] in (14, 15, 16, 17, 18)


def guide_of_five(noise: float = 0.03) -> EmulatedGuide:
    """Five settings, of which the third is best on every path; slower paths carry less."""
    at, nothing = np.linspace(-1, 1, 5), np.zeros((5, 5))
    path = Posterior((Hypothesis(-(at**2) / 10, nothing, np.full(5, noise**2)),))
    paths = [replace(path.parts[0], mean=path.mean - slower) for slower in PATHS]
    settings = tuple(Leader(k, {"window": float(x)}) for k, x in enumerate(at))
    carried = [np.full(5, np.log(4) - 0.5 * slower) for slower in PATHS]
    throughputs = [Hypothesis(mean, nothing, np.full(5, 0.003**2)) for mean in carried]
    return EmulatedGuide(
        settings, at[:, None], tuple(Posterior((x,)) for x in paths), tuple(throughputs)
    )


@pytest.mark.parametrize("slower", PATHS)
def test_throughputs_tell_the_path(slower: float) -> None:
    guide = guide_of_five()
    mbps = 4 * float(np.exp(-0.5 * slower))
    record = replace(measure(run_spec()), throughput_mbps=mbps)
    runs = [FinishedRun(PlannedRun(k, 0, None, run_spec()), record) for k in (1, 2, 3)]
    plan = make_plan(None, [network("wire")], **{key: STUDY[key] for key in KEYS})
    told = guide.hypotheses(plan, runs)
    assert max(told, key=lambda each: each.weight).mean[2] == pytest.approx(-slower)
    # A failed run carries nothing, and is no evidence on the path.
    failed = FinishedRun(runs[0].planned, RunRecord("", "failed", "it sent nothing"))
    again = guide.hypotheses(plan, [failed, *runs])
    assert [each.weight for each in again] == [each.weight for each in told]


def test_noisier_runs_do_not_make_the_guide_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = 0.03
    guide = guide_of_five(noise)

    def called_wrong(ratio: float, factor: float = 0.0) -> float:
        random, calls = np.random.default_rng(5), []
        for _ in range(200):
            chosen = random.integers(5, size=MIN_REAL_RUNS)
            real = guide.calibrated.mean[chosen] + factor
            values = real + ratio * noise * random.standard_normal(MIN_REAL_RUNS)
            found = zip(map(int, chosen), map(float, values), strict=True)
            calls.append(guide.doubt(Measured.empty(5).with_values(found)) < guided.DOUBT)
        return float(np.mean(calls))

    assert called_wrong(1.0) <= 0.03 and called_wrong(1.4) <= 0.1
    assert called_wrong(1.0, factor=0.1) >= 0.9
    monkeypatch.setattr(guided, "NOISE_RATIO_PRIOR", {1.0: 1.0})
    assert called_wrong(1.4) > 0.1


def test_several_starts_find_a_peak_that_one_misses(
    open_job: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def steep(spec: RunSpec) -> RunRecord:
        off = abs(spec.parameters["window"] - 700) / 5
        return replace(world()(spec), power=30 + 10 * float(np.exp(-off)))

    found = []
    for starts in (1, Effort().starts):
        monkeypatch.setattr(guided, "EFFORT", Effort(starts=starts, further=100))
        space = {"window": {"low": 2, "high": 1000}}
        job = open_job(FakeEngine(steep), space=space, sampler={"kind": "random", "trials": 10})
        perform(job)
        found.append(outcome(job)["best"]["value"])
        for file in job.out_dir.iterdir():
            file.unlink()
    assert found[0] < 35 < found[1]


def test_neither_order_nor_interruption_changes_anything(open_job: Open) -> None:
    whole = FakeEngine(world())
    job = open_job(whole)
    perform(job)
    reference = digests(job), outcome(job)
    for order, after in ((1, 70), (5, len(whole.ran) - 2)):
        for file in job.out_dir.iterdir():
            file.unlink()
        engine = FakeEngine()

        def die(spec: RunSpec, engine: FakeEngine = engine, after: int = after) -> RunRecord:
            if len(engine.ran) > after:
                raise KeyboardInterrupt
            return world()(spec)

        engine.behaviour = die
        with pytest.raises(KeyboardInterrupt):
            perform(open_job(engine, order))
        rest = FakeEngine(world())
        perform(open_job(rest, order + 1))
        assert (digests(job), outcome(job)) == reference
        assert len(engine.ran) + len(rest.ran) <= len(whole.ran) + 4


def test_as_many_at_once_as_are_asked_ahead(open_job: Open) -> None:
    sizes: list[int] = []

    class Counting(ShuffledExecutor):
        def execute(self, specs: Any) -> Any:
            if specs[0].engine == "mahimahi":
                sizes.append(len(specs))
            return super().execute(specs)

    perform(open_job(FakeEngine(world()), executes=Counting, real_runs=11, ask_ahead=3))
    assert set(sizes[:-1]) <= {3} and sizes[-1] in (2, 3) and sum(sizes) <= 11


def test_a_failed_real_run_counts_as_none_of_power(open_job: Open) -> None:
    def broken(spec: RunSpec) -> RunRecord:
        if spec.engine == "mahimahi":
            return RunRecord(spec.run_id, "failed", "it sent nothing")
        return world()(spec)

    job = open_job(FakeEngine(broken))
    perform(job)
    assert outcome(job)["guide"]["is_off"]
    assert set(read_frame(job.out_dir / "trials.parquet", TRIALS)["reason"]) == {"it sent nothing"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"real_runs": 0}, ["real_runs", "greater than or equal to 1"]),
        ({"real_runs": 3}, ["real_runs is 3", "4 runs", "ask_ahead"]),
        ({"real_runs": None}, ["add real_runs"]),
        ({"guide": None}, ["real_runs", "add guide"]),
        ({"engine": "emulator"}, ["emulator has none", "remove guide"]),
        ({"runs_per_trial": 2}, ["chooses the repeats"]),
        ({"objective": {"throughput": "mean", "delay_ms": 90}}, ["greatest power"]),
    ],
)
def test_mistakes_are_told_before_anything_runs(
    open_job: Open, changes: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(KneepointError) as told:
        open_job(FakeEngine(world()), **changes)
    assert all(word in str(told.value) for word in ["guided.yaml", *words])
    assert "\n" not in str(told.value)


def test_a_guide_needs_the_calibration_of_this_host(open_job: Open, tmp_path: Path) -> None:
    job = open_job(FakeEngine(world()))
    (job.workflow.results / "calibration/network.json").unlink()
    with pytest.raises(KneepointError, match="calibration/network"):
        perform(job)
    write(tmp_path / "config/config.yaml", {"seed": 1, "studies": ["guided"]})
    assert command(tmp_path, "guided") == 2
    with pytest.raises(KneepointError, match="add confirm"):
        job_of(tmp_path, "guided", {"studies": ["guided"]})


def far(spec: RunSpec) -> RunRecord:
    """On a longer path power is less, and peaks at a greater window."""
    off = np.log(spec.parameters["window"] / (0.6 * spec.network.uplink.delay_ms))
    noise = np.random.default_rng(int(spec.run_id[:8], 16)).standard_normal()
    power = 800 / spec.network.uplink.delay_ms * np.exp(-0.5 * off**2 + 0.01 * noise)
    return replace(measure(spec), power=float(power))


def test_the_benchmark_tells_a_good_guide_from_a_bad_one() -> None:
    there = [network("wire", uplink={"delay_ms": 40})]
    small = make_plan(None, there, **{key: STUDY[key] for key in KEYS})
    task = Task("small", 0, 60, 12, 20)
    found = {each.disturbance: each for each in compare(small, task, FakeEngine(far))}
    best, alone = 0, SEARCHES.index("emulator's winner")
    assert all(each.losses[best] < 0.01 and each.runs <= 12 for each in found.values())
    assert found[0.2].losses[alone] > 0.005 > found[0.0].losses[alone]
    assert found[0.2].is_off and not found[0.0].is_off
    assert max(each.noisy[2] for each in found.values()) < 0.01
    table = list(lines(list(found.values())))
    assert [row.split("|")[1].strip() for row in table[2:6]] == ["0%", "5%", "10%", "20%"]
