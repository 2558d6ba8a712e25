"""The mahimahi engine: one supervisor per run, with retries when the host was too busy."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from kneepoint.common.errors import KneepointError, unusable
from kneepoint.common.files import sha256_of
from kneepoint.common.programs import find_program
from kneepoint.engines.base import EngineSettings, RunSpec, controller_file
from kneepoint.engines.entry import PYTHON_RUNNER
from kneepoint.engines.limits import MAHIMAHI
from kneepoint.engines.mahimahi import tcp
from kneepoint.engines.mahimahi.diagnosis import PROGRAMS, diagnose, ordinary_user
from kneepoint.engines.mahimahi.run_folder import RunFolder, run_folder
from kneepoint.engines.mahimahi.supervisor import Request
from kneepoint.engines.real_time import RealTimeEngine, digest_of_programs
from kneepoint.networks.scenario import PreparedNetwork, Traffic


@dataclass(frozen=True)
class MahimahiSettings(EngineSettings):
    """Settings of the engine, whose programs are sender, receiver, mm-delay and mm-link.

    Args:
        build: folder of sender and receiver.
        folder: folder to which paths of traces are relative.
        keep_awake: whether to keep processors from idling during runs.
        keep_log: file for the link's log; None: no log.
    """

    limits = MAHIMAHI
    build: Path
    folder: Path
    keep_awake: bool = True
    keep_log: Path | None = None

    @classmethod
    def of(cls, build: Path, busy_us: float, keep_awake: bool) -> Self:
        """Settings of the current programs; raises KneepointError if they do not work here."""
        diagnose()
        digest = _digest(build, keep_awake)
        return cls(digest, build.resolve(), Path.cwd(), keep_awake, busy_us=busy_us)

    def keeping(self, log: Path, flow_log: Path | None = None) -> Self:
        """Returns these settings with a file for the uplink's log."""
        del flow_log
        return replace(self, keep_log=log)

    def digest_for(self, traffic: Traffic) -> str:
        """See EngineSettings; for TCP it includes iperf3, ping, ss and the kernel's version."""
        if not traffic.measures_flows:
            return self.sha256
        programs = [tcp.find(name) for name in tcp.PROGRAMS]
        return digest_of_programs(programs, f"{self.sha256} {platform.release()}")

    def open(self) -> "MahimahiEngine":
        """Makes the engine."""
        return MahimahiEngine(self)


class MahimahiEngine(RealTimeEngine[MahimahiSettings]):
    """Runs in real mahimahi."""

    def answer_to(self, spec: RunSpec) -> dict[str, Any]:
        """Executes one run once and returns the answer."""
        settings = self._settings
        settings.require_unchanged(_digest(settings.build, settings.keep_awake), settings.build)
        with run_folder("run", ordinary_user()) as folder:
            request = self._request(spec, folder)
            return self.supervise(
                "kneepoint.engines.mahimahi.supervisor",
                asdict(request),
                request.expected_s,
                where=f"mahimahi, a run of {spec.controller}",
                folder=settings.folder,
            )

    def _request(self, spec: RunSpec, folder: RunFolder) -> Request:
        """Copies the run's input files into the folder; returns the supervisor's request."""
        settings, network = self._settings, spec.network
        traces = {
            name: _trace(settings.folder / link.trace, link.trace_sha256)
            for name, link in (("uplink", network.uplink), ("downlink", network.downlink))
        }
        for name, content in traces.items():
            folder.add(f"{name}.trace", content)
        times_ms = {name: [int(word) for word in trace.split()] for name, trace in traces.items()}
        duration_s = network.duration_s
        if duration_s is None:  # until one of the traces ends
            duration_s = min(times[-1] for times in times_ms.values()) / 1000
        programs = {name: settings.build / name for name in ("measure", "keep_awake")}
        sending, load = [], None
        if spec.traffic.measures_flows:
            where = f"traffic {spec.traffic.name} in mahimahi"
            load = tcp.LinkLoad.of(spec.scenario(), duration_s, where).model_dump(by_alias=True)
        else:
            controller = controller_file(spec.controller, settings.build, settings.folder)
            if spec.entry is not None:
                controller = spec.entry.object
            programs |= _senders(spec, settings.build) | {controller.name: controller}
            sending = sending_of(spec, folder.path / controller.name)
        # Copies, because the run's user may lack access to our folders.
        for name, original in programs.items():
            if not original.is_file():
                raise KneepointError(
                    f"mahimahi, a run of {spec.controller}: {original} is missing; run: make build"
                )
            folder.add(name, original.read_bytes(), 0o755)
        return Request(
            folder=str(folder.path),
            keeps_awake=settings.keep_awake,
            shells=shells_of(network, folder),
            sending=sending,
            load=load,
            expected_s=duration_s,
            log_end_s=_last_opportunity_s(times_ms["uplink"], duration_s),
            is_entry=spec.entry is not None,
            clock_epoch_ms=spec.entry.clock_epoch_ms if spec.entry else None,
            keep_log=str(settings.keep_log) if settings.keep_log else None,
        )


