"""The sources of packaged traces: a folder, the Debian package, a commit of a git repository.

Each puts what it has into a folder, unverified; networks.fetch verifies.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from networks.apt_sources import debian_entries
from networks.config import TraceSources
from search.errors import KneepointError

_PACKAGE = "mahimahi-traces"
_SUITE = "bullseye"  # the last Debian release that carries the package
_TIME_LIMIT_S = 300
_ERROR_PREFIXES = ("E: ", "W: Failed to fetch", "dpkg-deb: error:", "fatal: ", "error: ")


class TraceSource(Protocol):
    """A place that has traces."""

    @property
    def title(self) -> str:
        """What messages call it."""

    def unpack(self, names: Iterable[str], work: Path) -> Path:
        """Returns a folder that holds those of the named traces, or more, that the source has.

        Args:
            names: traces that are needed.
            work: an empty folder for whatever the source must write.

        Raises:
            KneepointError: the source cannot be reached or used.
        """


@dataclass(frozen=True)
class FolderSource:
    """A folder that the user names."""

    folder: Path

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"folder {self.folder}"

    def unpack(self, names: Iterable[str], work: Path) -> Path:
        """Returns the folder itself (see TraceSource)."""
        del names, work
        if not self.folder.is_dir():
            raise KneepointError("no such folder; correct traces.folder in the configuration")
        return self.folder


@dataclass(frozen=True)
class DebianSource:
    """The package mahimahi-traces, fetched by apt into private folders, without root."""

    apt_folder: Path = Path("/etc/apt")

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"Debian package {_PACKAGE}"

    def unpack(self, names: Iterable[str], work: Path) -> Path:
        """Downloads and unpacks the package (see TraceSource)."""
        del names
        for tool in ("apt-get", "dpkg"):
            _require(tool, "this is no Debian system; take another source of traces")
        entries = debian_entries(self.apt_folder, _SUITE)
        for name in ("lists/partial", "cache/archives/partial", "entries", "package"):
            (work / name).mkdir(parents=True)
        (work / "entries/traces.sources").write_text(entries)
        apt_get = ["apt-get", "-q", *_apt_options(work)]
        # Its exit status says too little: one mirror of several may have no such release.
        update = _run([*apt_get, "update"], work)
        download = _run([*apt_get, "download", _PACKAGE], work)
        package = next(work.glob(f"{_PACKAGE}_*.deb"), None)
        if package is None:
            raise KneepointError(
                f"apt-get could not download it ({_complaint(update, download)}); "
                "check the network and the apt sources of this machine"
            )
        unpacking = _run(["dpkg", "-x", str(package), "package"], work)
        if unpacking.returncode != 0:
            raise KneepointError(f"dpkg could not unpack it ({_complaint(unpacking)}); try again")
        return work / "package/usr/share/mahimahi/traces"


@dataclass(frozen=True)
class GitSource:
    """One commit of a git repository with the traces in its folder traces/."""

    url: str
    commit: str

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"git repository {self.url}"

    def unpack(self, names: Iterable[str], work: Path) -> Path:
        """Fetches exactly the pinned commit (see TraceSource)."""
        del names
        _require("git", "install git, or take another source of traces")
        for command in (
            ["git", "init", "--quiet"],
            ["git", "fetch", "--quiet", "--depth=1", "--no-tags", self.url, self.commit],
            [
                "git",
                "-c",
                "core.autocrlf=false",
                "checkout",
                "--quiet",
                self.commit,
                "--",
                "traces",
            ],
        ):
            result = _run(command, work)
            if result.returncode != 0:
                raise KneepointError(
                    f"git could not fetch commit {self.commit} ({_complaint(result)}); "
                    "check the network, traces.git_url and traces.git_commit"
                )
        return work / "traces"


def sources_of(settings: TraceSources, apt_folder: Path) -> list[TraceSource]:
    """Returns the sources to try, in order."""
    local = Path(settings.git_url)
    url = str(local.resolve()) if local.is_dir() else settings.git_url
    git = GitSource(url, settings.git_commit)
    debian = DebianSource(apt_folder)
    folder = [FolderSource(settings.folder)] if settings.folder else []
    by_name: dict[str, list[TraceSource]] = {
        "auto": [*folder, debian, git],
        "folder": [*folder],
        "debian": [debian],
        "git": [git],
    }
    return by_name[settings.source]


def _apt_options(work: Path) -> list[str]:
    settings = {
        "Dir::State::Lists": work / "lists",
        "Dir::Cache": work / "cache",
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": work / "entries",
        "Dir::Etc::Preferences": "/dev/null",  # a pin against old releases is not about us
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Acquire::http::Timeout": "20",
        "Acquire::https::Timeout": "20",
        "Acquire::Retries": "1",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "",  # as root, apt would change to a user who cannot write here
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def _require(tool: str, remedy: str) -> None:
    if shutil.which(tool) is None:
        raise KneepointError(f"the program {tool} is missing; {remedy}")


def _run(command: list[str], work: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in `work`, in English, without questions, within the time limit."""
    environment = os.environ | {"LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # set while a git hook runs
        environment.pop(name, None)
    try:
        return subprocess.run(
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise KneepointError(
            f"{command[0]} did not finish within {_TIME_LIMIT_S} s; check the network"
        ) from None


def _complaint(*results: subprocess.CompletedProcess[str]) -> str:
    """Returns the first error that the commands printed, or else their last words."""
    lines = [line.strip() for result in results for line in result.stderr.splitlines()]
    errors = [line for line in lines if line.startswith(_ERROR_PREFIXES)]
    return next(iter(errors or lines[-1:]), f"exit status {results[-1].returncode}")
