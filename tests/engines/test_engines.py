"""The contract of every engine, and the emulator's engine when its process misbehaves."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.engines.base import (
    AGES,
    SHARES,
    Engine,
    EngineSettings,
    MachineFaultError,
    RunRecord,
    RunSpec,
    digest_of,
)
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.networks.scenario import PreparedNetwork, Traffic
from tests.conftest import ROOT
from tests.engines.real import kernel_engine, real_engine
from tests.experiments.fakes import FakeSettings, built_spec, network, run_spec

EMULATE = ROOT / "build" / "emulate"

# Answers with the number of its answers as the power, except for one window.
SCRIPT = """#!{python}
import json, os, signal, sys, time
answers = 0
for line in sys.stdin:
    answers += 1
    if json.loads(line)["scenario"]["flows"][0]["parameters"]["window"] == 666:
        {misbehaviour}
        continue
    print(json.dumps({{**{figures}, "power": float(answers)}}), flush=True)
"""
FIGURES: dict[str, object] = {
    "status": "ok",
    **dict.fromkeys(("throughput_mbps", "capacity_mbps", "utilization"), 1.5),
    **dict.fromkeys(("queueing_delay_p95_ms", "signal_delay_p95_ms"), 1.5),
    "packets_sent": 3,
}


def emulator_that(folder: Path, misbehaviour: str = "pass") -> EmulatorSettings:
    """An emulator that misbehaves at window 666."""
    path = folder / "emulate"
    script = SCRIPT.format(python=sys.executable, misbehaviour=misbehaviour, figures=FIGURES)
    path.write_text(script)
    path.chmod(0o755)
    return EmulatorSettings(digest_of(path), path, folder, idle_limit_s=0.2)


def says(**answer: object) -> str:
    """Returns the code that prints an answer."""
    return f"print({json.dumps(answer)!r}, flush=True)"


@pytest.fixture
def link(tmp_path: Path) -> PreparedNetwork:
    """Two seconds at 12 Mbit/s."""
    content = "".join(f"{t}\n" for t in range(1, 2001)).encode()
    for name in ("up.trace", "down.trace"):
        (tmp_path / name).write_bytes(content)
    digest = sha256_of(content)
    return network(
        "wire",
        duration_s=2,
        uplink={"trace": str(tmp_path / "up.trace"), "trace_sha256": digest},
        downlink={"trace": str(tmp_path / "down.trace"), "trace_sha256": digest},
    )


IN_REAL_TIME: dict[str, Callable[[], EngineSettings]] = {
    "mahimahi": real_engine,
    "kernel": kernel_engine,
}


@pytest.fixture(
    params=[
        "fake",
        "emulator",
        *(pytest.param(n, marks=pytest.mark.real_time) for n in IN_REAL_TIME),
    ]
)
def settings(request: pytest.FixtureRequest) -> EngineSettings:
    """Every engine; tests of an engine that cannot work here are skipped with the reason."""
    if request.param == "fake":
        return FakeSettings()
    if request.param in IN_REAL_TIME:
        return IN_REAL_TIME[request.param]()
    if not EMULATE.exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    return EmulatorSettings.of(EMULATE)


@pytest.fixture
def engine(settings: EngineSettings) -> Iterator[Engine]:
    opened = settings.open()
    yield opened
    opened.close()


def spec_for(
    settings: EngineSettings, link: PreparedNetwork, window: int = 12, seed: int = 1
) -> RunSpec:
    """A run on the link; on the kernel, with a rate instead of the trace, and the kernel's TCP."""
    of_engine: dict[str, Any] = {"engine": settings.engine, "engine_sha256": settings.sha256}
    if settings.engine == "fake":
        return run_spec(window, seed, network=link)
    if settings.engine == "kernel":
        rate = {"trace": "", "trace_sha256": "", "rate_mbps": 12}
        tcp = Traffic("tcp", {"flow": {"transport": "tcp"}})
        of_engine |= {"controller": "reno", "parameters": {}, "traffic": tcp}
        return run_spec(seed=seed, network=network("wire", rate, rate, duration_s=2), **of_engine)
    return built_spec(window, seed, network=settings.place(link), **of_engine)


