"""The Makefile's errors: each names its cause and its remedy, before any work."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["make", *arguments],
        cwd=ROOT,
        env=os.environ | {"CONDA_DEFAULT_ENV": "", "MAKEFLAGS": ""} | environment,
        check=False,
        capture_output=True,
        text=True,
    )


def program(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_make_alone_lists_the_targets() -> None:
    result = make()
    assert result.returncode == 0
    for target in "setup build reproduce test lint format bench dashboard lock clean".split():
        assert f"\nmake {target} " in f"\n{result.stdout}"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ('[ "$1" = -V ] && echo Python 3.9.2; exit 1', "is Python 3.9.2; Kneepoint needs Python 3"),
        ("case $2 in *venv*) exit 1;; esac", "has no module venv; install it"),
    ],
)
def test_setup_refuses_a_python(tmp_path: Path, script: str, message: str) -> None:
    python = program(tmp_path / "python3", script)
    result = make("setup", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}")
    assert result.returncode == 2
    assert f"error: {python} {message}" in result.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.slow
def test_an_environment_that_was_interrupted_is_made_anew(tmp_path: Path) -> None:
    """Python's own venv has no pip until its last step."""
    environment = tmp_path / "env"
    program(tmp_path / "uv", "exit 0")
    here = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "VENV": str(environment)}
    (environment / "bin").mkdir(parents=True)
    (environment / "bin/python").symlink_to(sys.executable)
    (tmp_path / "env.incomplete").touch()
    made = make("setup", f"PYTHON={sys.executable}", **here)
    assert made.returncode == 0, made.stderr
    subprocess.run([environment / "bin/python", "-c", "import pip"], check=True)
    assert not (tmp_path / "env.incomplete").exists()
    command = subprocess.run([environment / "bin/kneepoint", "--version"], cwd=ROOT, check=False)
    assert command.returncode == 2  # it asks for the packages, which are not installed here
    (environment / "mine").touch()
    (environment / ".kneepoint-requirements").unlink()
    assert make("setup", f"PYTHON={sys.executable}", **here).returncode == 0
    assert (environment / "mine").exists()  # a complete environment is only updated


def test_of_two_setups_one_waits(tmp_path: Path) -> None:
    environment, busy = tmp_path / "env", tmp_path / "busy"
    (environment / "bin").mkdir(parents=True)
    program(environment / "bin/python", f'[ "$2" = pip ] && exit 1; echo {tmp_path}')
    program(
        tmp_path / "uv", f"mkdir {busy} && echo >> {tmp_path}/installed && sleep 1; rmdir {busy}"
    )
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "VENV": str(environment)}
    both = [
        subprocess.Popen(
            ["make", "setup", f"PYTHON={sys.executable}"],
            cwd=ROOT,
            env=os.environ | {"CONDA_DEFAULT_ENV": "", "MAKEFLAGS": ""} | variables,
            stdout=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    assert [each.wait() for each in both] == [0, 0]
    assert (tmp_path / "installed").read_text() == "\n"


def test_setup_refuses_a_python_that_is_not_there(tmp_path: Path) -> None:
    result = make("setup", "PYTHON=python-absent", f"VENV={tmp_path / 'venv'}")
    assert result.returncode == 2
    assert "error: python-absent not found; install Python 3.11 or later" in result.stderr


@pytest.mark.parametrize(
    ("goal", "given", "message"),
    [
        ("reproduce", "CONFIG=config/my own.yaml", "CONFIG config/my own.yaml: there is no"),
        ("reproduce", "CONFIG=config", "CONFIG config: is a folder"),
        ("reproduce", "CORES=0", "CORES 0: not a number of cores"),
        ("confirm", "CORES=two", "CORES two: not a number of cores"),
    ],
)
def test_make_refuses_what_it_is_given(goal: str, given: str, message: str) -> None:
    set_up = f"--assume-old={sys.prefix}/.kneepoint-requirements"
    result = make(goal, given, set_up, f"VENV={sys.prefix}")
    assert result.returncode == 2
    assert f"error: {message}" in result.stderr.splitlines()[0]


@pytest.mark.parametrize("goal", ["build", "reproduce"])
def test_make_refuses_a_compiler_without_cxx20(tmp_path: Path, goal: str) -> None:
    for name in (".kneepoint-requirements", "bin/kneepoint"):  # set up already
        (tmp_path / "venv" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "venv" / name).touch()
    compiler = program(tmp_path / "old-c++", "echo unrecognized option -std=c++20 >&2; exit 1")
    result = make(goal, f"VENV={tmp_path / 'venv'}", CXX=compiler)
    assert result.returncode == 2
    assert f"error: the compiler {compiler} does not support C++20; install g++ 11" in result.stderr


def test_a_broken_environment_has_nothing_written_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / ".kneepoint-requirements").touch()
    before = sorted(Path("/").iterdir())
    assert make("setup", f"VENV={tmp_path / 'venv'}").returncode == 2
    assert sorted(Path("/").iterdir()) == before


def test_check_compiler_refuses_a_machine_without_compiler(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash
    environment = {"PATH": str(tmp_path)}
    command = [bash, "controllers/check_compiler.sh"]
    result = subprocess.run(
        command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True
    )
    assert result.returncode == 2
    assert result.stderr.startswith("error: there is no C++ compiler; install g++ 11")


def test_signs_of_the_shell_in_a_path_are_no_commands(tmp_path: Path) -> None:
    config = f"{tmp_path}/it's $(touch {tmp_path}/ran) `touch {tmp_path}/ran`.yaml"
    result = make("reproduce", f"CONFIG={config.replace('$', '$$')}")
    assert result.returncode == 2
    assert "error: " in result.stderr and "it's" in result.stderr
    assert "there is no" in result.stderr
    assert not (tmp_path / "ran").exists()
