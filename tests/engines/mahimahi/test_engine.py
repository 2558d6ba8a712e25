"""The engine of real mahimahi: its figures, the ends of runs, and the cleanup.

Everything here is a real run of a few seconds; figures are compared loosely.
"""

import dataclasses
import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import MachineFaultError, RunRecord, RunSpec
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.mahimahi import run_folder
from kneepoint.engines.mahimahi.diagnosis import ordinary_user
from kneepoint.engines.mahimahi.engine import MahimahiSettings, sending_of, shells_of
from kneepoint.engines.mahimahi.run_folder import RunFolder
from tests.benchmarks.first_hop import joined_packets, silent_network
from tests.conftest import ROOT
from tests.engines.live_run import PATIENCE_S, nothing_is_left, observe, status_of, wait_until
from tests.engines.real import real_engine, unless_disturbed, write_traces
from tests.experiments.fakes import built_spec, network, run_spec

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("no_folder_is_left")]

LONG_S = 100
"""Duration of runs that a test ends early (s)."""
MARGIN_S = 25
"""Time limit of the end of a run (s), including the patience with unresponsive processes."""

# A worker: one run, whose record it prints.
WORKER = """
import pickle, sys
settings, spec = pickle.load(sys.stdin.buffer)
print(settings.open().run(spec).to_json())
"""

