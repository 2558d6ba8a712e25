"""Supervises one real run: mahimahi's shells, the sender inside, the receiver outside.

    python -m engines.mahimahi.supervisor < REQUEST

The supervisor leads a session of its own and ends every process in it: when the run is over, when
its time limit expires, when it is told to stop, and when its standard input closes, which happens
however its starter ends. It sends SIGTERM before SIGKILL, because a killed mahimahi shell leaves
its firewall rules behind. The processes also end if the supervisor itself is killed.
"""

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from common.files import locked, runtime_folder, write_passing
from engines.mahimahi.processes import (
    INSIDES,
    delete_rules,
    delete_rules_of_the_dead,
    end_session,
    start_as_ordinary_user,
)
from engines.mahimahi.run_folder import RunFolder
from engines.mahimahi.tail import LogTail
from engines.supervision import START_AND_END_S, RunEndedError, StopWatch, serve

_POLL_S = 0.05
_STATUS_S = 1.0
_PATIENCE_S = 5.0
"""Time limit for processes to end after SIGTERM."""
_START_LIMIT_S = 10.0
_MEASURE_LIMIT_S = 60.0
_FULL_BYTES = 64 * 1024
"""A disk with less room than this counts as full: a run's files grow in larger steps."""
_MOST_KEPT_BYTES = 1 << 30
_LOG, _SENT, _SENDER_SAID = "work/uplink.log", "work/sender.out", "work/sender.err"
"""The files that the shells and the sender write, as the run's user."""
_NO_WORD = "no reason given"
_AFTERMATH = "process exited with failure status"
"""A mahimahi shell prints this when another one has failed."""


@dataclass(frozen=True)
class Request:
    """A run, as its supervisor needs it.

    Args:
        folder: of the run (see RunFolder), with its traces and programs; it is removed.
        keeps_awake: whether processors are kept from idling.
        shells: mm-delay and mm-link with their arguments; the user's subfolder holds the log,
            uplink.log.
        sending: the sender's arguments after host and port.
        expected_s: expected duration of the run.
        log_end_s: earliest time at which the uplink's log may end: its last opportunity.
        user: user and group to run as, because mahimahi refuses root; None: ours.
        status: file for the run's current state, if any.
        keep_log: file for the link's log; None: no log.
        is_entry: whether the sender is an entry.
        clock_epoch_ms: from which the receiver's clock shows the date; None: it begins at 0.
    """

    folder: str
    keeps_awake: bool
    shells: list[str]
    sending: list[str]
    expected_s: float
    log_end_s: float
    user: tuple[int, int] | None
    status: str | None
    keep_log: str | None
    is_entry: bool = False
    clock_epoch_ms: int | None = None


