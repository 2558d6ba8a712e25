"""The Snakefile refuses bad input before any work, and two workflows in one folder."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from common.files import hold_lock
from tests.conftest import ROOT
from tests.programs import run_module

PARTS = (
    "Snakefile analysis common config controllers engines environment.yml experiments kneepoint "
    "networks profiles reports requirements.txt rules search"
).split()
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
TARGET = "build/networks/constant-12mbps/network.json"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of everything that the workflow reads."""
    return copy_to(tmp_path_factory.mktemp("checkout"))


def copy_to(folder: Path) -> Path:
    """Copies everything that the workflow reads."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part)
        else:
            shutil.copy(ROOT / part, folder / part)
    return folder


def snakemake(checkout: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return run_module("snakemake", "--cores", "1", *arguments, cwd=checkout, PATH=PATH)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("seed: 1\nstudy: []\n", "unknown key 'study'; did you mean 'studies'?"),
        ("seed: 1\nstudies: [absent]\n", "absent"),
        ("seed: none\n", "seed: 'none' is invalid"),
        (
            "seed: 1\nshowcase: {controller: fixed_window, network: absent}\n",
            "unknown network 'absent'",
        ),
    ],
)
def test_snakefile_refuses_a_configuration(checkout: Path, wrong: str, message: str) -> None:
    config = checkout / "config" / "wrong.yaml"
    config.write_text(wrong)
    result = snakemake(checkout, "--configfile", "config/wrong.yaml", "--", TARGET)
    assert result.returncode == 2
    assert "\nerror: config/" in result.stderr
    assert message in result.stderr
    assert not (checkout / "build").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--cores", "0"], "error: --cores 0: no job could run; give at least 1, or all"),
        (["--configfile", "config/{a}.yaml"], "error: config/{a}.yaml: Snakemake does not support"),
    ],
)
def test_snakefile_refuses_an_option(checkout: Path, option: list[str], message: str) -> None:
    (checkout / "config/{a}.yaml").write_text("seed: 1\n")
    result = snakemake(checkout, *option, "--", TARGET)
    assert result.returncode == 2
    assert message in result.stderr.splitlines()[-1]
    assert not (checkout / "build").exists()


@pytest.mark.parametrize("place", ["results", "results/probe", "logs"])
def test_snakefile_refuses_a_file_where_it_would_write(checkout: Path, place: str) -> None:
    path = checkout / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    try:
        result = snakemake(checkout, "--", TARGET)
    finally:
        path.unlink()
        if path.parent != checkout:
            path.parent.rmdir()
    assert result.returncode == 2
    assert re.search(
        rf"^error: \S*{place}: Not a directory; move the existing file away",
        result.stderr,
        re.MULTILINE,
    )
    assert not (checkout / "build").exists()


def test_what_does_not_compile_is_said_last(tmp_path: Path) -> None:
    project = copy_to(tmp_path) / "controllers/CMakeLists.txt"
    project.write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(broken CXX)\nadd_executable(programs a.cc)\n"
    )
    project.with_name("a.cc").write_text("int main() { return window; }\n")
    result = snakemake(tmp_path, "--", "build/synthesize")
    assert result.returncode == 2
    last = result.stderr.splitlines()[-1]
    assert re.search(r"controllers/a\.cc:1:21: error: .*window", last), result.stderr


def test_jobs_quote_whatever_stands_in_their_commands() -> None:
    """A number of threads needs no quotes; `say` is a redirection to a path of ours."""
    bare = {"{threads}", "{params.say}"}
    for path in sorted((ROOT / "rules").glob("*.smk")):
        for command in re.findall(r"^    shell:\n((?:        .*\n|\n)*)", path.read_text(), re.M):
            fields = set(re.findall(r"{[^{}]*}", command)) - bare
            assert all(field.endswith(":q}") for field in fields), (path.name, fields)


def test_snakefile_refuses_settings_that_programs_would_not_see(checkout: Path) -> None:
    result = snakemake(checkout, "--config", "seed=3", "--", TARGET)
    assert result.returncode == 2
    assert "error: give one --configfile and no --config" in result.stderr
    assert not (checkout / "build").exists()


def build_by_copying(checkout: Path) -> None:
    """Makes the build copy the programs that it otherwise takes a minute to compile."""
    project = checkout / "controllers/CMakeLists.txt"
    listed = re.search(r"^set\(programs ([\w -]+)\)$", project.read_text(), re.MULTILINE)
    programs = (checkout / "rules/common.smk").read_text().partition("\nPROGRAMS = [")[2]
    assert listed is not None
    names = {*listed[1].split(), *re.findall(r'"build/([\w.-]+)"', programs.partition("\n]")[0])}
    built = [str(ROOT / "build" / name) for name in sorted(names)]
    missing = [program for program in built if not Path(program).exists()]
    assert not missing, f"missing: {missing}; run `make build`"
    copying = f"${{CMAKE_COMMAND}} -E copy {' '.join(map(json.dumps, built))} ${{CMAKE_BINARY_DIR}}"
    project.write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(copies LANGUAGES NONE)\n"
        f"add_custom_target(programs COMMAND {copying})\n"
        "add_custom_target(controller_objects)\n"
    )


@pytest.mark.slow
def test_snakefile_refuses_a_second_workflow_while_one_lives(tmp_path: Path) -> None:
    checkout = copy_to(tmp_path)
    build_by_copying(checkout)
    with hold_lock(checkout / ".snakemake" / "kneepoint.lock"):
        result = snakemake(checkout, TARGET)
        assert result.returncode == 2
        assert f"error: .snakemake/kneepoint.lock: process {os.getpid()}" in result.stderr
        assert not (checkout / TARGET).exists()
    assert snakemake(checkout, TARGET).returncode == 0
    assert (checkout / TARGET).exists()
    assert "Nothing to be done" in snakemake(checkout, TARGET).stderr
