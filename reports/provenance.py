"""The provenance of a report: versions, digests, seeds, host and times, to repeat it."""

import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pandas as pd

from kneepoint.analysis.frames import Record
from kneepoint.analysis.results import Results
from kneepoint.analysis.schema import STAGES
from kneepoint.common.errors import unusable
from kneepoint.common.files import read_json, sha256_of
from kneepoint.common.made_by import current_commit, read_made_by
from kneepoint.common.places import BENCHMARKS, BUILT, NETWORKS, TOOL
from kneepoint.common.tables import read
from kneepoint.config.workflow import Workflow
from kneepoint.engines.built import EMULATE, shared_object, sources_of
from kneepoint.networks.config import catalogue_files
from kneepoint.runs.registry import experiments_of
from kneepoint.runs.results import RUNS

_PACKAGES = ("optuna", "ray", "snakemake", "numpy", "pandas", "matplotlib", "seaborn", "typst")
_PUBLISHED = ("csv", "yaml")
"""Suffixes of a published table's files."""


def gather(results: Results) -> Record:
    """Collects the provenance from git, packages, build/, benchmarks/ and the host.

    `sha256` has digests of inputs and programs. `results` has, for each experiment, the digest of
    its runs (equal digests, equal runs) and the commit and code that made them. `wall_times` has
    rule, name and seconds of each job. `beside` describes the folder of a configuration outside
    this repository, as `commit`, `committed` and `changed_files` describe this repository.
    """
    workflow = results.workflow
    config, beside = public_path(workflow.path), _beside(workflow.path)
    command = f"make reproduce CONFIG={shlex.quote(config)}"
    if beside:
        config = str(workflow.path.resolve().relative_to(_root_of(workflow.path.resolve()).parent))
        command = f"kneepoint report --config {shlex.quote(config)}"
    return {
        **_state(),
        "beside": beside,
        "command": command,
        "config": config,
        "sha256": digests({**_files(workflow), **(_real_programs() if results.is_real else {})}),
        "references": _references(workflow),
        "seed": workflow.settings.seed,
        "versions": _versions() | (_mahimahi() if results.is_real else {}),
        "networks": list(_networks(sorted(results.networks))),
        "results": list(_results(workflow)),
        "host": _host(),
        "wall_times": _wall_times(BENCHMARKS, _jobs(workflow)),
    }


def public_path(path: Path) -> str:
    """Returns a file's path without private folders.

    A path outside this repository begins with the folder of its own repository or, without one,
    with the folder of the file.
    """
    path, here = path.resolve(), Path.cwd().resolve()
    return str(path.relative_to(here if path.is_relative_to(here) else _root_of(path).parent))


def _root_of(path: Path) -> Path:
    """Returns the root of a file's repository or, without one, the folder of the file."""
    return next((each for each in path.parents if (each / ".git").exists()), path.parent)


def _state(folder: Path = TOOL) -> Record:
    """Returns the commit of a folder's repository, and the files that differ from it."""
    found = current_commit(folder)
    return {
        "commit": found.name,
        "committed": found.date,
        "changed_files": list(found.changed_files),
    }


def _beside(config: Path) -> Record | None:
    """Returns folder and commit of a configuration outside this repository; None if inside."""
    config = config.resolve()
    if config.is_relative_to(TOOL):
        return None
    root = _root_of(config)
    return {"folder": root.name, **_state(root)}


def _references(workflow: Workflow) -> list[Record]:
    """Returns the references that tables and comparisons cite, or the bare names of sources.

    `names` lists the names under which the report cites each reference.
    """
    cited: dict[str, Record] = {}
    for table in workflow.tables.values():
        of, name = table.description, table.report
        if of.reference:
            cited[name] = of.reference.model_dump(mode="json")
        else:
            cited.setdefault(name, {"source": of.source if of.kind == "measured" else name})
    for comparison in workflow.comparisons.values():
        if source := comparison.source:
            cited.setdefault(source.partition(" (")[0], {"source": source})
    found: dict[str, Record] = {}
    for name, reference in cited.items():
        found.setdefault(json.dumps(reference), {"names": [], **reference})["names"].append(name)
    return list(found.values())