OF_TRAFFIC = {"flows", "probes", "queue_by_interval_packets"}
EMULATED_ONLY = {"packets_lost", *SHARES}
SIGNAL_DELAYS = {"signal_delay_p50_ms", "signal_delay_p95_ms", *AGES}
REAL_ONLY = {"scheduling_delay_p99_us", "scheduling_delays_us"}
ABSENT = {
    "fake": {*AGES, *EMULATED_ONLY, *REAL_ONLY, *OF_TRAFFIC},
    "emulator": {*REAL_ONLY, *OF_TRAFFIC},
    "mahimahi": {*EMULATED_ONLY, *OF_TRAFFIC},
    "kernel": {"power", *SIGNAL_DELAYS, *EMULATED_ONLY, "queue_by_interval_packets"},
}
"""The metrics that an engine lacks for these runs."""


def test_engine_answers_with_all_figures(
    settings: EngineSettings, engine: Engine, link: PreparedNetwork
) -> None:
    spec = spec_for(settings, link)
    record = engine.run(spec)
    assert (record.run_id, record.status, record.reason) == (spec.run_id, "ok", "")
    assert {name for name, value in vars(record).items() if value is None} == ABSENT[
        settings.engine
    ]
    if record.power is not None:
        assert record.power == pytest.approx(
            (record.throughput_mbps or 0) / (record.signal_delay_p95_ms or 1) * 1000, rel=1e-9
        )
    assert RunRecord.from_json(record.to_json()) == record


def test_engine_repeats_itself_whatever_ran_before(
    settings: EngineSettings, engine: Engine, link: PreparedNetwork
) -> None:
    if settings.is_real_time:
        pytest.skip("real time never repeats itself")
    first = engine.run(spec_for(settings, link))
    engine.run(spec_for(settings, link, window=40, seed=2))
    assert engine.run(spec_for(settings, link)) == first
    engine.close()
    assert engine.run(spec_for(settings, link)) == first


def test_engine_whose_programs_were_built_again_runs_nothing(
    settings: EngineSettings, link: PreparedNetwork
) -> None:
    if settings.engine == "fake":
        pytest.skip("it has no programs")
    before = replace(settings, sha256="0" * 64)
    with pytest.raises(KneepointError, match="rebuilt during the study"):
        before.open().run(spec_for(before, link))


def test_run_id_depends_on_everything_that_a_result_can() -> None:
    specs = [
        run_spec(),
        run_spec(13),
        run_spec(seed=2),
        run_spec(controller="other"),
        run_spec(controller_sha256="0" * 64),
        run_spec(engine="mahimahi"),
        run_spec(engine_sha256="0" * 64),
        run_spec(network=network("wire", uplink={"delay_ms": 21})),
        run_spec(network=network("wire", uplink={"trace_sha256": "c" * 64})),
        run_spec(network=network("wire", host_latency_us=1)),
    ]
    assert len({spec.run_id for spec in specs}) == len(specs)
    same = run_spec(network=network("other name", uplink={"trace": "elsewhere/up.trace"}))
    assert same.run_id == specs[0].run_id


def test_kernels_run_does_not_depend_on_our_controller_of_the_same_name() -> None:
    tcp = Traffic("tcp", {"flow": {"transport": "tcp"}})
    one, other = (
        run_spec(engine="kernel", controller_sha256=each * 64, traffic=tcp) for each in "01"
    )
    assert one.run_id == other.run_id


@pytest.mark.parametrize("nonsense", [None, float("nan"), float("inf"), -1.0, "3", True])
def test_nonsense_never_becomes_a_measurement(nonsense: object) -> None:
    figures = dict.fromkeys(
        ("throughput_mbps", "capacity_mbps", "utilization", "queueing_delay_p95_ms"), 1.0
    )
    answer = {**figures, "signal_delay_p95_ms": 1.0, "power": nonsense}
    record = RunRecord.measured(run_spec(), answer)
    assert (record.status, record.power) == ("failed", None)
    assert record.reason == f"invalid metric: power is {nonsense}"


