"""After a change, exactly the outdated steps run again."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kneepoint.engines.built import PROGRAMS
from tests.programs import run_kneepoint
from tests.workflow.conftest import Checkout, Finished, copy_sources

pytestmark = pytest.mark.slow

# Searches, and the held-out runs of their best settings.
STUDIES = {"search_study", "search_worst_case", "harden_controller", "hold_out_settings"}
FITTED = STUDIES | {"prepare_network"}  # a network has the host that a study finds
BUILDS = {"build_core", "build_controller"}
HELD_OUT = "kneepoint/questions/held_out/plan.py"
TIMELY = ('"beta", 0.3,', '"beta", 0.31,')
RUNS = STUDIES | {"replicate_settings", "run_example"}
ALL = RUNS | BUILDS | {"prepare_network"}  # programs of the core make synthetic links


@pytest.fixture(scope="module")
def checkout(finished_workflow: Finished) -> Checkout:
    return finished_workflow.checkout


@pytest.fixture(scope="module")
def finished(finished_workflow: Finished) -> list[str]:
    """A workflow that has run to its end; returns the arguments for another."""
    command = ["--cores", "2", *finished_workflow.command]
    # Another configuration of this checkout may have prepared the network with another fitted host.
    finished_workflow.checkout.run(*command)
    assert jobs_of(finished_workflow.checkout, command) == set()
    return command


@contextmanager
def changed(
    checkout: Checkout, *changes: tuple[str, str, str], times_ns: int | None = None
) -> Iterator[None]:
    """Changes files within the block, and then restores their contents and times.

    Args:
        checkout: the checkout.
        changes: file, old text and new text.
        times_ns: time of the changed files; None: their former times.
    """
    files = {checkout.folder / path for path, _, _ in changes}
    before = [(each, each.read_bytes(), each.stat().st_mtime_ns) for each in files]
    for path, old, new in changes:
        text = (checkout.folder / path).read_text()
        assert old in text
        (checkout.folder / path).write_text(text.replace(old, new, 1))
        if times_ns is not None:
            os.utime(checkout.folder / path, ns=(times_ns, times_ns))
    try:
        yield
    finally:
        for each, content, time_ns in before:
            each.write_bytes(content)
            os.utime(each, ns=(time_ns, time_ns))


def jobs_of(checkout: Checkout, command: list[str]) -> set[str]:
    """Returns the rules that would run."""
    output = checkout.run("--dry-run", *command)
    if "Nothing to be done" in output:
        return set()
    table = output[output.index("Job stats") :]
    return set(re.findall(r"^(\w+) +\d+$", table, re.MULTILINE)) - {"total", "all"}


# Inputs, and the jobs that read them; a network is prepared on the host that a study fits.
HELD = "Running published and tuned settings on held-out networks: hold_out"
STUDY = ("config/studies/grid.yaml", "40", "41")
NETWORK = ("config/networks/held.yaml", "constant_mbps: 5", "constant_mbps: 6")
TRACE = (".kneepoint/networks/held/uplink.trace", "3\n", "4\n")
TABLE = ("config/published/printed.csv", "5,60", "5,61")
HOST_FIT = ("results/one/fit/study.json", '"host_latency_us": ', '"host_latency_us": 1')
LOG = ("results/one/showcase/uplink.log", " + 1504", " + 1505")
INPUTS = [
    ([STUDY, NETWORK], {"Searching: grid", "Preparing the network held", HELD}),
    ([TRACE], {"Preparing the network held", HELD}),
    ([TABLE], {"Searching: fit", "Searching: table", "Preparing the network fitted", HELD}),
    ([HOST_FIT], {"Searching: fit", "Preparing the network fitted", HELD}),
    ([LOG], {"Running the example with its logs: showcase"}),
]


def messages_of(checkout: Checkout, command: list[str]) -> set[str]:
    """Returns the messages of the jobs that would run."""
    output = checkout.run("--dry-run", *command)
    return set(re.findall(r"^Job \d+: (.*\S)$", output, re.MULTILINE))


def verify(checkout: Checkout) -> str:
    """Returns the output of `kneepoint verify`."""
    words = ("verify", "--config", "config/one.yaml")
    return run_kneepoint(*words, cwd=checkout.folder).stdout


@pytest.mark.parametrize(("changes", "jobs"), INPUTS)
def test_input_that_looks_older_than_results_reruns_what_reads_it(
    checkout: Checkout,
    finished: list[str],
    changes: list[tuple[str, str, str]],
    jobs: set[str],
) -> None:
    """This happens after `cp -p`, `rsync -t` or a restored backup."""
    assert "has changed" not in verify(checkout)
    results = [each for each in (checkout.folder / "results/one").rglob("*") if each.is_file()]
    before_ns = min(each.stat().st_mtime_ns for each in results) - 1
    with changed(checkout, *changes, times_ns=before_ns):
        assert messages_of(checkout, finished) == jobs
        for path, _, _ in changes:
            named = re.sub(r"^(config|results/one/\w+)/", "", path)
            assert f"{named} has changed" in verify(checkout)


def test_inputs_that_look_newer_rerun_what_reads_them(
    checkout: Checkout, finished: list[str]
) -> None:
    with changed(checkout, STUDY, NETWORK, TRACE, TABLE, HOST_FIT, LOG):
        assert messages_of(checkout, finished) == set().union(*(jobs for _, jobs in INPUTS))


def test_a_whole_older_folder_in_the_place_of_a_newer_one_is_made_again(
    checkout: Checkout, finished: list[str], tmp_path: Path
) -> None:
    """It may come from a backup: it is intact, but belongs to another study."""
    folder, older = checkout.folder / "results/one/grid", tmp_path / "older"
    shutil.copytree(folder, older)
    with changed(checkout, STUDY):
        checkout.run(*finished)
        assert jobs_of(checkout, finished) == set()
        shutil.rmtree(folder)
        shutil.copytree(older, folder, copy_function=shutil.copyfile)  # with present times
        assert "search_study" in jobs_of(checkout, finished)
    checkout.run(*finished)
    assert jobs_of(checkout, finished) == set()


def test_results_that_are_not_what_was_written_are_made_again(
    checkout: Checkout, finished: list[str]
) -> None:
    """A study.json from a backup, and a truncated log; both look old."""
    files = [checkout.folder / path for path in ("results/one/grid/study.json", LOG[0])]
    right = [path.read_bytes() for path in files]
    cut = (LOG[0], files[1].read_text(), "")
    with changed(checkout, (str(files[0]), '"value": ', '"value": 1'), cut, times_ns=1):
        output = checkout.run(*finished)
        assert [path.read_bytes() for path in files] == right
        assert "has changed" not in verify(checkout)
        assert jobs_of(checkout, finished) == set()
    ran = set(re.findall(r"Finished jobid: \d+ \(Rule: (\w+)\)", output))
    assert {"search_study", "run_example"} <= ran


def test_results_that_snakemake_does_not_know_are_made_again_by_other_code(
    checkout: Checkout, finished: list[str], tmp_path: Path
) -> None:
    """This happens after its records were removed, or older results restored."""
    known = checkout.folder / ".snakemake/metadata"
    known.rename(tmp_path / "known")
    try:
        assert not RUNS & jobs_of(checkout, finished)
        with changed(checkout, (HELD_OUT, "\n\n\n", "\n\nSPARE = 1\n\n"), times_ns=1):
            assert RUNS & jobs_of(checkout, finished) == {"hold_out_settings"}
    finally:
        shutil.rmtree(known, ignore_errors=True)
        (tmp_path / "known").rename(known)


@pytest.mark.parametrize(
    ("program", "jobs"),
    [
        ("emulate", RUNS | {"build_core"}),
        ("controllers/timely.so", {"run_example", "build_controller"}),
    ],
)
def test_program_that_looks_older_than_results_is_built_and_run_again(
    checkout: Checkout, finished: list[str], program: str, jobs: set[str]
) -> None:
    """This happens after `cp -p` of a build by another compiler."""
    path = checkout.folder / "build" / program
    content, times_ns = path.read_bytes(), path.stat().st_mtime_ns
    path.write_bytes(content + b"\0")
    os.utime(path, ns=(1, 1))
    try:
        assert (RUNS | BUILDS) & jobs_of(checkout, finished) == jobs
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(times_ns, times_ns))


def test_build_replaces_a_controller_that_something_else_wrote(tmp_path: Path) -> None:
    copy_sources(tmp_path, ["controllers"])
    command = ["controllers/build.sh", "--", "controller_timely"]
    path = tmp_path / "build/controllers/timely.so"
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    built = path.read_bytes()
    path.write_bytes(built[:1000])
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert path.read_bytes() == built


def test_inputs_that_say_the_same_rerun_nothing(checkout: Checkout, finished: list[str]) -> None:
    """Touched files, a new comment, or another layout."""
    same = [
        ("config/studies/grid.yaml", "title: ", "# A comment\ntitle:   "),
        ("config/networks/held.yaml", "title: ", "# A comment\ntitle:   "),
        ("config/published/printed.csv", "5,60\n", "5,60\r\n"),
        ("config/one.yaml", "seed: ", "# A comment\nseed:  "),
    ]
    touched = (TRACE[0], HOST_FIT[0], "results/one/tpe/trials.parquet")
    with changed(checkout, *same):
        for path in (*touched, "build/emulate"):
            (checkout.folder / path).touch()
        assert messages_of(checkout, finished) == set()
        assert "has changed" not in verify(checkout)


@pytest.mark.parametrize(
    ("path", "old", "new", "jobs"),
    [
        ("search/objective.py", "MIN_POWER = 1e-3", "MIN_POWER = 1e-4", FITTED),
        ("kneepoint/runs/run.py", "name: str = ", "SPARE = name = ", RUNS | {"prepare_network"}),
        (HELD_OUT, "\n\n\n", "\n\nSPARE = 1\n\n", {"hold_out_settings"}),
        ("requirements.txt", "optuna==", "optuna==9", RUNS | {"prepare_network"}),
        ("controllers/algorithms/timely.cc", *TIMELY, {"build_controller", "run_example"}),
        ("controllers/algorithms/delay_threshold.cc", "{", "{ ;", STUDIES | {"build_controller"}),
        ("controllers/algorithms/interface.h", "_VERSION ", "_VERSION 1", ALL),
        ("controllers/links/link.cc", "{", "{ ;", ALL - {"build_controller"}),
        ("controllers/build.sh", "set -eu", "set -eu # -Ofast", ALL),
    ],
)
def test_change_reruns_what_it_can_change(
    checkout: Checkout, finished: list[str], path: str, old: str, new: str, jobs: set[str]
) -> None:
    """The modules that each step uses are tested in tests/common/test_code, without a workflow."""
    with changed(checkout, (path, old, new)):
        assert jobs_of(checkout, finished) == jobs


def test_changes_that_no_result_depends_on_rerun_nothing(
    checkout: Checkout, finished: list[str]
) -> None:
    """Comments, docstrings, a controller without a study, statistics: all at once."""
    with changed(
        checkout,
        ("kneepoint/runs/job.py", "# ", "# Well: "),
        ("kneepoint/runs/seeds.py", '"""Returns', '"""Gives'),
        ("kneepoint/runs/run.py", "(arguments.config)", "((arguments.config))"),
        ("controllers/algorithms/fast_tcp.cc", "{", "{ ;"),
        ("kneepoint/analysis/statistics.py", "margin(n, math.inf)", "margin(n, 9)"),
    ):
        assert jobs_of(checkout, finished) == set()


COPYING = """#!/usr/bin/env bash
set -eu
if [ "$2" = programs ]; then
  find build/saved -maxdepth 1 -type f -exec cp -a {} build ';'