def input_files(workflow: Workflow) -> dict[str, Path]:
    """Returns files of the configuration, config.yaml first, and controllers' sources, by path."""
    folder, traces = workflow.path.parent, catalogue_files(workflow.path)
    read = [path for each in experiments_of(workflow).values() for path in each.config_files]
    read += [folder / f"published/{name}.{end}" for name in workflow.tables for end in _PUBLISHED]
    for name in workflow.controllers:
        read += sources_of(name, workflow.own_sources)
    there = {public_path(path): path for path in (*read, *traces) if path.is_file()}
    return {public_path(workflow.path): workflow.path, **dict(sorted(there.items()))}


def _versions() -> dict[str, str]:
    """Returns versions of Python, its packages, and the C++ compiler that CMake found."""
    found = {"python": platform.python_version()}
    found |= {name: importlib.metadata.version(name) for name in _PACKAGES}
    for path in sorted((BUILT / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")):
        said = dict(re.findall(r'set\(CMAKE_CXX_COMPILER_(\w+) "([^"]*)"\)', path.read_text()))
        found[f"C++ compiler ({said['ID']})"] = said["VERSION"]
    return found


def _mahimahi() -> dict[str, str]:
    """Returns the version of mahimahi's package; mm-link itself does not report a version."""
    query = ["dpkg-query", "--show", "--showformat=${Version}", "mahimahi"]
    with suppress(OSError, subprocess.CalledProcessError):
        version = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
        return {"mahimahi": version} if version else {}
    return {}


def _files(workflow: Workflow) -> dict[str, Path]:
    """Returns the files of the configuration and the emulator's programs, by name."""
    programs = {"build/emulate": EMULATE}
    for name in sorted(workflow.controllers):
        programs[f"build/controllers/{name}.so"] = shared_object(name, workflow.own_sources)
    return {**input_files(workflow), **programs}


def _real_programs() -> dict[str, Path]:
    own = {f"build/{name}": BUILT / name for name in ("sender", "receiver", "keep_awake")}
    return {**own, **{name: Path(shutil.which(name) or "") for name in ("mm-delay", "mm-link")}}


def digests(files: Mapping[str, Path]) -> dict[str, str]:
    """Returns the digests of the existing files."""
    there = {name: path for name, path in files.items() if path.is_file()}
    return {name: sha256_of(path.read_bytes()) for name, path in there.items()}


def _networks(names: list[str]) -> Iterator[Record]:
    for name in names:
        path = NETWORKS / name / "network.json"
        if path.is_file():
            try:
                yield read_json(path)
            except ValueError as error:
                raise unusable(path, error) from None


def _results(workflow: Workflow) -> Iterator[Record]:
    """Yields a record for each experiment with results; real-time experiments may have none."""
    for name in experiments_of(workflow):
        made = read_made_by(workflow.results / name)
        path = workflow.results / name / "runs.parquet"
        if path.is_file():
            yield {
                "name": name,
                "runs": read(path, RUNS).num_rows,
                "runs_sha256": sha256_of(path.read_bytes()),
                "commit": made.commit if made else "",
                "code_sha256": made.code_sha256 if made else "",
                "is_current": made is not None and made.is_current,
            }


def _host() -> dict[str, str]:
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": str(os.cpu_count() or "unknown"),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
    }


def _processor() -> str:
    """Returns the processor's name from Linux: Python's is empty, or names only the family."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(": ")[2]
    return platform.processor() or "unknown"


def _jobs(workflow: Workflow) -> set[str]:
    """Returns the names of the jobs of a report: other configurations write benchmarks, too."""
    traces = {trace for each in workflow.networks.values() for trace in each.trace_names}
    named = {*experiments_of(workflow), *workflow.controllers, *workflow.networks, *traces}
    return named | {"build", "analyse", *(f"analyse_{stage}" for stage in STAGES), "figures"}


def _wall_times(folder: Path, jobs: set[str]) -> list[Record]:
    """Reads Snakemake's benchmark files, `<rule>/<name>.tsv`; a repeated job has its mean time."""
    times = []
    for path in sorted(folder.glob("*/**/*.tsv")):
        rule, *rest = path.relative_to(folder).with_suffix("").parts
        name = "/".join(rest)
        if name in jobs:
            seconds = pd.read_csv(path, sep="\t")["s"].mean()
            times.append({"rule": rule, "name": name, "seconds": float(seconds)})
    return times