def test_trace_that_is_not_the_prepared_one_is_no_result(link: PreparedNetwork) -> None:
    emulator = EmulatorSettings.of(EMULATE)
    spec = spec_for(emulator, link)
    uplink = Path(link.uplink.trace)
    whole = uplink.read_bytes()
    uplink.write_bytes(whole[: whole.index(b"\n1500\n") + 1])  # still a trace, but shorter
    digest = sha256_of(uplink.read_bytes())
    engine = emulator.open()
    message = (
        rf"trace {uplink} has SHA-256 {digest}, not {link.uplink.trace_sha256}; remove it and run"
    )
    with pytest.raises(KneepointError, match=message):
        engine.run(spec)
    uplink.write_bytes(whole)
    assert engine.run(spec).status == "ok"
    engine.close()


def test_controller_that_was_built_again_is_no_result(link: PreparedNetwork) -> None:
    emulator = EmulatorSettings.of(EMULATE)
    spec = replace(spec_for(emulator, link), controller_sha256="0" * 64)
    engine = emulator.open()
    with pytest.raises(KneepointError, match=r"fixed_window.so has SHA-256 \w{64}, not 0{64}; it"):
        engine.run(spec)
    assert engine.run(spec_for(emulator, link)).status == "ok"
    engine.close()


def test_memory_that_runs_out_is_the_machines_fault(link: PreparedNetwork, tmp_path: Path) -> None:
    path = tmp_path / "emulate"
    path.write_text(f'#!/bin/sh\nulimit -v 60000; exec "{EMULATE}" "$@"\n')
    path.chmod(0o755)
    settings = EmulatorSettings(digest_of(path), path, tmp_path)
    engine = settings.open()
    large = tmp_path / "large.trace"
    large.write_bytes(b"1\n" * 8_000_000)
    uplink = replace(link.uplink, trace=str(large), trace_sha256=sha256_of(large.read_bytes()))
    with pytest.raises(MachineFaultError, match="out of memory") as caught:
        engine.run(spec_for(settings, replace(link, uplink=uplink)))
    assert not caught.value.blames_controller
    assert engine.run(spec_for(settings, link)).status == "ok"
    engine.close()


def outcome(engine: Engine, spec: RunSpec) -> tuple[str, str]:
    try:
        record = engine.run(spec)
    except MachineFaultError as fault:
        return "the controller's" if fault.blames_controller else "the machine's", str(fault)
    except KneepointError as error:
        return "error", str(error)
    return record.status, record.reason


CRASH = "os.kill(os.getpid(), signal.SIGSEGV)"
KILL = "os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize(
    ("misbehaviour", "culprit", "reason", "goes_on"),
    [
        (CRASH, "the controller's", "crashed: SIGSEGV", False),
        (KILL, "the machine's", "crashed: SIGKILL", False),
        ("os.kill(os.getpid(), 19)", "the machine's", "used no CPU for 0.2 s", False),
        ("print('core dumped', flush=True)", "the machine's", "answered 'core dumped'", False),
        (
            says(status="error", reason="no such trace"),
            "error",
            "refused a run of fixed_window: no such trace",
            True,
        ),
        ("sys.exit(1)", "the machine's", "exit status 1", False),
        (says(status="failed", reason="the window is nan"), "failed", "the window is nan", False),
        (says(**FIGURES, power=None), "failed", "invalid metric: power is None", True),
        (
            f"{says(status='failed', reason='it hangs')}; os._exit(3)",
            *("failed", "it hangs", False),
        ),
        (says(status="fault", reason="out of memory"), "the machine's", "out of memory", False),
    ],
)
def test_emulator_that_misbehaves_has_a_culprit_and_is_restarted(
    tmp_path: Path, misbehaviour: str, culprit: str, reason: str, goes_on: bool
) -> None:
    engine = emulator_that(tmp_path, misbehaviour).open()
    engine.run(run_spec())
    found, said = outcome(engine, run_spec(666))
    assert found == culprit and reason in said
    assert engine.run(run_spec()).power == (3 if goes_on else 1)
    engine.close()


def test_run_that_takes_long_is_waited_for(tmp_path: Path) -> None:
    compute = "_ = [0 for _ in iter(lambda: time.process_time() < 0.8, False)]"
    engine = emulator_that(tmp_path, f"{compute}; {says(**FIGURES, power=1.0)}").open()
    assert engine.run(run_spec(666)).power == 1  # it computes for many times the limit
    engine.close()


def test_emulator_that_is_not_built_is_named(tmp_path: Path) -> None:
    with pytest.raises(KneepointError, match=r"emulate: No such file.*make build"):
        EmulatorSettings.of(tmp_path / "emulate")
