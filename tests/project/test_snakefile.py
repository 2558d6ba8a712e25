"""The Snakefile refuses bad input before any work, and two workflows in one folder."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from kneepoint.common.files import hold_lock
from tests.conftest import ROOT
from tests.programs import run_module
from tests.workflow.conftest import PATH, SOURCES, copy_sources

pytestmark = pytest.mark.slow

TARGET = ".kneepoint/networks/constant-12mbps/network.json"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all inputs of the workflow."""
    folder = tmp_path_factory.mktemp("checkout")
    copy_sources(folder, (*SOURCES, "config"))
    return folder


def snakemake(checkout: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return run_module("snakemake", "--cores", "1", *arguments, cwd=checkout, PATH=PATH)


def refused(checkout: Path, message: str, *arguments: str) -> None:
    result = snakemake(checkout, *arguments, "--", TARGET)
    assert result.returncode == 2
    assert message in result.stderr.splitlines()[-1]
    assert not (checkout / TARGET).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--configfile", "config/wrong.yaml"], "error: config/wrong.yaml: unknown key 'study'"),
        (["--configfile", "config/{a}.yaml"], "error: config/{a}.yaml: Snakemake does not support"),
        (["--cores", "0"], "error: --cores 0: no job could run; give at least 1, or all"),
        (["--config", "seed=3"], "error: give one --configfile and no --config"),
    ],
)
def test_snakefile_refuses_what_it_is_given(
    checkout: Path, arguments: list[str], message: str
) -> None:
    (checkout / "config/wrong.yaml").write_text("seed: 1\nstudy: []\n")
    (checkout / "config/{a}.yaml").write_text("seed: 1\n")
    refused(checkout, message, *arguments)
    assert not (checkout / "build").exists()


def test_snakefile_names_the_option_of_snakemake(checkout: Path) -> None:
    second = checkout / "config.yaml"
    second.write_text("seed: 1\n")
    try:
        refused(checkout, "name one (--configfile)")
    finally:
        second.unlink()


@pytest.mark.parametrize("place", ["results/probe", ".kneepoint"])
def test_snakefile_refuses_a_file_where_it_would_write(checkout: Path, place: str) -> None:
    path = checkout / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    refused(checkout, f"{path.name}: Not a directory; move the existing file away")
    path.unlink()
    assert not (checkout / "build").exists()


def test_snakefile_refuses_a_second_workflow_while_one_lives(tmp_path: Path) -> None:
    copy_sources(tmp_path, (*SOURCES, "config"))
    with hold_lock(tmp_path / ".snakemake" / "kneepoint.lock"):
        refused(tmp_path, f"error: .snakemake/kneepoint.lock: process {os.getpid()}")


def test_what_does_not_compile_is_said_last(tmp_path: Path) -> None:
    copy_sources(tmp_path, (*SOURCES, "config"))
    project = tmp_path / "controllers/CMakeLists.txt"
    project.write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(broken CXX)\nadd_executable(programs a.cc)\n"
    )
    project.with_name("a.cc").write_text("int main() { return window; }\n")
    result = snakemake(tmp_path, "--", str(tmp_path / "build/synthesize"))
    assert result.returncode == 2
    last = result.stderr.splitlines()[-1]
    assert re.search(r"controllers/a\.cc:1:21: error: .*window", last), result.stderr


def test_jobs_quote_whatever_stands_in_their_commands() -> None:
    """A number of threads needs no quotes; `say` is a redirection to our own path."""
    bare = {"{threads}", "{params.say}"}
    for path in sorted((ROOT / "kneepoint/workflow").glob("*.smk")):
        for command in re.findall(r"^    shell:\n((?:        .*\n|\n)*)", path.read_text(), re.M):
            fields = set(re.findall(r"{[^{}]*}", command)) - bare
            assert all(field.endswith(":q}") for field in fields), (path.name, fields)
