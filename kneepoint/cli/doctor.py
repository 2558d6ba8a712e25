"""`kneepoint doctor`: checks this machine and suggests remedies."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import psutil

from kneepoint.cli import examined_option, json_option, print_result, subcommand
from kneepoint.common.columns import columns
from kneepoint.common.config_file import read_config
from kneepoint.common.errors import KneepointError
from kneepoint.common.places import IS_INSTALLED, TOOL
from kneepoint.common.programs import find_program
from kneepoint.common.project import own_sources
from kneepoint.engines.built import CORE, EMULATE, is_current
from kneepoint.engines.limits import LIMITS
from kneepoint.engines.registry import DIAGNOSES
from kneepoint.networks.config import FetchSettings, load_trace_catalogue
from kneepoint.networks.fetch import TraceCache, cache_folder_of
from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import check_results

MIN_FREE_GIB = 2.0
MIN_MEMORY_GIB = 2.0


@dataclass(frozen=True)
class Finding:
    """The result of a check; `lacks`: a required item is missing, `could`: an optional item."""

    what: str
    verdict: Literal["good", "could", "lacks"]
    found: str
    remedy: str = ""


@subcommand("""
    kneepoint doctor
    kneepoint doctor --json
""")
@examined_option
@json_option
def command(config: Path, as_json: bool) -> None:
    """Check everything that the workflow needs and suggest a remedy for what is missing.

    The exit status is 1 if a required item is missing.
    """
    findings = list(examine(config))
    signs = {"good": "ok", "could": "--", "lacks": "!!"}
    rows = [(signs[each.verdict], each.what, each.found, each.remedy) for each in findings]
    ok = all(each.verdict != "lacks" for each in findings)
    print_result([asdict(each) for each in findings], columns(rows), as_json, ok=ok)


def examine(config: Path) -> Iterator[Finding]:
    """Yields one finding for each item that the workflow needs or can use."""
    yield _python()
    yield _compiler()
    yield _git()
    yield Finding("cores", "good", str(os.cpu_count()))
    yield _amount(
        "memory",
        psutil.virtual_memory().available / 2**30,
        MIN_MEMORY_GIB,
        "close other programs",
    )
    yield _amount("disk", shutil.disk_usage(".").free / 2**30, MIN_FREE_GIB, "free some space")
    yield _configuration(config)
    yield _built(config)
    yield from _traces(config)
    for engine, diagnose in DIAGNOSES.items():
        try:
            diagnose()
            yield Finding(LIMITS[engine].title, "good", "works; run: make confirm")
        except KneepointError as error:
            yield _problem(LIMITS[engine].title, "could", str(error))


def _problem(what: str, verdict: Literal["could", "lacks"], message: str) -> Finding:
    problem, _, remedy = message.partition("; ")
    return Finding(what, verdict, problem, remedy)


def _python() -> Finding:
    found = platform.python_version()
    if (3, 11) <= sys.version_info[:2] < (3, 15):
        return Finding("Python", "good", found)
    return Finding("Python", "lacks", found, "install Python 3.11 to 3.14")


def _compiler() -> Finding:
    done = subprocess.run(
        [str(TOOL / "controllers/check_compiler.sh")], capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return Finding("C++ compiler", "good", "supports C++20")
    problem = done.stderr.strip().removeprefix("error: ")
    if IS_INSTALLED:  # needed only to build controllers and entries
        return _problem("C++ compiler", "could", problem)
    return _problem("C++ compiler", "lacks", problem)


def _git() -> Finding:
    try:
        return Finding("git", "good", str(find_program("git", "install git")))
    except KneepointError as error:
        return _problem("git", "lacks", str(error))


def _amount(what: str, gib: float, least: float, remedy: str) -> Finding:
    found = f"{gib:.1f} GiB free"
    if gib >= least:
        return Finding(what, "good", found)
    return Finding(what, "lacks", found, f"{remedy}: Kneepoint needs {least:g} GiB")


def _configuration(config: Path) -> Finding:
    try:
        workflow = load_workflow(config)
        check_results(workflow)
    except KneepointError as error:
        problem, _, remedy = str(error).rpartition("; ")
        return Finding("configuration", "lacks", problem or remedy, remedy if problem else "")
    return Finding("configuration", "good", f"{config}: {len(workflow.studies)} studies")


def _built(config: Path) -> Finding:
    if is_current(CORE, own_sources(config)):
        return Finding("emulator", "good", str(EMULATE))
    found = "not built from its present sources" if EMULATE.exists() else "not built"
    return Finding("emulator", "could", found, "the workflow builds it, or run: make build")


def _traces(config: Path) -> Iterator[Finding]:
    try:
        catalogue = load_trace_catalogue(config)
        named = {
            trace for each in load_workflow(config).networks.values() for trace in each.trace_names
        }
        folder = cache_folder_of(read_config(config, FetchSettings).cache)
    except KneepointError:  # _configuration has reported it
        return
    missing = TraceCache(folder, catalogue).missing(sorted(named)) if folder.is_dir() else named
    if missing:
        found = f"{len(missing)} of {len(named)} not in {folder}"
        yield Finding("traces", "could", found, "the workflow downloads them")
    else:
        yield Finding("traces", "good", f"{len(named)} in {folder}")
