"""After a change, what is out of date runs again, and nothing else does."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.slow

STUDIES = {"search_study"}
RUNS = {"search_study", "repeat_runs", "hold_out_settings", "showcase_run"}


@pytest.fixture(scope="module")
def finished(checkout: Checkout) -> list[str]:
    """A workflow that has run to its end; returns the arguments for another."""
    arguments, targets = checkout.configure("stale")
    command = ["--cores", "2", *arguments, "--", *targets]
    checkout.run(*command)
    return command


@contextmanager
def changed(path: Path, old: str, new: str) -> Iterator[None]:
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new, 1))
    try:
        yield
    finally:
        path.write_text(before)


def jobs_of(checkout: Checkout, command: list[str]) -> set[str]:
    """The rules that would run."""
    said = checkout.run("--dry-run", *command)
    if "Nothing to be done" in said:
        return set()
    table = said[said.index("Job stats") :]
    return set(re.findall(r"^(\w+) +\d+$", table, re.MULTILINE)) - {"total", "all"}


@pytest.mark.parametrize(
    ("path", "old", "new", "jobs"),
    [
        ("search/objective.py", "LEAST_POWER = 1e-3", "LEAST_POWER = 1e-4", STUDIES),
        ("search/seeds.py", ">> 11", ">> 12", RUNS),
        ("search/samplers/ternary.py", "class", "SPARE = 1\n\n\nclass", STUDIES),
        ("search/hold_out.py", "NAME =", "SPARE = 1\nNAME =", {"hold_out_settings"}),
        ("networks/omniscient.py", "0.95", "0.96", RUNS | {"prepare_network"}),
        ("requirements.txt", "optuna==", "optuna==9", RUNS | {"prepare_network"}),
        ("search/objective.py", "# ", "# Well: ", set()),
        ("search/seeds.py", '"""Returns', '"""Gives', set()),
        ("controllers/algorithms/timely.cc", "// ", "// Well: ", {"build_controllers"}),
        ("controllers/algorithms/timely.cc", "{", "{ ;", RUNS | {"build_controllers"}),
        ("reports/statistics.py", "0.975", "0.995", set()),
    ],
)
def test_change_reruns_what_it_can_change(
    checkout: Checkout, finished: list[str], path: str, old: str, new: str, jobs: set[str]
) -> None:
    assert jobs_of(checkout, finished) == set()
    with changed(checkout.folder / path, old, new):
        found = jobs_of(checkout, finished)
        assert jobs <= found
        assert found <= jobs | ({"hold_out_settings"} if jobs else set())  # it reads the studies
    jobs_of(checkout, finished)
    _settle(checkout, finished)


def _settle(checkout: Checkout, command: list[str]) -> None:
    """Makes everything current again: notes of code are new now, though they are as before."""
    checkout.run("--touch", *command)


def test_trace_that_was_changed_is_noticed(checkout: Checkout, finished: list[str]) -> None:
    trace = checkout.folder / "build/networks/held/uplink.trace"
    content = trace.read_text()
    trace.write_text(content[: len(content) // 2])
    assert "hold_out_settings" in jobs_of(checkout, finished)
    trace.write_text(content)
    _settle(checkout, finished)


def test_rerun_takes_its_runs_from_the_journal_and_says_what_made_it(
    checkout: Checkout, finished: list[str]
) -> None:
    folder = checkout.folder / "results/stale/grid"
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    made = json.loads(before["made_by.json"])
    with changed(checkout.folder / "search/objective.py", "over == ", "over  == 'x' or over == "):
        checkout.run(*finished)
        after = {name: (folder / name).read_bytes() for name in before}
    assert after["runs.jsonl"] == before["runs.jsonl"]
    assert after["runs.parquet"] == before["runs.parquet"]
    again = json.loads(after["made_by.json"])
    assert again["code_sha256"] != made["code_sha256"]
    assert {**again, "code_sha256": ""} == {**made, "code_sha256": ""}
    checkout.run(*finished)
    assert json.loads((folder / "made_by.json").read_bytes()) == made
