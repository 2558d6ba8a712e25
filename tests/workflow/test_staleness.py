"""After a change, what is out of date runs again, and nothing else does."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.workflow.conftest import Checkout, Finished

pytestmark = pytest.mark.slow

# Searches, and the held-out runs of what they found.
STUDIES = {"search_study", "search_worst_case", "harden_controller", "hold_out_settings"}
BUILDS = {"build_core", "build_controller"}
HELD_OUT = "experiments/planners/held_out.py"
TIMELY = (".fallback = 0.3,", ".fallback = 0.31,")
RUNS = STUDIES | {"replicate_settings", "run_example"}
ALL = RUNS | BUILDS | {"prepare_network"}  # synthetic links are the core's


@pytest.fixture(scope="module")
def checkout(finished_workflow: Finished) -> Checkout:
    return finished_workflow.checkout


@pytest.fixture(scope="module")
def finished(finished_workflow: Finished) -> list[str]:
    """A workflow that has run to its end; returns the arguments for another."""
    command = ["--cores", "2", *finished_workflow.command]
    assert jobs_of(finished_workflow.checkout, command) == set()
    return command


@contextmanager
def changed(checkout: Checkout, *changes: tuple[str, str, str]) -> Iterator[None]:
    """Changes files for a while; afterwards they, and the notes of code, are as old as before."""
    files = {checkout.folder / path for path, _, _ in changes}
    noted = sorted((checkout.folder / "build/code").glob("*.sha256"))
    before = [(each, each.read_bytes(), each.stat().st_mtime_ns) for each in (*files, *noted)]
    for path, old, new in changes:
        text = (checkout.folder / path).read_text()
        assert old in text
        (checkout.folder / path).write_text(text.replace(old, new, 1))
    try:
        yield
    finally:
        for each, content, time_ns in before:
            each.write_bytes(content)
            os.utime(each, ns=(time_ns, time_ns))


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
        ("experiments/seeds.py", ">> 11", ">> 12", RUNS),
        (HELD_OUT, "\n\n\n", "\n\nSPARE = 1\n\n", {"hold_out_settings"}),
        ("networks/omniscient.py", "int(0.95", "int(0.96", RUNS | {"prepare_network"}),
        ("requirements.txt", "optuna==", "optuna==9", RUNS | {"prepare_network"}),
        ("controllers/algorithms/timely.cc", *TIMELY, {"build_controller", "run_example"}),
        ("controllers/algorithms/delay_threshold.cc", "{", "{ ;", STUDIES | {"build_controller"}),
        ("controllers/algorithms/interface.h", "VERSION 1", "VERSION 2", ALL),
        ("controllers/links/link.cc", "{", "{ ;", ALL - {"build_controller"}),
    ],
)
def test_change_reruns_what_it_can_change(
    checkout: Checkout, finished: list[str], path: str, old: str, new: str, jobs: set[str]
) -> None:
    with changed(checkout, (path, old, new)):
        assert jobs_of(checkout, finished) == jobs


def test_changes_that_no_result_depends_on_rerun_nothing(
    checkout: Checkout, finished: list[str]
) -> None:
    """Comments, docstrings, a controller without a study, statistics: all at once."""
    with changed(
        checkout,
        ("experiments/executor.py", "# ", "# Well: "),
        ("experiments/seeds.py", '"""Returns', '"""Gives'),
        ("controllers/algorithms/timely.cc", "// ", "// Well: "),
        ("controllers/algorithms/fast_tcp.cc", "{", "{ ;"),
        ("controllers/algorithms/rtt_estimate.hh", "// ", "// Well: "),
        ("controllers/links/link.cc", "// ", "// Well: "),
        ("analysis/statistics.py", "0.975", "0.995"),
    ):
        assert jobs_of(checkout, finished) == set()


def test_trace_that_was_changed_is_noticed(checkout: Checkout, finished: list[str]) -> None:
    trace = "build/networks/held/uplink.trace"
    first = (checkout.folder / trace).read_text().partition("\n")[0]
    with changed(checkout, (trace, f"{first}\n", "")):
        assert jobs_of(checkout, finished) == {"hold_out_settings"}


def test_rerun_takes_its_runs_from_the_journal_and_says_what_made_it(
    checkout: Checkout, finished: list[str]
) -> None:
    folder = checkout.folder / "results/one/grid"
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    made = json.loads(before["made_by.json"])
    with changed(checkout, ("search/objective.py", "LEAST_POWER = 1e-3", "LEAST_POWER = 1e-4")):
        checkout.run(*finished)
        after = {name: (folder / name).read_bytes() for name in before}
    assert after["runs.jsonl"] == before["runs.jsonl"]
    assert after["runs.parquet"] == before["runs.parquet"]
    again = json.loads(after["made_by.json"])
    assert again["code_sha256"] != made["code_sha256"]
    assert {**again, "code_sha256": ""} == {**made, "code_sha256": ""}
