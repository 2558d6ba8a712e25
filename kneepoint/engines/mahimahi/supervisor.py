"""Supervises one real run: mahimahi's shells, the sender inside, the receiver outside.

    python -m kneepoint.engines.mahimahi.supervisor < REQUEST

The supervisor leads a session of its own. It ends all processes of its session after the run, at
its time limit, on a signal, and when its standard input closes, which happens whenever the engine
ends. It sends SIGTERM before SIGKILL, because a killed mahimahi shell leaves its firewall rules
behind. The processes also end if the supervisor itself is killed.
"""

import contextlib
import io
import math
import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TextIO

from kneepoint.common.files import hold_lock, runtime_folder
from kneepoint.common.json_text import parse_json
from kneepoint.engines.mahimahi import tcp
from kneepoint.engines.mahimahi.diagnosis import ordinary_user
from kneepoint.engines.mahimahi.processes import (
    INSIDES,
    delete_rules_of_the_dead,
    end_session,
    start_as_ordinary_user,
)
from kneepoint.engines.mahimahi.run_folder import RunFolder
from kneepoint.engines.supervision import START_AND_END_S, RunEndedError, StopListener, serve

_POLL_S = 0.05
"""Polling interval of a run in progress (s)."""
_PATIENCE_S = 5.0
"""Time allowed for processes to end after SIGTERM (s)."""
_START_LIMIT_S = 10.0
_MEASURE_LIMIT_S = 60.0
_FULL_BYTES = 64 * 1024
"""The free space below which a disk counts as full, because a run's files grow in larger steps."""
_MAX_KEPT_BYTES = 1 << 30
_LOG, _SENT, _SENDER_ERRORS = "work/uplink.log", "work/sender.out", "work/sender.err"
"""Files that the shells and the sender write as the run's user."""
_NO_WORD = "no reason given"
_AFTERMATH = "process exited with failure status"
"""The message of a mahimahi shell after the failure of another shell."""


@dataclass(frozen=True)
class Request:
    """A request for one run.

    Args:
        folder: folder of the run (see RunFolder), with its traces and programs; the supervisor
            removes it.
        keeps_awake: whether to keep processors from idling.
        shells: mm-delay and mm-link with their arguments; they write the log work/uplink.log.
        expected_s: expected duration of the run (s).
        log_end_s: the uplink's last opportunity (s), before which its log must not end.
        keep_log: file for the link's log; None: no log.
        sending: the sender's arguments after host and port, for datagrams.
        load: the traffic of the kernel's TCP (see `tcp`); None: datagrams.
        is_entry: whether the sender is an entry.
        clock_epoch_ms: offset that the receiver's clock subtracts from the date (ms since 1970);
            None: its clock begins at 0.
    """

    folder: str
    keeps_awake: bool
    shells: list[str]
    expected_s: float
    log_end_s: float
    keep_log: str | None
    sending: list[str] = field(default_factory=list)
    load: dict[str, Any] | None = None
    is_entry: bool = False
    clock_epoch_ms: int | None = None


