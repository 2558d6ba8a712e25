"""The view of a workflow: a table on a terminal, lines elsewhere, Snakemake's output on request."""

import io
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from kneepoint.workflow.make import WORKFLOW_LOG, NotMadeError, make
from kneepoint.workflow.states import State
from kneepoint.workflow.view import Lines, Live, view_on
from tests.conftest import ROOT

RUNNING = State("tune", "running", 30, 20.123456, 120, 400, 8.0, 35.0)
WAITING = State("hold_out", "waiting")
DONE = State("grid", "done", 9, 18.5)

SNAKEMAKE = """
import sys
print("[Mon Nov 23 2026]")
print("rule search_study:")
print("3 of 12 steps (25%) done", flush=True)
{rest}
"""


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_terminal_shows_what_runs_in_place() -> None:
    stream = Terminal()
    with closing(view_on(stream)) as view:
        assert isinstance(view, Live)
        view.show([DONE, RUNNING, WAITING], "3 of 12 steps done")
        first = stream.getvalue()
        view.show([DONE, RUNNING, WAITING], "4 of 12 steps done")
    for words in ("tune", "30", "20.123", "120 of 400", "8.0", "35 s", "1 done, 1 running, 1 wait"):
        assert words in first
    assert "grid" not in first and "hold_out" not in first
    assert "\x1b[2K" in stream.getvalue()[len(first) :]  # the line is drawn again


def test_pipe_gets_a_line_for_each_end_and_a_summary_now_and_then() -> None:
    stream = io.StringIO()
    now_s = 0.0
    assert isinstance(view_on(stream), Lines)
    view = Lines(stream, lambda: now_s)
    view.show([DONE, RUNNING, WAITING], "")
    assert stream.getvalue() == ""  # experiments that were done before are not reported
    now_s = 11.0
    view.show([DONE, RUNNING, WAITING], "3 of 12 steps done")
    _, row, summary = stream.getvalue().splitlines()
    for words in ("tune", "30", "20.123", "120 of 400", "8.0", "35 s"):
        assert words in row
    assert summary == "3 of 12 steps done - 1 done, 1 running, 1 waiting"
    stream.truncate(0)
    stream.seek(0)
    view.show([DONE, State("tune", "done", 100, 21.0, best=19.5), WAITING], "")
    assert stream.getvalue() == "tune: done, best 19.5\n"


HANGS = "hangs: the controller used 30 s of CPU time in one call"


def test_pipe_hears_at_once_why_runs_fail_and_once_for_each_reason() -> None:
    stream = io.StringIO()
    view = Lines(stream, lambda: 0.0)
    for failed, reason in ((0, ""), (1, HANGS), (2, HANGS), (3, "no datagram was delivered")):
        view.show([State("tune", "running", failed=failed, reason=reason)], "")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert HANGS in lines[0] and "tune" in lines[0] and "no datagram" in lines[1]
    done = State("tune", "done", 12, failed=12, reason=HANGS)
    view.show([done], "")
    assert "12 of 12" in stream.getvalue().splitlines()[-1]


def test_terminal_shows_why_runs_fail() -> None:
    stream = Terminal()
    with closing(view_on(stream)) as view:
        view.show([State("tune", "running", failed=3, reason=HANGS)], "")
    assert HANGS in stream.getvalue()


def test_pipe_gets_the_last_summary_at_the_end() -> None:
    stream = io.StringIO()
    times_s = iter((0.0, 11.0, 11.0, 12.0))
    with closing(Lines(stream, lambda: next(times_s))) as view:
        view.show([DONE], "3 of 12 steps done")
        view.show([DONE], "12 of 12 steps done")
    assert stream.getvalue().splitlines() == [
        "3 of 12 steps done - 1 done, 0 running, 0 waiting",
        "12 of 12 steps done - 1 done, 0 running, 0 waiting",
    ]


@pytest.fixture
def workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration and a scripted stand-in for Snakemake."""
    (tmp_path / "config.yaml").write_text("seed: 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KNEEPOINT_VERBOSE", raising=False)
    return tmp_path / "snakemake.py"


def test_snakemakes_words_go_to_a_file(
    workflow: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow.write_text(SNAKEMAKE.format(rest=""))
    make(Path("config.yaml"), [])
    assert capfd.readouterr() == ("", "")
    assert "rule search_study:" in WORKFLOW_LOG.read_text()
    monkeypatch.setenv("KNEEPOINT_VERBOSE", "1")
    make(Path("config.yaml"), [])
    assert "rule search_study:" in capfd.readouterr().out


def test_errors_are_whole_and_name_the_file(
    workflow: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    errors = [f"error: study {i}: the disk is full; free some space" for i in range(3)]
    lines = [*errors, "RuleException in line 3", *errors]
    workflow.write_text(SNAKEMAKE.format(rest=f"sys.exit(print(*{lines}, sep=chr(10)) or 2)"))
    with pytest.raises(NotMadeError) as caught:
        make(Path("config.yaml"), [])
    assert caught.value.code == 2
    assert capfd.readouterr().err.splitlines() == errors


def test_what_a_command_prepares_speaks_and_logs_only_if_it_fails(
    workflow: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    WORKFLOW_LOG.parent.mkdir(parents=True, exist_ok=True)
    WORKFLOW_LOG.write_text("of a workflow that runs")
    for rest in ("", "sys.exit(1)"):
        workflow.write_text(SNAKEMAKE.format(rest=rest))
        with pytest.raises(NotMadeError) if rest else nullcontext():
            make(Path("config.yaml"), [], quiet=True)
        assert WORKFLOW_LOG.read_text() == "of a workflow that runs"
        said = capfd.readouterr().err.splitlines()
        assert bool(said) == bool(rest)
    (kept,) = set(WORKFLOW_LOG.parent.iterdir()) - {WORKFLOW_LOG}
    assert said == [*kept.read_text().splitlines(), f"error: Snakemake failed; see {kept}"]


def test_snakemake_ends_with_the_command(workflow: Path, tmp_path: Path) -> None:
    rest = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
    workflow.write_text(SNAKEMAKE.format(rest=rest))
    call = (
        "from kneepoint.workflow.make import make; from pathlib import Path\n"
        "make(Path('config.yaml'), [])"
    )
    command = subprocess.Popen(
        [sys.executable, "-c", call],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
    )
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text()):
        assert command.poll() is None
        time.sleep(0.05)
    command.send_signal(signal.SIGKILL)
    command.wait()
    while Path(f"/proc/{pid.read_text()}/exe").exists():  # a hang fails by the suite's own limit
        time.sleep(0.05)
