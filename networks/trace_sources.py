"""Sources of packaged traces: a folder, the Debian package, a commit of a git repository.

A source provides unverified files; networks.fetch verifies them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from common.errors import KneepointError
from common.programs import complaint, require_program, run_program
from networks.apt import APT, unpack_debian_package
from networks.config import TraceSources

_PACKAGE = "mahimahi-traces"


@dataclass(frozen=True)
class TraceSource:
    """A source of traces.

    Args:
        title: its name in messages.
        unpack: takes an empty folder for temporary files and returns a folder with the traces that
            the source has; raises KneepointError if the source is unreachable or unusable.
        folder: where the traces are already, if they are on this machine.
    """

    title: str
    unpack: Callable[[Path], Path]
    folder: Path | None = None


def folder_source(folder: Path) -> TraceSource:
    """Returns a folder named by the user as a source."""

    def unpack(_: Path) -> Path:
        if not folder.is_dir():
            raise KneepointError("no such folder; correct traces.folder in the configuration")
        return folder

    return TraceSource(f"folder {folder}", unpack, folder)


def debian_source(apt_folder: Path = APT) -> TraceSource:
    """Returns the Debian package mahimahi-traces, fetched without root."""

    def unpack(work: Path) -> Path:
        return unpack_debian_package(_PACKAGE, work, apt_folder) / "usr/share/mahimahi/traces"

    return TraceSource(f"Debian package {_PACKAGE}", unpack)


def git_source(url: str, commit: str) -> TraceSource:
    """Returns one commit of a git repository that has the traces in its folder traces/."""

    def unpack(work: Path) -> Path:
        require_program("git", "install git or choose another traces.source")
        for command in (
            ["init"],
            ["fetch", "--depth=1", "--no-tags", "--", url, commit],
            ["-c", "core.autocrlf=false", "checkout", commit, "--", "traces"],
        ):
            result = run_program(["git", *command], work)
            if result.returncode != 0:
                raise KneepointError(
                    f"git could not fetch commit {commit} ({complaint(result)}); "
                    "check the network, traces.git_url and traces.git_commit"
                )
        return work / "traces"

    return TraceSource(f"git repository {url}", unpack)


def sources_of(settings: TraceSources, beside: Path) -> list[TraceSource]:
    """Returns the sources to try, in order.

    Args:
        settings: the configured sources.
        beside: folder of the configuration, to which that of the traces is relative.
    """
    local = Path(settings.git_url)
    url = str(local.resolve()) if local.is_dir() else settings.git_url
    sources = {"debian": debian_source(), "git": git_source(url, settings.git_commit)}
    if settings.folder:
        sources = {"folder": folder_source(beside / settings.folder.expanduser()), **sources}
    return [*sources.values()] if settings.source == "auto" else [sources[settings.source]]