def _senders(spec: RunSpec, build: Path) -> dict[str, Path]:
    """Returns the programs that send and receive datagrams, by their names in the run's folder."""
    if spec.entry is None:
        return {name: build / name for name in ("sender", "receiver")}
    runner = PYTHON_RUNNER if spec.entry.object.suffix == ".py" else ()
    entry = {"sender": build / "entry-sender", "receiver": build / "receiver"}
    return entry | {name: build / name for name in runner}


def shells_of(network: PreparedNetwork, folder: RunFolder) -> list[str]:
    """Returns mm-delay and mm-link with their arguments; traces and log are in the folder."""
    links = (("uplink", network.uplink), ("downlink", network.downlink))
    for direction, link in links:
        MAHIMAHI.require(vars(link), f"network {network.name}: {direction}")
    words = [str(_find("mm-delay")), f"{network.uplink.delay_ms:.0f}"]
    words += [str(_find("mm-link")), f"{folder.path}/uplink.trace", f"{folder.path}/downlink.trace"]
    if network.duration_s is None:
        words.append("--once")
    words.append(f"--uplink-log={folder.work}/uplink.log")
    for direction, link in links:
        kind, _, arguments = link.queue.partition(":")
        if arguments:
            words.append(f"--{direction}-queue={kind.removesuffix('-mahimahi')}")
            words.append(f"--{direction}-queue-args={arguments}")
    return words


def sending_of(spec: RunSpec, controller: Path) -> list[str]:
    """Returns the sender's arguments after host and port; `controller` may be an entry's file."""
    if spec.entry is None:
        words = ["--controller", str(controller), "--controller-sha256", spec.controller_sha256]
        for name, value in spec.parameters.items():
            words += ["--set", f"{name}={value!r}"]
    else:
        words = ["--entry", str(controller), "--entry-sha256", spec.entry.sha256]
        for argument in spec.entry.arguments:
            words += ["--argument", argument]
        for name, setting in spec.entry.environment.items():
            words += ["--env", f"{name}={setting}"]
        if spec.entry.dialect:
            words += ["--dialect", spec.entry.dialect]
        if spec.entry.is_trusted:
            words.append("--trust-entries")
    if spec.network.duration_s is not None:
        words += ["--duration-s", repr(spec.network.duration_s)]
    return words


def _last_opportunity_s(times_ms: Sequence[int], duration_s: float) -> float:
    """The uplink's last opportunity in a run (s), where its trace repeats; 0 if there is none."""
    rounds, rest_ms = divmod(duration_s * 1000, times_ms[-1])
    last_ms = max((time_ms for time_ms in times_ms if time_ms <= rest_ms), default=0)
    return (rounds * times_ms[-1] + last_ms) / 1000


def _trace(path: Path, sha256: str) -> bytes:
    """Returns a trace; raises KneepointError if it has changed since the network was prepared."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise unusable(path, error.strerror) from None
    if sha256_of(content) != sha256:
        raise unusable(path, "it is not the trace that was prepared")
    return content


def _digest(build: Path, keep_awake: bool) -> str:
    own = ["sender", "receiver", *(["keep_awake"] if keep_awake else [])]
    return digest_of_programs([*(build / name for name in own), *map(_find, PROGRAMS)])


def _find(shell: str) -> Path:
    return find_program(shell, "install mahimahi: make mahimahi")
