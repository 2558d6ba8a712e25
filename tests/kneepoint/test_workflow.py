"""Two workflows in one folder: the second is refused before it touches anything."""

import os
from pathlib import Path

import pytest

from kneepoint.cli import runs
from kneepoint.cli.runs import make_what_is_missing
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import hold_lock, write_whole
from kneepoint.common.locks import PASSED_LOCK, WORKFLOW_LOCK, hold_workflow_lock
from kneepoint.common.places import OWN_CONTROLLERS, STATE
from kneepoint.workflow.make import VERBOSE, WORKFLOW_LOG, make


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("verbose", ["", "1"])
def test_second_workflow_leaves_the_log_of_the_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, verbose: str
) -> None:
    monkeypatch.setenv(VERBOSE, verbose)
    WORKFLOW_LOG.parent.mkdir(parents=True)
    WORKFLOW_LOG.write_text("the first one's")
    with hold_lock(WORKFLOW_LOCK):
        before = sorted(folder.rglob("*"))
        with pytest.raises(KneepointError, match=f"process {os.getpid()} holds the lock"):
            make(Path("config.yaml"), [])
    assert WORKFLOW_LOG.read_text() == "the first one's"
    assert sorted(folder.rglob("*")) == before


def test_lock_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with hold_lock(WORKFLOW_LOCK) as lock:
        monkeypatch.setenv(PASSED_LOCK, str(os.dup(lock.fileno())))
        with hold_workflow_lock():
            assert PASSED_LOCK not in os.environ
        with pytest.raises(KneepointError, match="holds the lock"):
            hold_workflow_lock()


@pytest.mark.parametrize("passed", ["", "x", "9999", "0"])
def test_lock_that_was_not_passed_is_taken(monkeypatch: pytest.MonkeyPatch, passed: str) -> None:
    monkeypatch.setenv(PASSED_LOCK, passed)
    with hold_workflow_lock(), pytest.raises(KneepointError, match="holds the lock"):
        hold_lock(WORKFLOW_LOCK)


def test_preparations_wait_for_what_another_process_makes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the wait, they check again which files are missing."""
    program = Path("program")
    monkeypatch.setattr(runs, "out_of_date", lambda *_: [])
    holder = hold_lock(STATE / "preparing.lock")

    def look_later(_: float) -> None:
        program.touch()
        holder.close()

    monkeypatch.setattr("time.sleep", look_later)
    make_what_is_missing(Path("config.yaml"), [], [], [program])
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(os.getpid()) in said


def test_a_run_builds_its_own_controller_alone_and_names_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("mine", "other"):
        write_whole(folder / f"controllers/{name}.cc", "int i;")
    asked: list[Path] = []
    monkeypatch.setattr(runs, "out_of_date", lambda *_: [OWN_CONTROLLERS / "mine.so"])
    monkeypatch.setattr(runs, "build_own", asked.append)
    make_what_is_missing(Path("config.yaml"), [], ["mine"])
    assert asked == [folder / "controllers/mine.cc"]
    assert "mine" in capsys.readouterr().err


def test_controller_whose_source_is_gone_is_unknown(folder: Path) -> None:
    built = folder / "build/controllers/gone.so"
    built.parent.mkdir(parents=True)
    built.touch()
    with pytest.raises(KneepointError, match=r"rules\.yaml: unknown controller 'gone'"):
        make_what_is_missing(Path("config.yaml"), [], ["gone"], where="rules.yaml")
