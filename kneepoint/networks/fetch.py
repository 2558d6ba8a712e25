"""Fetches packaged traces, verifies their digests and caches them outside git.

python -m kneepoint.networks.fetch --config config/config.yaml --into .kneepoint/traces NAME...
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kneepoint.common.config_file import read_config
from kneepoint.common.errors import KneepointError, run_command_line, suggestion
from kneepoint.common.files import private_folder, read_bytes, sha256_of, wait_for_lock, write_whole
from kneepoint.common.places import SHIPPED
from kneepoint.common.programs import complaint, find_program, run_program
from kneepoint.common.project import user_cache
from kneepoint.networks.apt import APT, unpack_debian_package
from kneepoint.networks.config import (
    FetchSettings,
    Network,
    TraceEntry,
    TraceSources,
    load_trace_catalogue,
)

_PACKAGE = "mahimahi-traces"


@dataclass(frozen=True)
class TraceSource:
    """A source of traces.

    Args:
        title: its name in messages.
        unpack: takes an empty folder to work in, and returns the folder with the source's traces.
        folder: folder of the traces, if they are on this machine.
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
        find_program("git", "install git or choose another traces.source")
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


def sources_of(settings: TraceSources, base: Path) -> list[TraceSource]:
    """Returns the sources to try, in order; a configured folder is relative to `base`."""
    local = Path(settings.git_url)
    url = str(local.resolve()) if local.is_dir() else settings.git_url
    sources = {"debian": debian_source(), "git": git_source(url, settings.git_commit)}
    if settings.folder:
        sources = {"folder": folder_source(base / settings.folder.expanduser()), **sources}
    return [*sources.values()] if settings.source == "auto" else [sources[settings.source]]


class TraceCache:
    """A folder of verified traces, shared by all checkouts of a user."""

    def __init__(self, folder: Path, catalogue: Mapping[str, TraceEntry]) -> None:
        self.folder = folder
        self._catalogue = catalogue

    def get(self, name: str) -> bytes | None:
        """Returns a trace, or None if the cache lacks it or its copy is damaged."""
        path = self.folder / name
        if not path.is_file():  # a pipe would never end
            return None
        content = path.read_bytes()
        return content if sha256_of(content) == self._catalogue[name].sha256 else None

    def missing(self, names: Iterable[str]) -> list[str]:
        """Returns the names of the traces that the cache lacks."""
        return [name for name in names if self.get(name) is None]

    def fill(self, names: Iterable[str], sources: Iterable[TraceSource]) -> None:
        """Fetches missing traces from the first source that has them.

        Raises:
            KneepointError: no source has a trace.
        """
        with wait_for_lock(self.folder / ".lock", f"fetches traces into {self.folder}"):
            missing = self.missing(names)  # another process may have fetched them meanwhile
            for name in missing:
                if (self.folder / name).exists():
                    _note(f"{self.folder / name} is damaged; fetching it again")
            problems = []
            for source in sources:
                if missing:
                    _note(f"looking for {', '.join(missing)} in {source.title}")
                    problems += self._fill_from(source, missing)
                    missing = self.missing(missing)
        if missing:
            raise KneepointError(
                f"no source has {', '.join(missing)}: {'; '.join(problems)}. If you have the "
                "files, set traces.folder in the configuration to their folder"
            )
        for problem in problems:
            _note(problem)

    def _fill_from(self, source: TraceSource, missing: Iterable[str]) -> list[str]:
        """Caches every catalogued trace of a source; returns the problems found."""
        problems = []
        with private_folder("fetch", self.folder) as work:
            try:
                folder = source.unpack(work.resolve())
            except KneepointError as error:
                return [f"{source.title}: {error}"]
            for name, entry in self._catalogue.items():
                path = folder / name
                if not path.is_file():
                    if name in missing:
                        problems.append(f"{source.title}: has no file {name}")
                    continue
                content = path.read_bytes()
                digest = sha256_of(content)
                if digest == entry.sha256:
                    write_whole(self.folder / name, content)
                elif name in missing:
                    problems.append(
                        f"{source.title}: digest mismatch: {name} has SHA-256 {digest}, "
                        f"but traces.yaml lists {entry.sha256}; get the original file"
                    )
        return problems


