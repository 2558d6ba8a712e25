"""Two workflows in one folder: the second is refused before it touches anything."""

import os
from pathlib import Path

import pytest

from common.errors import KneepointError
from common.files import hold_lock
from common.locks import PASSED_LOCK, WORKFLOW_LOCK, hold_workflow_lock
from kneepoint.runs import make_what_is_missing
from kneepoint.workflow import LOG, VERBOSE, make


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("verbose", ["", "1"])
def test_second_workflow_leaves_the_log_of_the_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, verbose: str
) -> None:
    monkeypatch.setenv(VERBOSE, verbose)
    LOG.parent.mkdir()
    LOG.write_text("the first one's")
    with hold_lock(WORKFLOW_LOCK):
        before = sorted(folder.rglob("*"))
        with pytest.raises(KneepointError, match=f"process {os.getpid()} holds the lock"):
            make(Path("config.yaml"), [])
    assert LOG.read_text() == "the first one's"
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


def test_controller_whose_source_is_gone_is_unknown(folder: Path) -> None:
    built = folder / "build/controllers/gone.so"
    built.parent.mkdir(parents=True)
    built.touch()
    with pytest.raises(KneepointError, match=r"rules\.yaml: unknown controller 'gone'"):
        make_what_is_missing(Path("config.yaml"), [], ["gone"], where="rules.yaml")