BUSY_US = 1000


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MahimahiSettings:
    """An engine that works in the test's own folder."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return dataclasses.replace(real_engine(), folder=tmp_path)


def spec_for(
    settings: MahimahiSettings, duration_s: float | None, window: int = 40, **uplink: Any
) -> RunSpec:
    """Returns a run on a link of 6 Mbit/s; keywords replace fields of its uplink."""
    last_ms = 2000 if duration_s is None else 1000
    trace = "".join(f"{time_ms}\n" for time_ms in range(2, last_ms + 1, 2))
    links: dict[str, Any] = write_traces(settings.folder, trace)
    links["uplink"] = {**links["uplink"], **uplink}
    link = network("wire", duration_s=duration_s, **links)
    return built_spec(window, engine="mahimahi", engine_sha256=settings.sha256, network=link)


def fault_of(future: "Future[RunRecord]") -> str:
    with pytest.raises(MachineFaultError) as caught:
        future.result(PATIENCE_S)
    return str(caught.value)


def start_worker(
    settings: MahimahiSettings, spec: RunSpec, *before: str
) -> "subprocess.Popen[bytes]":
    worker = subprocess.Popen(
        [*before, sys.executable, "-c", WORKER],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdin is not None
    worker.stdin.write(pickle.dumps((settings, spec)))
    worker.stdin.close()
    worker.stdin = None
    return worker


@unless_disturbed
def test_figures_are_the_emulators(settings: MahimahiSettings) -> None:
    spec = spec_for(settings, 3)
    log = settings.folder / "kept.log"
    real = dataclasses.replace(settings, keep_log=log).open().run(spec)
    assert log.read_text().startswith("# mahimahi mm-link (Uplink) [")
    emulator = EmulatorSettings.of(ROOT / "build" / "emulate")
    emulated = dataclasses.replace(emulator, folder=settings.folder).open().run(spec)
    assert (real.status, real.reason, real.run_id) == ("ok", "", spec.run_id)
    assert real.throughput_mbps == pytest.approx(emulated.throughput_mbps, rel=0.1)
    assert real.capacity_mbps == pytest.approx(emulated.capacity_mbps, rel=0.1)
    assert real.queueing_delay_p95_ms == pytest.approx(emulated.queueing_delay_p95_ms, abs=10)
    assert real.signal_delay_p95_ms == pytest.approx(emulated.signal_delay_p95_ms, abs=10)
    assert real.packets_dropped == emulated.packets_dropped == 0
    assert 0 < (real.packets_delivered or 0) <= (real.packets_sent or 0)
    delays_us = real.scheduling_delays_us or ()
    assert min(delays_us) < (real.scheduling_delay_p99_us or 0) <= max(delays_us)


@unless_disturbed
def test_queue_with_a_limit_drops(settings: MahimahiSettings) -> None:
    spec = spec_for(settings, 2, queue="droptail:packets=5")
    record = settings.open().run(spec)
    assert (record.packets_dropped or 0) > 0
    assert (record.queueing_delay_p95_ms or 99) < 25  # a queue without a limit: 40


@unless_disturbed
def test_burst_loses_what_the_first_device_cannot_hold(
    settings: MahimahiSettings, tmp_path: Path
) -> None:
    """The loss of the wide burst depends on the host; the emulated host loses half."""
    log = tmp_path / "kept.log"
    real = dataclasses.replace(settings, keep_log=log)
    emulated = EmulatorSettings.of(ROOT / "build" / "emulate")
    silent = silent_network(tmp_path, network("silent"))
    for window, least, most in ((400, 400, 400), (20_000, 500, 19_000)):
        parameters = {"keepalive_ms": 10_000.0, "window": float(window)}
        spec = built_spec(
            engine="mahimahi", engine_sha256=settings.sha256, parameters=parameters, network=silent
        )
        assert real.open().run(spec).status == "ok"
        assert least <= joined_packets(log) <= most
        assert least <= window - (emulated.open().run(spec).packets_dropped or 0) <= most


def test_shells_have_the_networks_queue_and_repeat_traces_for_a_duration(tmp_path: Path) -> None:
    real_engine()
    queue = "codel-mahimahi:packets=9,target=5,interval=100"
    once = network("wire", duration_s=None, uplink={"queue": queue})
    repeating = dataclasses.replace(once, duration_s=1.5)
    words = shells_of(once, RunFolder(tmp_path))
    assert words[-2:] == [
        "--uplink-queue=codel",
        "--uplink-queue-args=packets=9,target=5,interval=100",
    ]
    assert ("--once" in words) and "--once" not in shells_of(repeating, RunFolder(tmp_path))
    assert sending_of(run_spec(network=repeating), Path("x.so"))[-2:] == ["--duration-s", "1.5"]
    assert "--duration-s" not in sending_of(run_spec(network=once), Path("x.so"))


def test_links_that_mahimahi_does_not_have_are_refused(tmp_path: Path) -> None:
    link = network("wire", uplink={"loss_probability": 0.1})
    with pytest.raises(KneepointError, match=r"^network wire: uplink\.loss_probability: mahimahi"):
        shells_of(link, RunFolder(tmp_path))


def test_link_that_is_silent_at_the_end_is_measured(settings: MahimahiSettings) -> None:
    """A log without events at its end is not the sign of a full disk."""
    spec = spec_for(settings, 2)
    trace = "".join(f"{time_ms}\n" for time_ms in [*range(2, 1201, 2), 5000])
    spec = dataclasses.replace(
        spec, network=network("wire", duration_s=2, **write_traces(settings.folder, trace))
    )
    assert settings.open().run(spec).status == "ok"


@unless_disturbed
def test_run_until_the_trace_ends_takes_its_time(settings: MahimahiSettings) -> None:
    record = settings.open().run(spec_for(settings, None))
    assert record.status == "ok"
    assert 850 <= (record.packets_delivered or 0) <= 1000  # of the 1000 opportunities of 2 s


def test_controller_that_hears_nothing_ends_with_that_reason(settings: MahimahiSettings) -> None:
    with pytest.raises(MachineFaultError, match=r"^no acknowledgment arrived$"):
        settings.open().run(spec_for(settings, 1.5, delay_ms=5000))


def test_run_that_is_ended_before_any_acknowledgment_says_so(
    settings: MahimahiSettings, background: ThreadPoolExecutor
) -> None:
    record = background.submit(settings.open().run, spec_for(settings, LONG_S, delay_ms=5000))
    os.kill(min(observe(settings.folder).processes["sender"]), signal.SIGTERM)
    assert fault_of(record).startswith("mahimahi: the link's log ends")


def test_controller_whose_window_bursts_failed(settings: MahimahiSettings) -> None:
    parameters = {"alpha": 1e9, "beta": 2, "initial_window": 10, "keepalive_ms": 80}
    link = spec_for(settings, 2).network
    spec = built_spec(controller="aimd_timeout", parameters=parameters, network=link)
    record = settings.open().run(spec)
    assert record.status == "failed"
    assert record.reason.startswith("the window became ")


def test_controller_that_does_not_exist_is_an_error(settings: MahimahiSettings) -> None:
    spec = dataclasses.replace(spec_for(settings, 1), controller="fixed_windw")
    with pytest.raises(KneepointError, match=r"a run of fixed_windw: .*fixed_windw"):
        settings.open().run(spec)


def test_trace_that_mahimahi_refuses_is_a_fault_that_quotes_it(settings: MahimahiSettings) -> None:
    link = network("wire", duration_s=20, **write_traces(settings.folder, "3\n2\n"))
    spec = dataclasses.replace(spec_for(settings, 1), network=link)
    write_traces(settings.folder, "3\n2\n")
    with pytest.raises(MachineFaultError, match=r"^mahimahi: .*link.trace: timestamps must be"):
        settings.open().run(spec)


@pytest.mark.parametrize(
    ("direction", "is_missing"), [("up", False), ("down", False), ("up", True)]
)
def test_trace_that_is_not_the_prepared_one_is_refused(
    settings: MahimahiSettings, direction: str, is_missing: bool
) -> None:
    spec = spec_for(settings, 1)
    trace = settings.folder / f"{direction}.trace"
    reason = "No such file" if is_missing else "it is not the trace that was prepared"
    trace.write_text("2\n")
    if is_missing:
        trace.unlink()
    with pytest.raises(KneepointError, match=rf"^{trace}: cannot be used \({reason}.*rebuild it"):
        settings.open().run(spec)


def test_host_that_is_always_too_busy_is_a_fault(settings: MahimahiSettings) -> None:
    busy = dataclasses.replace(settings, busy_us=1e-3)
    with pytest.raises(MachineFaultError) as caught:
        busy.open().run(spec_for(settings, 0.3))
    assert caught.value.is_final


def test_program_that_was_rebuilt_is_refused(settings: MahimahiSettings, tmp_path: Path) -> None:
    for name in ("sender", "receiver", "measure", "keep_awake"):
        shutil.copy(ROOT / "build" / name, tmp_path)
    copied = MahimahiSettings.of(tmp_path, BUSY_US, keep_awake=True)
    asleep = MahimahiSettings.of(tmp_path, BUSY_US, keep_awake=False)
    assert asleep.sha256 == settings.sha256 != copied.sha256
    for program in ("sender", "receiver", "keep_awake"):
        content = (tmp_path / program).read_bytes()
        (tmp_path / program).write_bytes(content + b"\0")
        with pytest.raises(KneepointError, match="rebuilt during the study; run the command again"):
            copied.open().run(spec_for(settings, 1))
        (tmp_path / program).write_bytes(content)
    (tmp_path / "sender").unlink()
    with pytest.raises(KneepointError, match=r"sender: No such file .*build it: make build"):
        MahimahiSettings.of(tmp_path, BUSY_US, keep_awake=True)


def test_run_is_an_ordinary_users(
    settings: MahimahiSettings, background: ThreadPoolExecutor
) -> None:
    record = background.submit(settings.open().run, spec_for(settings, 2))
    run = observe(settings.folder)
    uid = (ordinary_user() or (os.getuid(), os.getgid()))[0]
    assert uid != 0
    for name in ("receiver", "mm-delay", "mm-link", "sender"):
        for pid in run.processes[name]:
            real_uid, groups = status_of(pid)["Uid"].split()[0], status_of(pid)["Groups"].split()
            assert (int(real_uid), "0" in groups) == (uid, False), name
    assert record.result(PATIENCE_S).status == "ok"
    nothing_is_left(run)


def test_run_that_nohup_started_ends(settings: MahimahiSettings) -> None:
    """mm-link ends its child by SIGHUP, which children of nohup ignore."""
    worker = start_worker(settings, spec_for(settings, None), "nohup")
    run = observe(settings.folder)
    for name in ("receiver", "mm-delay", "mm-link", "sender"):
        for pid in run.processes[name]:
            assert int(status_of(pid)["SigIgn"], 16) & 1 << signal.SIGHUP - 1 == 0, name
    output, _ = worker.communicate(timeout=PATIENCE_S)
    assert RunRecord.from_json(output).status == "ok"
    nothing_is_left(run)


def test_killed_worker_leaves_nothing(settings: MahimahiSettings) -> None:
    awake = dataclasses.replace(real_engine(keep_awake=True), folder=settings.folder)
    worker = start_worker(awake, spec_for(awake, LONG_S))
    run = observe(settings.folder)
    assert len(run.left_behind()) > 8  # the test would find any remains
    worker.kill()
    worker.communicate()
    nothing_is_left(run, MARGIN_S)


@pytest.mark.parametrize(
    ("victim", "number", "reason"),
    [
        ("supervisor", signal.SIGTERM, "the run was stopped"),
        ("supervisor", signal.SIGHUP, "the run was stopped"),
        ("supervisor", signal.SIGKILL, "the run's supervisor was killed"),
        ("receiver", signal.SIGKILL, "the receiver ended during the run ("),
        *((name, signal.SIGKILL, "mahimahi: ") for name in ("sender", "mm-link", "mm-delay")),
    ],
)
def test_process_that_is_ended_in_the_middle_is_a_fault_and_leaves_nothing(
    settings: MahimahiSettings,
    background: ThreadPoolExecutor,
    victim: str,
    number: int,
    reason: str,
) -> None:
    # No process ends the run of a killed supervisor: it continues to its end.
    is_orphaned = victim == "supervisor" and number == signal.SIGKILL
    spec = spec_for(settings, 4 if is_orphaned else LONG_S)
    record = background.submit(settings.open().run, spec)
    run = observe(settings.folder)
    os.kill(run.supervisor if victim == "supervisor" else min(run.processes[victim]), number)
    assert fault_of(record).startswith(reason)
    nothing_is_left(run, MARGIN_S)


@pytest.fixture
def small_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A disk of 2 MB for the folders of runs."""
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: a full disk; only root can mount a small one")
    folder = Path("/tmp") / f"kneepoint-disk-{os.getpid()}"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=755", "kneepoint", str(folder)]
    if subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("NOT TESTED: a full disk; this container may not mount one")
    monkeypatch.setattr(run_folder, "PUBLIC", folder)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)
    folder.rmdir()


def fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def test_disk_that_is_full_before_a_run_is_a_fault(
    settings: MahimahiSettings, small_disk: Path
) -> None:
    fill(small_disk)
    with pytest.raises(MachineFaultError, match="No space left on device"):
        settings.open().run(spec_for(settings, 1))
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_disk_that_is_full_in_the_middle_of_a_run_is_a_fault(
    settings: MahimahiSettings, small_disk: Path, background: ThreadPoolExecutor
) -> None:
    record = background.submit(settings.open().run, spec_for(settings, 3))
    run = observe(settings.folder)
    wait_until(lambda: (run.folder / "work/uplink.log").exists())
    fill(small_disk)
    assert fault_of(record).startswith(f"the disk of {small_disk} is full (")
    nothing_is_left(run)
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_closed_engine_ends_its_run(
    settings: MahimahiSettings, background: ThreadPoolExecutor
) -> None:
    engine = settings.open()
    record = background.submit(engine.run, spec_for(settings, LONG_S))
    run = observe(settings.folder)
    engine.close()
    assert record.exception(PATIENCE_S) is not None
    nothing_is_left(run, MARGIN_S)


def planted(folder: Path, user: tuple[int, int], script: str) -> None:
    """Runs a script as the run's user, in the subfolder that belongs to this user."""
    subprocess.run(
        ["sh", "-c", script], cwd=folder, user=user[0], group=user[1], extra_groups=[], check=True
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: links planted for root; we are not root")
def test_root_follows_no_link_that_the_runs_user_plants(
    settings: MahimahiSettings, tmp_path: Path, background: ThreadPoolExecutor
) -> None:
    precious, kept = tmp_path / "precious", tmp_path / "kept.log"
    precious.write_text("1 - 1504 1\n" * 5000)
    before = (precious.read_text(), precious.stat())
    user = ordinary_user()
    assert user is not None
    keeping = dataclasses.replace(settings, keep_log=kept)
    record = background.submit(keeping.open().run, spec_for(settings, 2))
    run = observe(settings.folder)
    work = run.folder / "work"
    assert work.stat().st_uid == user[0]
    assert run.folder.stat().st_uid == 0
    assert run.folder.stat().st_mode & 0o777 == 0o711
    assert {path.stat().st_uid for path in run.folder.iterdir() if path != work} == {0}
    planted(
        work,
        user,
        f"! rm -rf ../receiver && ! mv ../work ../other && ! touch ../measure.out"
        f" && rm uplink.log sender.err && ln -s {precious} uplink.log"
        f" && ln -s {precious} sender.err"
        f" && ln -s {precious} measure.out",
    )
    assert "uplink.log" in fault_of(record)
    assert (precious.read_text(), precious.stat()) == before
    assert not kept.exists()
    nothing_is_left(run)