def fetch_traces(
    names: Iterable[str],
    into: Path,
    *,
    cache_folder: Path,
    catalogue: Mapping[str, TraceEntry],
    sources: Iterable[TraceSource],
) -> None:
    """Writes verified traces into the folder `into`; raises KneepointError if one is missing."""
    names, sources = list(names), list(sources)
    for name in names:
        if name not in catalogue:
            raise KneepointError(_describe_unlisted(name, catalogue, sources))
    cache = TraceCache(cache_folder, catalogue)
    try:
        if cache.missing(names):
            cache.fill(names, sources)
        for name in names:
            content = cache.get(name)
            if content is None:
                raise KneepointError(f"{cache.folder / name}: damaged after fetching; try again")
            write_whole(into / name, content)
    except OSError as error:
        raise KneepointError(
            f"{error.filename or into}: {error.strerror}; make it writable, free some space, or "
            "set cache in the configuration to another folder"
        ) from None


def fetch(config: Path, names: Iterable[str], into: Path) -> None:
    """Writes verified traces of a configuration into the folder `into`: see fetch_traces."""
    settings = read_config(config, FetchSettings)
    fetch_traces(
        names,
        into,
        cache_folder=cache_folder_of(settings.cache),
        catalogue=load_trace_catalogue(config),
        sources=sources_of(settings.traces, config.parent),
    )


def digests_of(config: Path, names: Iterable[str]) -> dict[str, str]:
    """Returns the SHA-256 of each trace; "" for a trace that traces.yaml does not list.

    Raises:
        KneepointError: the file of a recording in traces.folder has another digest than traces.yaml
            lists, or is missing although no other source may have it. Copies in the cache are
            not checked.
    """
    names = list(names)
    if not names:
        return {}
    settings, catalogue = read_config(config, FetchSettings).traces, load_trace_catalogue(config)
    listed = {name: catalogue[name].sha256 if name in catalogue else "" for name in names}
    if settings.folder and settings.source in ("auto", "folder"):
        folder = config.parent / settings.folder.expanduser()
        packaged = load_trace_catalogue(SHIPPED / "config.yaml")
        for name, digest in listed.items():
            is_elsewhere = settings.source == "auto" and (
                "git_url" in settings.model_fields_set or name in packaged
            )
            if digest and ((folder / name).is_file() or not is_elsewhere):
                _require_recording(folder / name, digest)
    return listed


def _require_recording(path: Path, digest: str) -> None:
    found = sha256_of(read_bytes(path, "restore it, or correct traces.folder in the configuration"))
    if found != digest:
        raise KneepointError(
            f"{path}: has SHA-256 {found}, but traces.yaml lists {digest}; correct traces.yaml, or "
            "restore the file"
        )


def made_of(config: Path, network: Network) -> str:
    """Returns all inputs of a network's preparation as text; raises KneepointError (digests_of)."""
    return network.made_of(digests_of(config, network.trace_names))


def cache_folder_of(configured: Path | None) -> Path:
    """Returns the folder of the trace cache, by the configuration or else this user's."""
    return (Path(configured).expanduser() if configured else user_cache()) / "traces"


def _describe_unlisted(
    name: str, catalogue: Mapping[str, TraceEntry], sources: Iterable[TraceSource]
) -> str:
    for source in sources:
        if source.folder and (path := source.folder / name).is_file():
            digest = sha256_of(path.read_bytes())
            return f"traces.yaml: lacks the trace; add `{name}: {{sha256: {digest}}}`"
    return f"traces.yaml: unknown trace {name}; {suggestion(name, catalogue)}"


def _note(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def main() -> None:
    """Parses the command line and fetches the traces."""
    parser = argparse.ArgumentParser(description="Fetches, verifies and caches packaged traces.")
    parser.add_argument("names", nargs="+", metavar="NAME", help="trace in traces.yaml")
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--into", type=Path, required=True, help="folder for the traces")
    arguments = parser.parse_args()
    fetch(arguments.config, arguments.names, arguments.into)


if __name__ == "__main__":
    run_command_line(main)
