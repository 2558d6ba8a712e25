"""Finds the submissions in a folder: source trees, git repositories, archives.

Each becomes a `Submission`, ordered by name; `take` copies or unpacks one into a folder of our own.
No code of a submission runs, and no submission is changed.
"""

import errno
import hashlib
import os
import re
import shutil
import sys
import sysconfig
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO

from kneepoint.common.config_file import read_config
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import private_folder, sha256_of
from kneepoint.common.places import PACKAGE
from kneepoint.entries import untrusted
from kneepoint.entries.config import (
    ENTRY_NAMES,
    REPOSITORIES,
    Repositories,
    Repository,
    is_entry_name,
    is_of_entry_name,
)
from kneepoint.entries.confine import Confined, DisturbedError
from kneepoint.entries.names import has_invisible, plain, remarks_on
from kneepoint.entries.tree import SUFFIXES
from kneepoint.entries.unpack import (
    ARCHIVES,
    EXIT_NO_ROOM,
    MAX_ARCHIVE_BYTES,
    MAX_BYTES,
    copy_folder,
    copy_repository,
    copy_tree,
    files_of,
    is_archive,
    is_bare,
    name_of_archive,
    take_file,
)

_PROSE = (".md", ".txt")
_SINGLE = (".py", *SUFFIXES)
"""Suffixes of files that are senders by themselves."""
_VERSION = re.compile(r"(?P<author>.+?)(?:@|--)(?P<version>[^@]+)")
"""AUTHOR@VERSION or AUTHOR--VERSION, to group an author's submissions."""
_DOWNLOADS = (
    re.compile(r"(?P<author>[^_]+)(?P<late>_LATE)?_\d{3,}_(?P<version>\d{3,})_.+"),
    re.compile(r"(?P<author>.+?)_\d+_assignsubmission_file(?:_.*)?"),
)
"""Canvas's and Moodle's names of submissions; Canvas numbers uploads in the order of arrival."""
_ORDERED = {
    "number": re.compile(r"v?\d+(?:\.\d+)*"),
    "date": re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d[:.]?\d\d(?:[:.]?\d\d)?)?"),
}
"""Versions with an order."""
_PYTHON = Path(sys.executable).resolve()
_PYTHON_FILES = (_PYTHON, Path(os.__file__).parent, Path(sysconfig.get_config_var("LIBDIR")))
"""The files that this interpreter needs."""
_UNPACK = "import sys; sys.path.append('.'); from kneepoint.entries.unpack import main; main()"
_UNPACKER = (
    *("__init__.py", "common/__init__.py", "common/errors.py"),
    *("entries/__init__.py", "entries/unpack.py", "entries/untrusted.py"),
)
_MAX_UNPACKING_S = 20
"""Limit of CPU time; 64 MiB take at most 5 s."""
_MAX_NAME_BYTES = 200
"""Names must be valid names of folders, for feedback."""
_ANOTHERS_LIST = "belongs to another user, but names repositories you can read; change its owner"
_MAX_REFS = 10_000
"""The limit of a watched repository's references; changes of further references are not noticed."""
_LATEST_S = 253_402_300_799
"""The last second of the year 9999."""
_SAFE = """\
[safe]
    directory = *
[protocol]
    allow = never
[protocol "file"]
    allow = always
"""


@dataclass(frozen=True)
class Submission:
    """A submission.

    Args:
        name: its name in lists.
        path: the folder, archive or file.
        author: its author, by its name.
        author_as_written: its author before Unicode normalization.
        version: its version, by its name; "" without one.
        is_late: whether its name marks it as late, as Canvas's names do.
        repository: the repository to fetch, from entries.yaml in `path`; None: `path` itself.
        problem: why it cannot be taken; "" if no reason is known.
        remark: a remark on the author's name, such as its likeness to another.
    """

    name: str
    path: Path
    author: str
    author_as_written: str
    version: str = ""
    is_late: bool = False
    repository: Repository | None = None
    problem: str = ""
    remark: str = ""

    @property
    def order(self) -> tuple[str, tuple[int, ...]]:
        """The kind of its version and its sort key; versions of the same kind can be compared."""
        for kind, pattern in _ORDERED.items():
            if pattern.fullmatch(self.version):
                return kind, tuple(int(part) for part in re.findall(r"\d+", self.version))
        return "", ()

    @property
    def arrived_s(self) -> float:
        """Modification time of its file or folder (s since 1970); 0 for a repository."""
        return 0.0 if self.repository is not None else in_calendar(self.path.lstat().st_mtime)


def in_calendar(time_s: float) -> float:
    """Returns a time clipped to the years 1970 to 9999 (s since 1970): files may have any time."""
    return min(time_s, _LATEST_S) if time_s > 0 else 0.0


