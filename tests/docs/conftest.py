"""A copy of this repository in which pages of the documentation can be followed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.judge.build import TARGET


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with the present files, committed or not."""
    folder = tmp_path_factory.mktemp("repository")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        output = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("NOT TESTED: this is no git checkout")
    for name in filter(None, output.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    author = ["-c", "user.name=reader", "-c", "user.email=reader@localhost"]
    for words in (["init", "-q"], ["add", "-A"], [*author, "commit", "-q", "-m", "everything"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def environment(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """A reader's environment: the tests' own, with the repository's address and an empty cache."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    path = f"{Path(sys.executable).parent}:{ours['PATH']}"
    cache = str(tmp_path_factory.mktemp("cache"))
    return {
        **ours,
        "PATH": path,
        "KNEEPOINT": str(repository),
        "KNEEPOINT_CACHE": cache,
        "CARGO_TARGET_DIR": str(TARGET),  # the stacks take a minute to compile
    }


def set_up(clone: Path) -> None:
    """Gives a clone our packages and programs, whose build would take minutes."""
    os.utime(clone / "requirements.txt", (0, 0))  # not newer than the installed packages
    (clone / ".venv").symlink_to(sys.prefix)
    (clone / "build").mkdir()
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    for built in (ROOT / "build").iterdir():
        if built.is_file() and (os.access(built, os.X_OK) or built.suffix in (".so", ".py")):
            shutil.copy(built, clone / "build")
    for folder in ("controllers", "sources"):
        shutil.copytree(ROOT / "build" / folder, clone / "build" / folder)
