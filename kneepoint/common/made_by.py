"""The provenance of a folder of results: made_by.json.

Tables do not contain it, so that equal numbers give equal bytes.
"""

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kneepoint.common.code import digest_of_packages, digest_of_step
from kneepoint.common.errors import unusable
from kneepoint.common.files import read_json, sha256_of, write_whole
from kneepoint.common.places import TOOL

NAME = "made_by.json"
RUNNER = "kneepoint.runs.run"
"""The module that runs every step; its code is part of each step's digest."""


@dataclass(frozen=True)
class Commit:
    """The commit of a checkout, its date, and the files changed since; empty without git."""

    name: str
    date: str
    changed_files: tuple[str, ...]


@dataclass(frozen=True)
class MadeBy:
    """Provenance of the files of a folder, and the SHA-256 of each.

    Args:
        step: module that made the files.
        code_sha256: digest of that module, of RUNNER and of all their imports (see
            kneepoint.common.code).
        packages_sha256: digest of the locked versions of packages.
        engine: engine of the runs; "" without runs.
        engine_sha256: digest of the engine's programs, without controllers.
        controllers: digest of each controller that ran, by name.
        commit: commit of the checkout.
        changed_files: number of files that differed from the commit.
        files: SHA-256 by name.
        inputs: digests of the inputs, by name (see kneepoint.runs.registry).
    """

    step: str
    code_sha256: str
    packages_sha256: str
    engine: str
    engine_sha256: str
    controllers: Mapping[str, str]
    commit: str
    changed_files: int
    files: Mapping[str, str]
    inputs: Mapping[str, str] = field(default_factory=dict)

    def changed(self, folder: Path) -> list[str]:
        """Returns the names of files that are missing or have changed since they were written."""
        paths = {name: folder / name for name in self.files}
        return [
            name
            for name, path in paths.items()
            if not path.is_file() or sha256_of(path.read_bytes()) != self.files[name]
        ]

    @property
    def is_of_this_code(self) -> bool:
        """Whether the code that made it is unchanged."""
        try:
            return self.code_sha256 == digest_of_step(RUNNER, self.step)
        except ModuleNotFoundError:  # the module has been renamed or removed
            return False

    @property
    def is_current(self) -> bool:
        """Whether the code and the packages that made it are unchanged."""
        return self.is_of_this_code and self.packages_sha256 == digest_of_packages()


def sign(
    folder: Path,
    step: str,
    files: Iterable[str],
    engine: str = "",
    engine_sha256: str = "",
    controllers: Mapping[str, str] | None = None,
    inputs: Mapping[str, str] | None = None,
) -> None:
    """Records the provenance of new files of a folder."""
    commit = current_commit()
    made = MadeBy(
        step=step,
        code_sha256=digest_of_step(RUNNER, step),
        packages_sha256=digest_of_packages(),
        engine=engine,
        engine_sha256=engine_sha256,
        controllers=dict(sorted((controllers or {}).items())),
        commit=commit.name,
        changed_files=len(commit.changed_files),
        files={name: sha256_of((folder / name).read_bytes()) for name in sorted(files)},
        inputs=dict(sorted((inputs or {}).items())),
    )
    write_whole(folder / NAME, json.dumps(asdict(made), indent=2) + "\n")


def read_made_by(folder: Path) -> MadeBy | None:
    """Reads the provenance of a folder; None without provenance."""
    path = folder / NAME
    try:
        made = MadeBy(**read_json(path))
        for each in (made.controllers, made.files, made.inputs):
            if not isinstance(each, dict) or not all(isinstance(v, str) for v in each.values()):
                raise TypeError("not the provenance of files")
        return made
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise unusable(path, error) from None


def require_as_written(path: Path) -> None:
    """Raises KneepointError if a file's digest differs from its folder's provenance."""
    made = read_made_by(path.parent)
    if made is not None and path.name in made.changed(path.parent):
        raise unusable(path, "it has changed since it was written")


def current_commit(folder: Path = TOOL) -> Commit:
    """Returns the commit of the checkout in a folder."""
    shown = _git(folder, "show", "--no-patch", "--format=%H %cs", "HEAD")
    name, _, date = shown.strip().partition(" ")
    output = _git(folder, "status", "--porcelain", "--no-renames", "-z")
    return Commit(name, date, tuple(sorted(entry[3:] for entry in output.split("\0") if entry)))


def _git(folder: Path, *arguments: str) -> str:
    """Git's output in a folder; "" without git or a checkout."""
    try:
        answer = subprocess.run(
            ["git", "-C", folder, "--no-optional-locks", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout if answer.returncode == 0 else ""