class Supervisor(ABC):
    """Executes one request; subclasses run the programs inside and outside the shells."""

    _first_file: ClassVar[str]
    """The first file that the programs inside the shells write."""

    def __init__(self, request: Request, stopped: StopListener) -> None:
        self._request = request
        self._folder = RunFolder(Path(request.folder))
        self._stopped = stopped
        self._user = ordinary_user()

    def run(self) -> dict[str, Any]:
        """Executes the run; returns its metrics, or raises RunEndedError."""
        request, wait = self._request, self._stopped.wait
        delete_rules_of_the_dead()
        with self._awake(), contextlib.ExitStack() as stack:
            command = [*request.shells, "--", *self._prepare(stack)]
            with contextlib.ExitStack() as inside:
                # A shell takes the first free addresses: two that start at the same time take the
                # same addresses, and one receives nothing.
                with hold_lock(runtime_folder() / "start.lock", math.inf):
                    shells = inside.enter_context(self._process("shells", command))
                    late = f"mahimahi did not start within {_START_LIMIT_S:g} s"
                    wait(
                        lambda: self._has(self._first_file) or shells.poll() is not None,
                        _START_LIMIT_S,
                        late,
                        self._check,
                    )
                self._begin(stack, shells)
                limit_s = request.expected_s + START_AND_END_S
                late = f"the run did not end within {limit_s:g} s"
                wait(lambda: shells.poll() is not None, limit_s, late, self._check, _POLL_S)
        self._check_ended_well()
        answer = self._answer(self._figures())
        if request.keep_log:
            self._keep_log(Path(request.keep_log))
        return answer

    @abstractmethod
    def _prepare(self, stack: contextlib.ExitStack) -> list[str]:
        """Starts the programs that the shells need; returns the command to run inside them."""

    @abstractmethod
    def _begin(self, stack: contextlib.ExitStack, shells: "subprocess.Popen[bytes]") -> None:
        """Starts the programs outside that need the shells."""

    @abstractmethod
    def _check(self) -> None:
        """Raises RunEndedError if the run cannot continue."""

    @abstractmethod
    def _check_ended_well(self) -> None:
        """Raises RunEndedError unless the run has ended well."""

    @abstractmethod
    def _answer(self, figures: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer: the link's metrics `figures`, and the traffic's metrics."""

    def _awake(self) -> contextlib.AbstractContextManager[object]:
        """Keeps processors from idling; one process serves all runs of a user."""
        if not self._request.keeps_awake:
            return contextlib.nullcontext()
        user = self._user or (os.getuid(), os.getgid())
        lock = runtime_folder() / f"awake-{user[0]}.lock"
        with lock.open("a") as file:
            os.fchown(file.fileno(), *user)
        words = [str(self._folder.path / "keep_awake"), str(lock), "--end-with-parent"]
        return self._process("keep_awake", words)

    @contextlib.contextmanager
    def _process(self, name: str, command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
        """Starts a process with its output in NAME.out; finally ends it with its descendants."""
        with (self._folder.path / f"{name}.out").open("xb") as output:
            try:
                process = start_as_ordinary_user(command, self._user, self._folder.work, output)
            except OSError as error:
                raise RunEndedError(f"{command[0]}: {error.strerror}", "error") from None
        try:
            yield process
        finally:
            end_session(process, _PATIENCE_S)

    def _has(self, name: str) -> bool:
        return os.path.lexists(self._folder.path / name)

    def _figures(self) -> dict[str, Any]:
        command = [str(self._folder.path / "measure"), str(self._folder.path / _LOG)]
        with self._process("measure", command) as measure:  # as the user who owns the log
            late = f"the link's log was not read within {_MEASURE_LIMIT_S:g} s"
            self._stopped.wait(lambda: measure.poll() is not None, _MEASURE_LIMIT_S, late)
        figures = _json(self._folder.read("measure.out"))
        if not figures:
            raise RunEndedError(
                f"mahimahi: the link's log is unusable: {self._last_words('measure.out')}"
            )
        end_s = figures["end_ms"] / 1000
        if end_s < 0.99 * self._request.log_end_s:
            raise RunEndedError(
                f"mahimahi: the link's log ends at {end_s:g} s instead of "
                f"{self._request.log_end_s:g} s ({self._complaint()})"
            )
        return figures

    def _keep_log(self, goal: Path) -> None:
        goal.unlink(missing_ok=True)
        with self._folder.open(_LOG) as log, goal.open("xb") as file:
            if os.fstat(log.fileno()).st_size > _MAX_KEPT_BYTES:
                raise RunEndedError("the link's log is too long to keep")
            shutil.copyfileobj(log, file)

    def _complaint(self) -> str:
        """Returns the error of the shell that failed first."""
        output = self._folder.read("shells.out").splitlines()
        lines = [line for line in output if line.strip() and _AFTERMATH not in line]
        return lines[-1].removeprefix("Died on std::runtime_error: ") if lines else _NO_WORD

    def _last_words(self, name: str, otherwise: str = _NO_WORD) -> str:
        lines = [line for line in self._folder.read(name).splitlines() if line.strip()]
        return lines[-1].strip().removeprefix("error: ") if lines else otherwise


class Datagrams(Supervisor):
    """The contest's datagrams: the sender inside, the receiver outside."""

    _first_file = _SENT
    _receiver: "subprocess.Popen[bytes]"

    def _prepare(self, stack: contextlib.ExitStack) -> list[str]:
        listening = ["0", "--address", "0.0.0.0", "--peers", INSIDES]  # noqa: S104
        if self._request.clock_epoch_ms is not None:
            listening += ["--clock-epoch-ms", str(self._request.clock_epoch_ms)]
        receiver = [str(self._folder.path / "receiver"), *listening, "--end-with-parent"]
        self._receiver = stack.enter_context(self._process("receiver", receiver))
        late = "the receiver did not start"
        self._stopped.wait(self._is_listening, _START_LIMIT_S, late, self._check)
        port = self._folder.read("receiver.out").split()[-1]
        # Only the inside knows MAHIMAHI_BASE, the address of the outside.
        inside = 'exec "$0" "$MAHIMAHI_BASE" "$@" > sender.out 2> sender.err'
        sender = [str(self._folder.path / "sender"), port, *self._request.sending]
        return ["sh", "-c", inside, *sender, "--end-with-parent"]

    def _is_listening(self) -> bool:
        output = self._folder.read("receiver.out")
        return output.startswith("listening") and output.endswith("\n")

    def _begin(self, stack: contextlib.ExitStack, shells: "subprocess.Popen[bytes]") -> None:
        pass

    def _check(self) -> None:
        if self._receiver.poll() is not None:
            words = self._last_words("receiver.out")
            raise RunEndedError(f"the receiver ended during the run ({words})")

    def _check_ended_well(self) -> None:
        answer = _json(self._folder.read(_SENT))
        if answer.get("status") == "ok":
            return
        if answer:
            # Without any acknowledgment, the controller is not at fault, unless it is an entry's:
            # an entry could fake this to prevent a contest from ending.
            unheard = answer.get("packets_sent") and not answer.get("acknowledgments")
            if answer.get("status") == "fault":
                raise RunEndedError(str(answer.get("reason")))
            if not unheard or self._request.is_entry:
                raise RunEndedError(str(answer.get("reason")), "failed")
            if self._complaint() == _NO_WORD:
                self._figures()  # raises if the link ended early
                raise RunEndedError(str(answer.get("reason")))
        elif errors := self._last_words(_SENDER_ERRORS, ""):
            raise RunEndedError(f"the sender refuses: {errors}", "error")
        raise RunEndedError(f"mahimahi: {self._complaint()}")

    def _answer(self, figures: dict[str, Any]) -> dict[str, Any]:
        received = _json(self._folder.read("receiver.out").partition("\n")[2])
        return {
            **figures,
            "packets_delivered": received.get("packets_received", figures["packets_delivered"]),
            "scheduling_delay_p99_us": received.get("read_delay_p99_us"),
            "scheduling_delays_us": received.get("read_delays_us"),
        }


class KernelTcp(Supervisor):
    """The kernel's TCP: senders inside, iperf3's servers outside (see `tcp`)."""

    _first_file = "work/base"

    def __init__(self, request: Request, stopped: StopListener) -> None:
        super().__init__(request, stopped)
        assert request.load is not None
        self._load = tcp.LinkLoad.model_validate(request.load)
        self._ports = tcp.free_ports(len(self._load.flows))

    def _prepare(self, stack: contextlib.ExitStack) -> list[str]:
        del stack
        tcp.require_settings(self._load)
        ends = "--once" not in self._request.shells
        script = tcp.senders(self._load, self._ports, self._folder.path / "go", ends=ends)
        return ["sh", str(self._folder.add("senders.sh", script.encode()))]

    def _begin(self, stack: contextlib.ExitStack, shells: "subprocess.Popen[bytes]") -> None:
        if shells.poll() is not None:
            return
        address = self._folder.read(self._first_file).strip()
        if not tcp.is_of_mahimahi(address):
            raise RunEndedError(f"mahimahi: MAHIMAHI_BASE is {address!r}, not in {INSIDES}")
        script = self._folder.add("servers.sh", tcp.servers(address, self._ports).encode())
        stack.enter_context(self._process("servers", ["sh", str(script)]))
        late = "iperf3's servers did not start"
        self._stopped.wait(lambda: tcp.listen(self._ports), _START_LIMIT_S, late, self._check)
        self._folder.add("go", b"")

    def _check(self) -> None:
        if self._has(f"work/{tcp.OVER}"):
            return
        for number in range(len(self._ports)):
            for name in (f"work/flow{number}", f"work/server{number}"):
                if self._has(f"{name}.failed"):
                    words = self._last_words(f"{name}.out").removeprefix("iperf3: error - ")
                    raise RunEndedError(f"iperf3 ended during the run: {words}")

    def _check_ended_well(self) -> None:
        if not self._has("go"):
            raise RunEndedError(f"mahimahi: {self._complaint()}")

    def _answer(self, figures: dict[str, Any]) -> dict[str, Any]:
        pings = [self._folder.read(f"work/probe{n}.out") for n in range(len(self._load.probes))]
        with self._samples("inside") as inside, self._samples("outside") as outside:
            return {**figures, **tcp.answer_to(self._load, inside, outside, pings)}

    def _samples(self, side: str) -> TextIO:
        return io.TextIOWrapper(self._folder.open(f"work/{side}.ss"), errors="replace")


def _json(text: str) -> dict[str, Any]:
    try:
        value = parse_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def supervise(content: Mapping[str, Any], stopped: StopListener) -> dict[str, Any]:
    """Executes a request and returns the answer."""
    request = Request(**content)
    try:
        kind = Datagrams if request.load is None else KernelTcp
        return kind(request, stopped).run()
    except RunEndedError as error:
        if error.status == "fault" and shutil.disk_usage(request.folder).free < _FULL_BYTES:
            full = f"the disk of {Path(request.folder).parent} is full ({error})"
            raise RunEndedError(full) from None
        raise
    finally:
        delete_rules_of_the_dead()
        RunFolder(Path(request.folder)).remove()


if __name__ == "__main__":
    serve(supervise)
