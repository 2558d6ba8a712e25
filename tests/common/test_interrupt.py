"""An interrupted workflow ends all processes that it started, and prints one line."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.engines.live_run import lives, wait_until

# Like Snakemake: a job that ignores Ctrl-C, and a cluster in a session of its own, which takes a
# moment to end; messages about failed jobs go through logging. Each writes its process id when it
# is ready.
WORKFLOW = """
import logging, pathlib, subprocess, sys, threading, time
from kneepoint.common.interrupt import end_on_signals
folder = pathlib.Path(sys.argv[1])
(folder / 'temporary').mkdir()
end_on_signals(folder / 'temporary')
command = "trap '' INT; sleep 600 & echo $! > sleep; wait"
def job():
    code = subprocess.call(["bash", "-c", command], cwd=folder)
    logging.error("a job ended with %d", code)
    time.sleep(600)
threading.Thread(target=job, daemon=True).start()
cluster = "trap 'sleep 0.3; touch ended; kill $!; exit' TERM; sleep 600 & echo $! > cluster; wait"
subprocess.Popen(["bash", "-c", cluster], cwd=folder, start_new_session=True)
threading.Event().wait()
"""
LINE = "error: interrupted; run the same command again: finished runs are kept\n"


pytestmark = pytest.mark.usefixtures("usual_signals")


@pytest.mark.parametrize(
    ("prefix", "ignored", "number"),
    [
        *(((), (), each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)),
        (("nohup",), (signal.SIGHUP,), signal.SIGTERM),
    ],
)
def test_signal_ends_the_workflow_with_all_that_it_started(
    tmp_path: Path, prefix: tuple[str, ...], ignored: tuple[int, ...], number: int
) -> None:
    workflow = subprocess.Popen(
        [*prefix, sys.executable, "-c", WORKFLOW, tmp_path],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    files = [tmp_path / "sleep", tmp_path / "cluster"]
    wait_until(lambda: all(file.exists() and file.read_text() for file in files))
    for each in (*ignored, number):
        workflow.send_signal(each)
    _, output = workflow.communicate()
    assert output.endswith(LINE) and output.count("error") == 1
    assert workflow.returncode == -number
    assert (tmp_path / "ended").exists()
    assert not (tmp_path / "temporary").exists()
    assert [file.name for file in files if lives(int(file.read_text()))] == []


def test_program_that_is_interrupted_shows_no_traceback() -> None:
    program = (
        "import signal\nfrom kneepoint.common.errors import run_command_line\n"
        "run_command_line(lambda: signal.raise_signal(signal.SIGINT))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert ended.stderr == "error: interrupted; run the same command again\n"
    assert ended.returncode == -signal.SIGINT
