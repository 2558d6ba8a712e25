"""The wheel, installed by itself: it works from any folder, and nothing is written to it."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

_MAX_BYTES = 5_000_000


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", into]
    done = subprocess.run([*map(str, command), str(ROOT)], capture_output=True, text=True)
    if "Could not find a version" in done.stderr or "No matching distribution" in done.stderr:
        pytest.skip("NOT TESTED: the packages that build a wheel cannot be fetched")
    assert done.returncode == 0, done.stderr
    (made,) = into.iterdir()
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, which finds other packages in the tests' environment."""
    folder = tmp_path_factory.mktemp("tool")
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-deps", wheel], check=True, cwd=folder
    )
    (site,) = folder.glob("lib/python*/site-packages")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "others.pth").write_text(f"{packages}\n")
    return folder


def state_of(folder: Path) -> Mapping[str, tuple[int, int]]:
    """Returns the size and the time of each file, without Python's caches."""
    return {
        str(path): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def run(installed: Path, cwd: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {"HOME": str(cwd / "home"), "PATH": f"{installed / 'bin'}:{os.defpath}"}
    (cwd / "home").mkdir(exist_ok=True)
    return subprocess.run(
        [installed / "bin/kneepoint", *words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_it_is_small_and_of_one_platform(wheel: Path) -> None:
    assert wheel.stat().st_size < _MAX_BYTES
    assert "-py3-none-" in wheel.name and not wheel.name.endswith("-any.whl")


def test_it_runs_from_an_empty_folder_and_writes_to_the_cache_alone(
    installed: Path, tmp_path: Path
) -> None:
    before = state_of(installed)
    words = ("run", "timely", "--network", "synthetic-fast", "--json")
    here = run(installed, tmp_path, *words)
    assert (here.returncode, here.stderr) == (0, ""), here.stderr
    command = [sys.executable, "-m", "kneepoint", *words]
    there = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert json.loads(here.stdout)["power"] == json.loads(there.stdout)["power"]
    assert {path.name for path in tmp_path.iterdir()} == {"home"}
    assert {path.name for path in (tmp_path / "home").iterdir()} == {".cache"}
    assert state_of(installed) == before


def test_a_command_that_needs_a_project_says_so(installed: Path, tmp_path: Path) -> None:
    found = run(installed, tmp_path, "report")
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1 and "new-report" in found.stderr


def test_a_project_is_found_from_its_folders_and_keeps_all_that_is_made(
    installed: Path, tmp_path: Path
) -> None:
    before = state_of(installed)
    assert run(installed, tmp_path, "new-report", "lab").returncode == 0
    (tmp_path / "lab/text/home").mkdir()
    words = ("run", "lab_window", "--network", "synthetic-fast", "--plot", "run.svg")
    found = run(installed, tmp_path / "lab/text", *words)
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "lab/text/run.svg").is_file()
    assert (tmp_path / "lab/.kneepoint/controllers/lab_window.so").is_file()
    assert state_of(installed) == before


def test_an_own_controller_that_was_cut_off_is_built_again(installed: Path, tmp_path: Path) -> None:
    words = ("run", "lab_window", "--network", "synthetic-fast", "--json")
    assert run(installed, tmp_path, "new-report", "lab").returncode == 0
    first = run(installed, tmp_path / "lab", *words)
    os.truncate(tmp_path / "lab/.kneepoint/controllers/lab_window.so", 100)
    again = run(installed, tmp_path / "lab", *words)
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr
    assert run(installed, tmp_path / "lab", *words).stderr == ""


def test_many_projects_work_at_once(installed: Path, tmp_path: Path) -> None:
    before = state_of(installed)

    def started(number: int) -> "subprocess.Popen[str]":
        home = tmp_path / str(number)
        home.mkdir()
        assert run(installed, home, "new-report", "lab").returncode == 0
        return subprocess.Popen(
            [installed / "bin/kneepoint", "run", "timely", "--network", "synthetic-fast", "--json"],
            cwd=home / "lab",
            env={"HOME": str(home), "PATH": f"{installed / 'bin'}:{os.defpath}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    processes = [started(number) for number in range(12)]
    answers = [(*each.communicate(), each.returncode) for each in processes]
    assert len({out for out, _, _ in answers}) == 1
    assert {(said, status) for _, said, status in answers} == {("", 0)}
    assert all((tmp_path / str(n) / "lab/.kneepoint/networks").is_dir() for n in range(12))
    assert state_of(installed) == before


def test_what_no_project_keeps_is_where_it_is_called(installed: Path, tmp_path: Path) -> None:
    assert run(installed, tmp_path, "new-entry", "mine").returncode == 0
    found = run(installed, tmp_path, "try", "mine", "--network", "synthetic-fast")
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "mine.svg").is_file()


def test_what_another_version_prepared_is_prepared_anew(installed: Path, tmp_path: Path) -> None:
    words = ("run", "timely", "--network", "synthetic-fast", "--json")
    assert run(installed, tmp_path, "new-report", "lab").returncode == 0
    first = run(installed, tmp_path / "lab", *words)
    (tmp_path / "lab/.kneepoint/version").write_text("0.0.1\n")
    again = run(installed, tmp_path / "lab", *words)
    assert again.returncode == 0 and again.stdout == first.stdout
    (line,) = again.stderr.splitlines()
    assert "0.0.1" in line
    assert run(installed, tmp_path / "lab", *words).stderr == ""
