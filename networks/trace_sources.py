"""Sources of packaged traces: a folder, the Debian package, a commit of a git repository.

A source provides unverified files; networks.fetch verifies them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from common.errors import KneepointError
from common.programs import complaint, require_program, run_program
from networks.config import TraceSources
from networks.debian_package import unpack_debian_package

_PACKAGE = "mahimahi-traces"


class TraceSource(Protocol):
    """A source of traces."""

    @property
    def title(self) -> str:
        """Name of the source in messages."""

    def unpack(self, names: Iterable[str], work: Path) -> Path:
        """Returns a folder with at least those of the named traces that the source has.

        Args:
            names: the required traces.
            work: empty folder for temporary files.

        Raises:
            KneepointError: the source is unreachable or unusable.
        """


@dataclass(frozen=True)
class FolderSource:
    """A folder named by the user."""

    folder: Path

    @property
    def title(self) -> str:
        """Name of the source in messages."""
        return f"folder {self.folder}"

    def unpack(self, names: Iterable[str], work: Path) -> Path:
        """Returns the folder itself (see TraceSource)."""
        del names, work
        if not self.folder.is_dir():
            raise KneepointError("no such folder; correct traces.folder in the configuration")
        return self.folder


@dataclass(frozen=True)
class DebianSource:
    """The Debian package mahimahi-traces, fetched into private folders without root."""

    apt_folder: Path = Path("/etc/apt")

    @property
    def title(self) -> str:
        """Name of the source in messages."""
        return f"Debian package {_PACKAGE}"

    def unpack(self, names: Iterable[str], work: Path) -> Path:
        """Downloads and unpacks the package (see TraceSource)."""
        del names
        package = unpack_debian_package(_PACKAGE, self.apt_folder, work)
        return package / "usr/share/mahimahi/traces"


@dataclass(frozen=True)
class GitSource:
    """One commit of a git repository with the traces in its folder traces/."""

    url: str
    commit: str

    @property
    def title(self) -> str:
        """Name of the source in messages."""
        return f"git repository {self.url}"

    def unpack(self, names: Iterable[str], work: Path) -> Path:
        """Fetches exactly the pinned commit (see TraceSource)."""
        del names
        require_program("git", "install git or choose another traces.source")
        for command in (
            ["init"],
            ["fetch", "--depth=1", "--no-tags", "--", self.url, self.commit],
            ["-c", "core.autocrlf=false", "checkout", self.commit, "--", "traces"],
        ):
            result = run_program(["git", *command], work)
            if result.returncode != 0:
                raise KneepointError(
                    f"git could not fetch commit {self.commit} ({complaint(result)}); "
                    "check the network, traces.git_url and traces.git_commit"
                )
        return work / "traces"


def sources_of(settings: TraceSources, beside: Path, apt_folder: Path) -> list[TraceSource]:
    """Returns the sources to try, in order.

    Args:
        settings: the configured sources.
        beside: folder of the configuration, to which that of the traces is relative.
        apt_folder: configuration folder of apt.
    """
    local = Path(settings.git_url)
    url = str(local.resolve()) if local.is_dir() else settings.git_url
    git = GitSource(url, settings.git_commit)
    debian = DebianSource(apt_folder)
    folder = [FolderSource(beside / settings.folder.expanduser())] if settings.folder else []
    by_name: dict[str, list[TraceSource]] = {
        "auto": [*folder, debian, git],
        "folder": [*folder],
        "debian": [debian],
        "git": [git],
    }
    return by_name[settings.source]
