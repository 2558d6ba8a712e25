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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.files import locked, runtime_folder, write_passing
from engines.mahimahi.diagnosis import ordinary_user
from engines.mahimahi.processes import (
    INSIDES,
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
        status: file for the run's current state; it is removed, too.
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
    status: str
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
        self._user = ordinary_user()
        self._next_status_s = _STATUS_S
        self._tail = LogTail(lambda: folder.open(_LOG))

    def run(self) -> dict[str, Any]:
        """Returns the metrics of the run.

        Raises:
            RunEndedError: the run ended without any.
        """
        request = self._request
        delete_rules_of_the_dead()
        with self._awake(), self._process("receiver", self._receiving()) as receiver:
            self._wait(self._is_listening, _START_LIMIT_S, "the receiver did not start", receiver)
            port = int(self._folder.read("receiver.out").split()[-1])
            with contextlib.ExitStack() as stack:
                # A shell takes the first free addresses: if two start at the same time, both
                # take the same ones, and one receives nothing.
                with locked(runtime_folder() / "start.lock"):
                    shells = stack.enter_context(self._process("shells", self._shells(port)))
                    late = f"mahimahi did not start within {_START_LIMIT_S:g} s"
                    self._wait(lambda: self._has_begun(shells), _START_LIMIT_S, late, receiver)
                limit_s = request.expected_s + START_AND_END_S
                late = f"the run did not end within {limit_s:g} s"
                begun_s = time.monotonic()
                self._wait(lambda: self._is_over(shells, begun_s), limit_s, late, receiver, _POLL_S)
            receiver.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                receiver.wait(_PATIENCE_S)
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

    def _awake(self) -> contextlib.AbstractContextManager[object]:
        """Keeps processors from idling; one of a user's runs does so for all."""
        if not self._request.keeps_awake:
            return contextlib.nullcontext()
        user = self._user or (os.getuid(), os.getgid())
        lock = runtime_folder() / f"awake-{user[0]}.lock"
        with lock.open("a") as file:
            os.fchown(file.fileno(), *user)
        words = [str(self._folder.path / "keep_awake"), str(lock), "--end-with-parent"]
        return self._process("keep_awake", words)

    def _receiving(self) -> list[str]:
        listening = ["0", "--address", "0.0.0.0", "--peers", INSIDES]  # noqa: S104
        if self._request.clock_epoch_ms is not None:
            listening += ["--clock-epoch-ms", str(self._request.clock_epoch_ms)]
        return [str(self._folder.path / "receiver"), *listening, "--end-with-parent"]

    def _shells(self, port: int) -> list[str]:
        # MAHIMAHI_BASE, the outside's address, is known inside only.
        inside = 'exec "$0" "$MAHIMAHI_BASE" "$@" > sender.out 2> sender.err'
        sender = [str(self._folder.path / "sender"), str(port), *self._request.sending]
        return [*self._request.shells, "--", "sh", "-c", inside, *sender, "--end-with-parent"]

    @contextlib.contextmanager
    def _process(self, name: str, command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
        """Starts a process that writes its output to NAME.out, and ends it and its descendants."""
        with (self._folder.path / f"{name}.out").open("xb") as output:
            try:
                process = start_as_ordinary_user(command, self._user, self._folder.work, output)
            except OSError as error:
                raise RunEndedError(f"{command[0]}: {error.strerror}", "error") from None
        try:
            yield process
        finally:
            end_session(process, _PATIENCE_S)

    def _wait(
        self,
        is_so: Callable[[], bool],
        limit_s: float,
        late: str,
        receiver: "subprocess.Popen[bytes] | None" = None,
        poll_s: float = _POLL_S / 5,
    ) -> None:
        """Waits; ends the run if it lasts too long, is told to end, or loses its receiver."""
        deadline = time.monotonic() + limit_s
        while not is_so():
            if time.monotonic() > deadline:
                raise RunEndedError(late)
            self._stopped.check()
            if receiver is not None and receiver.poll() is not None:
                said = self._last_words("receiver.out")
                raise RunEndedError(f"the receiver ended during the run ({said})")
            time.sleep(poll_s)

    def _is_listening(self) -> bool:
        said = self._folder.read("receiver.out")
        return said.startswith("listening") and said.endswith("\n")

    def _has_begun(self, shells: "subprocess.Popen[bytes]") -> bool:
        return os.path.lexists(self._folder.path / _SENT) or shells.poll() is not None

    def _is_over(self, shells: "subprocess.Popen[bytes]", begun_s: float) -> bool:
        """Whether the run is over; says from time to time how far it is."""
        elapsed_s = time.monotonic() - begun_s
        if elapsed_s >= self._next_status_s:
            self._next_status_s += _STATUS_S
            state = {
                "elapsed_s": round(elapsed_s, 1),
                "expected_s": self._request.expected_s,
                **self._tail.read(),
            }
            with contextlib.suppress(OSError):  # a failed status update must not end the run
                write_passing(Path(self._request.status), json.dumps(state))
        return shells.poll() is not None

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
        command = [str(self._folder.path / "measure"), str(self._folder.path / _LOG)]
        with self._process("measure", command) as measure:  # as the user, whose log it is
            late = f"the link's log was not read within {_MEASURE_LIMIT_S:g} s"
            self._wait(lambda: measure.poll() is not None, _MEASURE_LIMIT_S, late)
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
        delete_rules_of_the_dead()
        clear(RunFolder(Path(request.folder)), Path(request.status))


def clear(folder: RunFolder, status: Path) -> None:
    """Removes the files of a run."""
    folder.remove()
    for suffix in (".json", ".part"):
        status.with_suffix(suffix).unlink(missing_ok=True)


if __name__ == "__main__":
    serve(supervise)