class Supervisor:
    """Executes one request.

    Args:
        request: the run.
        stopped: whether the run has been told to end.
    """

    def __init__(self, request: Request, stopped: StopWatch) -> None:
        self._request = request
        self._folder = folder = RunFolder(Path(request.folder))
        self._stopped = stopped
        self._tail = LogTail(lambda: folder.open(_LOG))

    def run(self) -> dict[str, Any]:
        """Returns the metrics of the run.

        Raises:
            RunEndedError: the run ended without any.
        """
        request = self._request
        delete_rules_of_the_dead()
        with self._awake(), self._process("receiver", self._receiving()) as receiver:
            port = self._port_of(receiver)
            with contextlib.ExitStack() as stack:
                # A shell takes the first free addresses: if two start at the same time, both
                # take the same ones, and one receives nothing.
                with locked(runtime_folder() / "start.lock"):
                    shells = stack.enter_context(self._process("shells", self._shells(port)))
                    self._wait_for_sender(shells, receiver)
                self._wait(shells, receiver)
            self._end(receiver)
        self._check_sender()
        figures = self._figures()
        received = _json(self._folder.read("receiver.out").partition("\n")[2])
        if request.keep_log:
            self._keep_log(Path(request.keep_log))
        return {
            **figures,
            "packets_delivered": received.get("packets_received", figures["packets_delivered"]),
            "scheduling_delay_p99_us": received.get("read_delay_p99_us"),
            "scheduling_delays_us": received.get("read_delays_us"),
        }

    def _program(self, name: str) -> str:
        return f"{self._folder.path}/{name}"

    def _awake(self) -> contextlib.AbstractContextManager[object]:
        """Keeps processors from idling; one of a user's runs does so for all."""
        if not self._request.keeps_awake:
            return contextlib.nullcontext()
        user = (os.getuid(), os.getgid()) if self._request.user is None else self._request.user
        lock = runtime_folder() / f"awake-{user[0]}.lock"
        with lock.open("a") as file:
            os.fchown(file.fileno(), *user)
        words = [self._program("keep_awake"), str(lock), "--end-with-parent"]
        return self._process("keep_awake", words)

    def _receiving(self) -> list[str]:
        listening = ["0", "--address", "0.0.0.0", "--peers", INSIDES]  # noqa: S104
        if self._request.clock_epoch_ms is not None:
            listening += ["--clock-epoch-ms", str(self._request.clock_epoch_ms)]
        return [self._program("receiver"), *listening, "--end-with-parent"]

    def _shells(self, port: int) -> list[str]:
        # MAHIMAHI_BASE, the outside's address, is known inside only.
        inside = 'exec "$0" "$MAHIMAHI_BASE" "$@" > sender.out 2> sender.err'
        sending = [self._program("sender"), str(port), *self._request.sending, "--end-with-parent"]
        return [*self._request.shells, "--", "sh", "-c", inside, *sending]

    @contextlib.contextmanager
    def _process(self, name: str, command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
        """Starts a process that writes its output to NAME.out, and ends it and its descendants."""
        user, work = self._request.user, self._folder.work
        with (self._folder.path / f"{name}.out").open("xb") as output:
            try:
                process = start_as_ordinary_user(command, user, work, output)
            except OSError as error:
                raise RunEndedError(f"{command[0]}: {error.strerror}", "error") from None
        try:
            yield process
        finally:
            end_session(process, _PATIENCE_S)
            delete_rules(process.pid)  # in case the shell was killed

    def _port_of(self, receiver: "subprocess.Popen[bytes]") -> int:
        """Returns the port of the receiver as soon as it listens."""
        deadline = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < deadline:
            text = self._folder.read("receiver.out")
            if text.startswith("listening") and text.endswith("\n"):
                return int(text.split()[-1])
            self._check(receiver)
            time.sleep(_POLL_S / 5)
        raise RunEndedError("the receiver did not start")

    def _wait_for_sender(
        self, shells: "subprocess.Popen[bytes]", receiver: "subprocess.Popen[bytes]"
    ) -> None:
        deadline = time.monotonic() + _START_LIMIT_S
        while not os.path.lexists(self._folder.path / _SENT) and shells.poll() is None:
            if time.monotonic() > deadline:
                raise RunEndedError(f"mahimahi did not start within {_START_LIMIT_S:g} s")
            self._check(receiver)
            time.sleep(_POLL_S / 5)

    def _wait(self, shells: "subprocess.Popen[bytes]", receiver: "subprocess.Popen[bytes]") -> None:
        start, limit_s = time.monotonic(), self._request.expected_s + START_AND_END_S
        next_status_s = _STATUS_S
        while shells.poll() is None:
            elapsed_s = time.monotonic() - start
            if elapsed_s > limit_s:
                raise RunEndedError(f"the run did not end within {limit_s:g} s")
            self._check(receiver)
            if elapsed_s >= next_status_s:
                self._say(elapsed_s)
                next_status_s += _STATUS_S
            time.sleep(_POLL_S)

    def _check(self, receiver: "subprocess.Popen[bytes]") -> None:
        if self._stopped():
            raise RunEndedError("the run was stopped")
        if receiver.poll() is not None:
            said = self._last_words("receiver.out")
            raise RunEndedError(f"the receiver ended during the run ({said})")

    def _say(self, elapsed_s: float) -> None:
        if self._request.status:
            state = {
                "elapsed_s": round(elapsed_s, 1),
                "expected_s": self._request.expected_s,
                **asdict(self._tail.read()),
            }
            with contextlib.suppress(OSError):  # a failed status update must not end the run
                write_passing(Path(self._request.status), json.dumps(state))

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE_S)

    def _check_sender(self) -> None:
        answer = _json(self._folder.read(_SENT))
        if answer.get("status") == "ok":
            return
        if answer:
            # Packets without acknowledgments are not the controller's fault. An entry's own
            # statement excuses nothing: it could prevent a whole contest from ending.
            unheard = answer.get("packets_sent") and not answer.get("acknowledgments")
            if answer.get("status") == "fault":
                raise RunEndedError(str(answer.get("reason")))
            if not unheard or self._request.is_entry:
                raise RunEndedError(str(answer.get("reason")), "failed")
            if self._complaint() == _NO_WORD:
                raise RunEndedError(str(answer.get("reason")))
        elif said := self._last_words(_SENDER_SAID, ""):
            raise RunEndedError(f"the sender refuses: {said}", "error")
        raise RunEndedError(f"mahimahi: {self._complaint()}")

    def _figures(self) -> dict[str, Any]:
        command = [self._program("measure"), str(self._folder.path / _LOG)]
        with self._process("measure", command) as measure:  # as the user, whose log it is
            deadline = time.monotonic() + _MEASURE_LIMIT_S
            while measure.poll() is None and time.monotonic() < deadline and not self._stopped():
                time.sleep(_POLL_S / 5)
        figures = _json(self._folder.read("measure.out"))
        if not figures:
            said = self._last_words("measure.out")
            raise RunEndedError(f"the link's log is unusable: {said}")
        end_s = figures["end_ms"] / 1000
        if end_s < 0.99 * self._request.log_end_s:
            raise RunEndedError(
                f"mahimahi: the link's log ends after {end_s:g} s, not after "
                f"{self._request.log_end_s:g} s ({self._complaint()})"
            )
        return figures

    def _keep_log(self, goal: Path) -> None:
        goal.unlink(missing_ok=True)
        with self._folder.open(_LOG) as log, goal.open("xb") as file:
            if os.fstat(log.fileno()).st_size > _MOST_KEPT_BYTES:
                raise RunEndedError("the link's log is too long to keep")
            shutil.copyfileobj(log, file)

    def _complaint(self) -> str:
        """Returns the message of the shell that failed first."""
        said = self._folder.read("shells.out").splitlines()
        lines = [line for line in said if line.strip() and _AFTERMATH not in line]
        return lines[-1].removeprefix("Died on std::runtime_error: ") if lines else _NO_WORD

    def _last_words(self, name: str, otherwise: str = _NO_WORD) -> str:
        lines = [line for line in self._folder.read(name).splitlines() if line.strip()]
        return lines[-1].strip().removeprefix("error: ") if lines else otherwise


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def supervise(content: Mapping[str, Any], stopped: StopWatch) -> dict[str, Any]:
    """Executes a request and returns the answer."""
    request = Request(**content)
    try:
        return Supervisor(request, stopped).run()
    except RunEndedError as error:
        if error.status == "fault" and shutil.disk_usage(request.folder).free < _FULL_BYTES:
            full = f"the disk of {Path(request.folder).parent} is full ({error})"
            raise RunEndedError(full) from None
        raise
    finally:
        clear(request)


def clear(request: Request) -> None:
    """Removes the files of a run."""
    RunFolder(Path(request.folder)).remove()
    if request.status:
        for suffix in (".json", ".part"):
            Path(request.status).with_suffix(suffix).unlink(missing_ok=True)


if __name__ == "__main__":
    serve(supervise)
