"""Finds the submissions in a folder: source trees, git repositories, archives.

Each becomes a `Submission`, ordered by name; `take` copies or unpacks one into a
folder of ours. No code of the submission runs, and none changes.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from common.config_file import read_config
from common.errors import KneepointError
from common.files import private_folder, sha256_of
from contest.config import ENTRY_NAME, ENTRY_NAMES, REPOSITORIES, Repositories, Repository
from contest.confine import Confined, DisturbedError
from contest.unpack import (
    ARCHIVES,
    copy_repository,
    copy_tree,
    files_of,
    is_archive,
    name_of_archive,
    take_file,
    unpack,
    unpack_stream,
)

_PROSE = (".md", ".txt")
_VERSION = re.compile(r"(?P<author>.+?)(?:@|--)(?P<version>[^@]+)")
"""Of AUTHOR@VERSION or AUTHOR--VERSION, to group an author's submissions."""
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
        name: on the leaderboard.
        path: the folder, archive or file.
        repository: instead, what to fetch.
        problem: why it cannot be taken, if known.
    """

    name: str
    path: Path
    repository: Repository | None = None
    problem: str = ""

    @property
    def author(self) -> str:
        """The author, according to its name."""
        found = _VERSION.fullmatch(self.name)
        return found["author"] if found else self.name


def find_submissions(folder: Path) -> list[Submission]:
    """Returns the submissions in a folder; hidden files, Markdown and text are not entries.

    Raises:
        KneepointError: there is no such folder, its entries.yaml is malformed, or two entries have
            the same name.
    """
    if not folder.is_dir():
        raise KneepointError(f"{folder}: not a folder; name the folder of the entries")
    found = sorted(_in_folder(folder), key=lambda each: each.name)
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise KneepointError(f"{folder}: two entries are called {name!r}; rename one")
    return found


def submission_at(path: Path) -> Submission:
    """Returns one submission by its path.

    Raises:
        KneepointError: nothing is there.
    """
    if not path.exists():
        raise KneepointError(f"{path}: no such entry; check the path")
    return _submission(path.resolve())


def _in_folder(folder: Path) -> Iterator[Submission]:
    for path in folder.iterdir():
        if path.name.startswith(".") or (path.suffix.lower() in _PROSE and not path.is_symlink()):
            continue
        if path.name == REPOSITORIES:
            for name, repository in read_config(path, Repositories).entries.items():
                yield Submission(name, folder, repository)
        else:
            yield _submission(path)


def _submission(path: Path) -> Submission:
    name = name_of_archive(path) if is_archive(path) else path.name
    if not re.fullmatch(ENTRY_NAME, name):
        shown = re.sub(r"[^\w.@ -]", "?", name, flags=re.ASCII)[:50]
        digest = sha256_of(name.encode(errors="surrogateescape"))[:6]  # names of others differ
        problem = f"has a name with more than {ENTRY_NAMES}; rename it"
        return Submission(f"{shown}-{digest}", path, problem=problem)
    if path.is_symlink():
        return Submission(path.name, path, problem="is a symbolic link; submit what it points to")
    if path.is_dir():
        return Submission(path.name, path)
    if not path.is_file():
        return Submission(path.name, path, problem="is neither a folder nor a file")
    if is_archive(path):
        return Submission(name, path)
    if path.suffix == ".py":
        return Submission(path.stem, path)
    known = ", ".join(ARCHIVES)
    return Submission(
        path.name, path, problem=f"is neither a folder nor an archive that ends in {known}"
    )


def take(submission: Submission, into: Path, confined: Confined) -> None:
    """Copies or unpacks a submission into an empty folder.

    Raises:
        KneepointError: it cannot be taken; the message says why.
        OSError: it cannot be read.
    """
    if submission.problem:
        raise KneepointError(submission.problem)
    path = submission.path
    if submission.repository is not None:
        _fetch(submission.repository, path, into, confined)
    elif path.is_file() and is_archive(path):
        unpack(path, into)
    elif path.is_file():
        take_file(path, into)
    elif _is_bare(path):
        _archive(path, Repository(git=path.name), into, confined)
    else:
        copy_tree(path, into)


def digest_of_tree(folder: Path) -> str:
    """Returns the digest of the names and contents of a folder's files."""
    digest = hashlib.sha256()
    for path in files_of(folder):
        for part in (path.relative_to(folder).as_posix().encode(), path.read_bytes()):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _fetch(repository: Repository, folder: Path, into: Path, confined: Confined) -> None:
    """Takes the files of a repository on this machine."""
    address = repository.git.removeprefix("file://")
    if "://" in address or re.match(r"[\w.-]+@", address):
        raise KneepointError(f"{repository.git} is on another machine; clone it and name the clone")
    source = (folder / address).resolve()
    if not source.is_dir():
        raise KneepointError(f"{repository.git}: no such repository")
    _archive(source, repository, into, confined)


def _archive(source: Path, repository: Repository, into: Path, confined: Confined) -> None:
    """Takes the files of a revision as git archives them.

    Git reads our own copy of the repository, and a clone of that, which has none of its settings.
    """
    revision = repository.commit or repository.branch or "HEAD"
    with private_folder("kneepoint-git-") as work:
        copy_repository(source, work / "copy")
        (work / "config").write_text(_SAFE)
        environment = {
            "GIT_CONFIG_GLOBAL": str(work / "config"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": str(work),
        }

        def git(*words: str, problem: str = "") -> str:
            answer = confined.run(["git", *words], work, [], [work], environment)
            if answer.was_killed:
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
            unpack_stream(archive, into)
