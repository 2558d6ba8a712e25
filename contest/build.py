"""Builds entries into shared objects, confined; unchanged sources are compiled once for all.

A source's object is kept under the digest of all that the compiler could read when it made it: the
source, the headers, the flags and the compiler itself. It compiles in a folder that has nothing
else, and the sandbox keeps it there.
"""

import hashlib
import os
import shutil
import subprocess
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from common.errors import KneepointError
from common.files import sha256_of, write_whole
from contest.confine import Confined, environment_of
from contest.tree import SUFFIXES, Tree

_STANDARDS = ("-std=gnu++20", "-std=gnu++11")
"""Tried in this order."""
_FLAGS = (
    *("-O2", "-g0", "-fPIC", "-pthread", "-w"),
    *(
        word
        for header in ("numeric", "functional", "stdexcept", "algorithm")
        for word in ("-include", header)
    ),
)
"""Entries of 2016 rely on headers that compilers of that time included implicitly."""
_LINK = ("-shared", "-pthread", "-Wl,-z,defs")
_LIBRARIES = ("-lm",)
_MOST_MESSAGE = 4000


class BuildError(Exception):
    """An entry does not build; `message` is the compiler's output."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(reason)
        self.message = message


@dataclass(frozen=True)
class Built:
    """An entry's shared object."""

    object: Path
    sha256: str


@dataclass
class Builder:
    """Builds entries, from several threads at once.

    Args:
        folder: cache of objects.
        confined: runs the compiler.
        compiler: g++ or clang++.
    """

    folder: Path
    confined: Confined
    compiler: str = os.environ.get("CXX") or "c++"
    _locks: defaultdict[str, threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock)
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def build(self, tree: Tree, macros: Mapping[str, str]) -> Built:
        """Compiles and links an entry in C++.

        Raises:
            BuildError: it does not build.
            KneepointError: there is no compiler.
        """
        first: BuildError | None = None
        for standard in _STANDARDS:
            try:
                return self._build(tree, standard, macros)
            except BuildError as error:
                first = first or error
        assert first is not None
        raise first

    def keep(self, tree: Tree) -> Built:
        """Stores the single file of a Python entry."""
        (source,) = tree.sources
        content = source.read_bytes()
        sha256 = sha256_of(content)
        place = self.folder / "entries" / f"{sha256}.py"
        with self._locked(sha256):
            if not place.is_file():
                write_whole(place, content)
        return Built(place, sha256)

    def _build(self, tree: Tree, standard: str, macros: Mapping[str, str]) -> Built:
        defined = [f"-D{name}={value}" for name, value in sorted(macros.items())]
        everything = _files_of(tree.root)
        objects = [
            self._compile_alone(tree, source, [standard], _files_of(source.parent), everything)
            for source in tree.library
        ]
        objects += [
            self._compile_alone(tree, source, [standard, *defined], everything, everything)
            for source in tree.sources
        ]
        return self._link(objects)

    def _compile_alone(
        self,
        tree: Tree,
        source: Path,
        flags: Sequence[str],
        near: Sequence[Path],
        everything: Sequence[Path],
    ) -> Path:
        """Compiles a source with nearby headers, or with all if those do not suffice."""
        headers = [path for path in near if path.suffix not in SUFFIXES]
        try:
            return self._compile(tree, source, flags, [*headers, source.resolve()])
        except BuildError:
            return self._compile(tree, source, flags, everything)

    def _compile(
        self, tree: Tree, source: Path, flags: Sequence[str], files: Sequence[Path]
    ) -> Path:
        """Returns a source's object; the compiler sees only the given files."""
        root = tree.root.resolve()
        words = [
            *(*_FLAGS, *flags),
            *(f"-I{each.resolve().relative_to(root)}" for each in tree.includes),
            str(source.resolve().relative_to(root)),
        ]
        content = [f"{each.relative_to(root)} {sha256_of(each.read_bytes())}" for each in files]
        key = self._digest("compile", *words, *content)
        place = self.folder / "objects" / f"{key}.o"
        with self._locked(key), TemporaryDirectory(prefix="kneepoint-tree-") as stage:
            if not place.is_file():
                for each in files:
                    copy = Path(stage) / each.relative_to(root)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(each, copy)
                self._make(place, [self.compiler, *words, "-c"], Path(stage), [Path(stage)])
        return place

    def _link(self, objects: Sequence[Path]) -> Built:
        key = self._digest("link", *_LINK, *_LIBRARIES, *(each.stem for each in objects))
        place = self.folder / "entries" / f"{key}.so"
        with self._locked(key):
            if not place.is_file():
                names = [each.resolve() for each in objects]
                words = [self.compiler, *_LINK, *map(str, names), *_LIBRARIES]
                self._make(place, words, self.folder, names)
        return Built(place, sha256_of(place.read_bytes()))

    def _make(self, place: Path, words: Sequence[str], folder: Path, read: Sequence[Path]) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="kneepoint-build-") as work:
            out = Path(work) / "out"
            answer = self.confined.run(
                [*words, "-o", out], folder, read, [Path(work)], environment_of(Path(work))
            )
            if answer.returncode != 0 or not out.is_file():
                raise _refusal(answer, work)
            part = place.with_name(f"{place.name}.{os.getpid()}.{threading.get_ident()}")
            shutil.copyfile(out, part)
            part.replace(place)

    @cached_property
    def _identity(self) -> str:
        """The compiler's path and version."""
        path = shutil.which(self.compiler)
        if path is None:
            raise KneepointError(f"{self.compiler}: no compiler; install g++, or set CXX")
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        return f"{Path(path).resolve()} {answer.stdout}"

    def _digest(self, *parts: str) -> str:
        return hashlib.sha256("\0".join((self._identity, *parts)).encode()).hexdigest()

    def _locked(self, key: str) -> threading.Lock:
        with self._lock:
            return self._locks[key]


def _files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.resolve().rglob("*") if path.is_file())


def _refusal(answer: "subprocess.CompletedProcess[str]", work: str) -> BuildError:
    message = answer.stderr.replace(work, "").strip()
    lines = [line.strip() for line in message.splitlines()]
    marks = ("error:", "undefined reference", "undefined symbol", "multiple definition", "confine:")
    found = [line for line in lines if any(mark in line.lower() for mark in marks)]
    reason = (found or lines or ["the compiler gave no reason"])[0]
    return BuildError(f"does not build: {reason}", message[:_MOST_MESSAGE])
