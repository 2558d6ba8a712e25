"""The Snakefile refuses bad input before any work, and two workflows in one folder."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from common.files import hold_lock
from tests.conftest import ROOT
from tests.programs import run_module
from tests.workflow.conftest import PATH, SOURCES, copy_sources, make_checkout

TARGET = "build/networks/constant-12mbps/network.json"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of everything that the workflow reads."""
    folder = tmp_path_factory.mktemp("checkout")
    copy_sources(folder, (*SOURCES, "config"))
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
    copy_sources(tmp_path, (*SOURCES, "config"))
    project = tmp_path / "controllers/CMakeLists.txt"
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


@pytest.mark.slow
def test_snakefile_refuses_a_second_workflow_while_one_lives(tmp_path: Path) -> None:
    arguments, _ = make_checkout(tmp_path).configure("whole")
    command = (*arguments, "--", "build/networks/mini/network.json")
    with hold_lock(tmp_path / ".snakemake" / "kneepoint.lock"):
        result = snakemake(tmp_path, *command)
        assert result.returncode == 2
        assert f"error: .snakemake/kneepoint.lock: process {os.getpid()}" in result.stderr
        assert not (tmp_path / command[-1]).exists()
    assert snakemake(tmp_path, *command).returncode == 0
    assert "Nothing to be done" in snakemake(tmp_path, *command).stderr