def walk(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yields the paths of all files and folders below a folder, with their lstat results.

    Links to folders are not followed, nor is `folder` itself if it is a link.
    """
    folders = [str(folder)]
    while folders:  # Path.rglob and os.walk are recursive
        path = folders.pop()
        try:
            place = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:  # just removed, unreadable, a link, or too deep
            continue
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    own = f"{path}/{entry.name}"
                    yield own, entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(own)
        except OSError:
            continue
        finally:
            os.close(place)


def require_folder_of_entries(folder: Path) -> None:
    """Raises KneepointError if the folder of the entries does not exist."""
    if not folder.is_dir():
        raise KneepointError(f"{folder}: not a folder; name the folder of the entries")


def find_submissions(folder: Path, ours: Collection[str] = ()) -> list[Submission]:
    """Returns the submissions in a folder, except hidden files, Markdown and text.

    Submissions that would have the same name, such as bob/ and bob.tar.gz, have their full file
    names.

    Args:
        folder: folder of the entries.
        ours: names of baselines, which no entry may have.

    Raises:
        KneepointError: the folder does not exist or has no entry, or its entries.yaml is malformed.
    """
    require_folder_of_entries(folder)
    found = list(_in_folder(folder.resolve()))
    if not found:
        raise KneepointError(f"{folder}: contains no entry; add source trees or archives")
    names = _distinct_names([_names_of(*each) for each in found], ours)
    remarks = remarks_on([each.author for _, each in found], ours)
    as_written: dict[str, set[str]] = {}
    for _, each in found:
        as_written.setdefault(each.author, set()).add(each.author_as_written)
    named = []
    for (_, each), name in zip(found, names, strict=True):
        problem = each.problem
        if each.name in ours and not problem:
            problem = "has the name of a baseline; rename it"
        is_other = each.author_as_written != each.author
        if is_other and len(as_written[each.author]) > 1 and not problem:
            problem = f"has the same name as another entry, {each.author!r}; rename it"
        remark = remarks.get(each.author, "")
        named.append(replace(each, name=name, problem=problem, remark=remark))
    return sorted(named, key=lambda each: each.name)


def _names_of(full_name: str, submission: Submission) -> tuple[str, ...]:
    """Returns the possible names of a submission, the shortest first; the last name is unique."""
    digest = sha256_of(full_name.encode(errors="surrogateescape"))
    shown = legible(full_name.removeprefix("/"))
    return submission.name, shown, f"{shown}-{digest[:6]}", f"{shown[:30]}-{digest}"


def _distinct_names(possible: Sequence[Sequence[str]], taken: Collection[str]) -> list[str]:
    """Returns the first possible name of each submission that no other submission has."""
    places = [0] * len(possible)
    while True:
        names = [each[place] for each, place in zip(possible, places, strict=True)]
        counts = Counter([*names, *taken])
        clashing = [
            at
            for at, name in enumerate(names)
            if counts[name] > 1 and places[at] + 1 < len(possible[at])
        ]
        if not clashing:
            return names
        for at in clashing:
            places[at] += 1


def legible(name: str) -> str:
    """Returns a valid name in place of an invalid name, for pages and for a folder."""
    signs = plain(name)[:50]
    shown = "".join(each if is_of_entry_name(each) else "_" for each in signs)
    return shown if is_entry_name(shown) else f"entry {shown}"


def submission_at(path: Path) -> Submission:
    """Returns the submission at a path.

    Raises:
        KneepointError: the path does not exist.
    """
    if not path.exists():
        raise KneepointError(f"{path}: no such entry; check the path")
    return submission_of(path.resolve())


def _in_folder(folder: Path) -> Iterator[tuple[str, Submission]]:
    """Yields the submissions in a folder, each with a unique full name."""
    for path in folder.iterdir():
        if path.name.startswith(".") or (path.suffix.lower() in _PROSE and not path.is_symlink()):
            continue
        if path.name == REPOSITORIES and path.lstat().st_uid not in (0, os.geteuid()):
            yield path.name, _named(path.name, path, problem=_ANOTHERS_LIST)
            continue
        if path.name == REPOSITORIES:
            repositories = read_config(path, Repositories, as_text=True)
            for name, repository in repositories.entries.items():
                submission = _named(name, folder, repository=repository)
                yield f"/{name} in {REPOSITORIES}", submission  # no file's name contains a slash
            continue
        try:
            yield path.name, submission_of(path)
        except OSError as error:  # such as a link whose target is not accessible
            yield path.name, _named(path.name, path, problem=f"cannot be read: {error.strerror}")


def submission_of(path: Path) -> Submission:
    """Returns the submission of a file or folder; its name determines author and version.

    Raises:
        OSError: the path is not accessible.
    """
    name = path.name
    download = next((found for each in _DOWNLOADS if (found := each.fullmatch(name))), None)
    if path.is_dir() and not path.is_symlink():
        path = _only_file(path)
    if download is not None:
        parts = download.groupdict()
        version, is_late = parts.get("version") or "", bool(parts.get("late"))
        return _named(parts["author"], path, version, is_late, problem=_problem_of(path))
    if not path.is_dir():
        if is_archive(Path(name)):
            name = name_of_archive(Path(name))
        elif path.suffix in _SINGLE:
            name = name.removesuffix(path.suffix)
    return _named(name, path, problem=_problem_of(path))


def _named(
    written: str,
    path: Path,
    version: str | None = None,
    is_late: bool = False,
    repository: Repository | None = None,
    problem: str = "",
) -> Submission:
    """Returns a submission by its name as written; without `version`, the name may contain one."""
    name = plain(written)
    if has_invisible(written):
        problem = "has invisible characters in its name; rename it"
    elif not is_entry_name(name) or len(name.encode()) > _MAX_NAME_BYTES:
        problem = f"has an invalid or too long name ({ENTRY_NAMES} are valid); rename it"
    else:
        if version is not None:
            return Submission(name, path, name, written, version, is_late, repository, problem)
        author, version = _version_of(name)
        as_written, _ = _version_of(written)
        return Submission(name, path, author, as_written, version, is_late, repository, problem)
    digest = sha256_of(written.encode(errors="surrogateescape"))[:6]  # makes the name unique
    name = f"{legible(written)}-{digest}"
    return Submission(name, path, name, name, problem=problem)


def _version_of(name: str) -> tuple[str, str]:
    found = _VERSION.fullmatch(name)
    return (found["author"], found["version"]) if found else (name, "")


def _only_file(folder: Path) -> Path:
    """The archive that is a folder's only file, as in Moodle's folders; otherwise the folder."""
    try:
        inside = [each for each in folder.iterdir() if not each.name.startswith(".")]
    except OSError:  # `take` will report it
        return folder
    is_archive_alone = len(inside) == 1 and is_archive(inside[0]) and inside[0].is_file()
    return inside[0] if is_archive_alone and not inside[0].is_symlink() else folder


def _problem_of(path: Path) -> str:
    if path.is_symlink():
        return "is a symbolic link; submit its target"
    if path.is_dir() or (path.is_file() and (is_archive(path) or path.suffix in _SINGLE)):
        return ""
    if not path.is_file():
        return "is neither a folder nor a file"
    return (
        f"is neither a folder, nor an archive that ends in {', '.join(ARCHIVES)}, nor a source in "
        "C, C++ or Python; pack it as one of these"
    )


def take(submission: Submission, into: Path, confined: Confined) -> float:
    """Copies or unpacks a submission into an empty folder; see `untrusted` for how it is opened.

    Returns:
        Time of its commit, in a repository, or of its arrival (s since 1970).

    Raises:
        KneepointError: it cannot be taken; the message gives the reason.
        OSError: it cannot be read.
    """
    if submission.problem:
        raise KneepointError(submission.problem)
    path = submission.path
    if submission.repository is not None:
        return _archive(submission.repository, path, into, confined)
    with untrusted.opened(path) as found:
        if untrusted.is_folder(found):
            if is_bare(found):
                return _archive_of(found, Repository(git=path.name), into, confined)
            return in_calendar(copy_folder(found, into))
        if not untrusted.is_file(found):
            raise KneepointError("is neither a folder nor a file")
        with untrusted.reading(found) as file:
            if is_archive(path):
                unpack(file, into, confined)
            else:
                take_file(path.name, file, into)
            return in_calendar(os.fstat(found).st_mtime)


def unpack(
    archive: IO[bytes], into: Path, confined: Confined, max_bytes: int = MAX_ARCHIVE_BYTES
) -> None:
    """Unpacks an open tar or zip file.

    Raises:
        KneepointError: the archive is damaged, leads out of its folder, or is a bomb.
        OSError: the disk is full.
    """
    if os.fstat(archive.fileno()).st_size > max_bytes:
        raise KneepointError(f"the archive has more than {max_bytes >> 20} MiB")
    with private_folder("unpacked") as folder:
        work = folder.resolve()
        for name in _UNPACKER:
            place = work / "kneepoint" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PACKAGE / name, place)
        ended = confined.run(
            [_PYTHON, "-ISBc", _UNPACK, "tree"],
            work,
            write=[work],
            cpu_s=_MAX_UNPACKING_S,
            runs=_PYTHON_FILES,
            stdin=archive,
        )
        if ended.killed_for:
            raise DisturbedError(
                "the process that unpacks the archive was ended; run the command again"
            )
        if ended.returncode == EXIT_NO_ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if ended.returncode != 0:
            *_, last = ["", *ended.stderr.strip().splitlines()]
            problem = last.removeprefix("error: ")
            if problem == last:  # not an error of `unpack`, but of `confine` or Python
                limit = last.removeprefix("confine: stopped: ")
                problem = f"the archive cannot be unpacked ({limit}); submit sources only"
            raise KneepointError(problem)
        copy_tree(work / "tree", into)


def digest_of_tree(folder: Path) -> str:
    """Returns the digest of the names and contents of a folder's files."""
    digest = hashlib.sha256()
    for path in files_of(folder):
        for part in (path.relative_to(folder).as_posix().encode(), path.read_bytes()):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def _source_of(repository: Repository, folder: Path) -> Path:
    """Returns the path of a repository's folder, not resolved."""
    address = repository.git.removeprefix("file://")
    if "://" in address or re.match(r"[\w.-]+@", address):
        raise KneepointError(f"{repository.git} is on another machine; clone it and name the clone")
    return folder / address


def state_of_repositories(folder: Path) -> list[tuple[str, int]]:
    """Returns files, with their times, that pushes and commits to listed repositories change."""
    try:
        repositories = read_config(folder / REPOSITORIES, Repositories, as_text=True)
        sources = [_source_of(each, folder) for each in repositories.entries.values()]
    except KneepointError:  # no entries.yaml, or an invalid one, which scoring will report
        return []
    found = []
    for source in sources:
        with suppress(OSError):  # just removed, or unreadable
            inside = source / ".git" if (source / ".git").is_dir() else source
            found += [
                (str(path), path.stat().st_mtime_ns)
                for path in (inside / "HEAD", inside / "packed-refs")
                if path.is_file()
            ]
            refs = islice(walk(inside / "refs"), _MAX_REFS)
            found += [(path, status.st_mtime_ns) for path, status in refs]
    return sorted(found)


def state_of(folder: Path) -> list[tuple[object, ...]]:
    """Returns names, sizes and times of all files, and of files that pushes change."""
    files = [(path, status.st_size, status.st_mtime_ns) for path, status in walk(folder.resolve())]
    return [*sorted(files), *state_of_repositories(folder)]


def _archive(repository: Repository, folder: Path, into: Path, confined: Confined) -> float:
    """Takes a revision of a repository named in a folder's entries.yaml (see `_archive_of`)."""
    try:
        with untrusted.opened(_source_of(repository, folder)) as root:
            return _archive_of(root, repository, into, confined)
    except (FileNotFoundError, NotADirectoryError):
        raise KneepointError(f"{repository.git}: no such repository") from None


def _archive_of(root: int, repository: Repository, into: Path, confined: Confined) -> float:
    """Takes the files of a revision by `git archive`; returns its commit's time (s since 1970).

    Git reads a clone of a copy of the repository, because a clone does not copy its settings.
    """
    revision = repository.commit or repository.branch or "HEAD"
    with private_folder("git") as work:
        try:
            copy_repository(root, work / "copy")
        except KneepointError as error:
            raise KneepointError(f"{repository.git}: {error}") from None
        (work / "config").write_text(_SAFE)
        environment = {
            "GIT_CONFIG_GLOBAL": str(work / "config"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": str(work),
        }

        def git(*words: str, problem: str = "") -> str:
            answer = confined.run(["git", *words], work, [], [work], environment)
            if answer.killed_for:
                raise DisturbedError(
                    f"{repository.git}: something ended git; run the command again"
                )
            if answer.returncode != 0:
                lines = answer.stderr.strip().splitlines() or ["it failed without a reason"]
                first = next((line for line in lines if line.startswith("fatal: ")), lines[-1])
                first = first.replace(f"{work}/", "")
                raise KneepointError(f"{repository.git}: {problem or f'git: {first}'}")
            return answer.stdout.strip()

        git("clone", "--quiet", "--mirror", "--no-local", "--", f"file://{work}/copy", "clone")
        commit = git(
            *("-C", "clone", "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"),
            problem=f"no such branch or commit: {revision}",
        )
        git("-C", "clone", "archive", "--format=tar", "--output=../tree.tar", commit)
        with (work / "tree.tar").open("rb") as archive:
            unpack(archive, into, confined, 2 * MAX_BYTES)
        written = git("-C", "clone", "show", "--no-patch", "--format=%ct", commit)
        return in_calendar(float(written or 0))  # a commit may lack a date