else
  cp -a "build/saved/controllers/${2#controller_}.so" build/controllers
fi
"""


def test_build_that_gives_the_same_bytes_changes_no_result(
    checkout: Checkout, finished: list[str], finished_workflow: Finished
) -> None:
    """This happens after a new comment in all sources: every run is in its journal, and the build
    copies."""
    build = checkout.folder / "build"
    programs = [checkout.folder / "build" / Path(path).name for path in PROGRAMS]
    (build / "saved/controllers").mkdir(parents=True, exist_ok=True)
    for path in (*programs, *build.glob("controllers/*.so")):
        shutil.copy2(path, build / "saved" / path.relative_to(build))
    folders = ("grid", "tpe", "fit", "repeats/again", "hold_out")
    journals = [checkout.folder / f"results/one/{folder}/runs.jsonl" for folder in folders]
    before = [path.read_bytes() for path in journals]
    whole = (checkout.folder / "controllers/build.sh").read_text()
    with changed(checkout, ("controllers/build.sh", whole, COPYING)):
        output = checkout.run(*finished)
    ran = set(re.findall(r"Finished jobid: \d+ \(Rule: (\w+)\)", output)) - {"all"}
    assert ran == ALL
    assert [path.read_bytes() for path in journals] == before
    assert checkout.results("one") == finished_workflow.results
    assert jobs_of(checkout, finished) == set()


def test_rerun_takes_its_runs_from_the_journal_and_says_what_made_it(
    checkout: Checkout, finished: list[str], finished_workflow: Finished
) -> None:
    folder = checkout.folder / "results/one/grid"
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    made = json.loads(before["made_by.json"])
    with changed(checkout, ("search/objective.py", "MIN_POWER = 1e-3", "MIN_POWER = 1e-4")):
        checkout.run(*finished)
        after = {name: (folder / name).read_bytes() for name in before}
    assert after["runs.jsonl"] == before["runs.jsonl"]
    assert after["runs.parquet"] == before["runs.parquet"]
    again = json.loads(after["made_by.json"])
    assert again["code_sha256"] != made["code_sha256"]
    assert {**again, "code_sha256": ""} == {**made, "code_sha256": ""}
    checkout.run(*finished)
    assert checkout.results("one") == finished_workflow.results
