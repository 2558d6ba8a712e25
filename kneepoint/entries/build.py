"""Builds entries into shared objects, in a sandbox, with a cache of objects.

An object's key is the digest of everything that the compiler can read: the source, the headers, the
flags and the compiler itself. The compiler runs in a folder with these files only, and the sandbox
hides all others. The resources of a whole build are limited, and only a successful build adds its
objects to the cache.
"""

import hashlib
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from kneepoint.common.errors import KneepointError, MachineError, our_files
from kneepoint.common.files import private_folder, sha256_of, write_whole
from kneepoint.entries.compiler_messages import errors_in, own_part, reason_of
from kneepoint.entries.confine import MAX_CPU_S, Confined, DisturbedError
from kneepoint.entries.tree import C_SUFFIX, SUFFIXES, Tree
from kneepoint.entries.unpack import files_of

_IMPLICIT = (
    *("numeric", "functional", "stdexcept", "algorithm"),
    *("cmath", "cstdlib", "cstdio", "cstring", "climits", "cstdint"),
)
"""Headers that compilers included implicitly at the time of the entries of 2013 and 2016. Other
entries define names, such as gamma or index, that clash with declarations of these headers."""
LEAN = ("-O2", "-g0", "-fPIC", "-pthread", "-w", "-fmax-errors=20", "-ffp-contract=off")
_OLD = tuple(word for header in _IMPLICIT for word in ("-include", header))
_LINK = ("-shared", "-pthread", "-Wl,-z,defs")
_LIBRARIES = ("-lm",)
_MANY = 1000
_TRIES = 3
"""Attempts of a command that is killed from outside."""


class BuildError(KneepointError):
    """An entry does not build; `message` is the compiler's output."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(reason)
        self.message = message


class NoCompilerError(MachineError):
    """The machine lacks the compiler of an entry's language; other entries may not need it."""


class _LimitError(BuildError):
    """A build exceeds its budget; no other attempt follows."""


@dataclass(frozen=True)
class Budget:
    """Limits of all commands of one build together: CPU time, size of objects, commands."""

    cpu_s: float = MAX_CPU_S
    object_bytes: int = 64_000_000
    commands: int = 1500


class _Build:
    """One build; its objects are in `work`, under the names of the cache."""

    def __init__(self, tree: Tree, work: Path, budget: Budget) -> None:
        self.tree = tree
        self.root = tree.root.resolve()
        self.digests = {
            path.relative_to(self.root).as_posix(): sha256_of(path.read_bytes())
            for path in files_of(self.root)
        }
        self.work = work
        self._budget = budget
        self._cpu_s = 0.0
        self._object_bytes = 0
        self._commands = 0

    @property
    def cpu_s_left(self) -> int:
        """Limit of CPU time for the next command (s): the rest of the budget, rounded up."""
        return int(self._budget.cpu_s - self._cpu_s) + 1

    def spend(self, cpu_s: float = 0, object_bytes: int = 0, commands: int = 0) -> None:
        """Adds to the used resources; raises _LimitError if they exceed the budget."""
        self._cpu_s += cpu_s
        self._object_bytes += object_bytes
        self._commands += commands
        most = self._budget
        if self._cpu_s > most.cpu_s:
            raise _LimitError(
                f"does not build within {most.cpu_s:g} s of CPU time; simplify it, or have the "
                "limit raised (build_cpu_s)"
            )
        if self._object_bytes > most.object_bytes:
            raise _LimitError(
                f"has objects of more than {most.object_bytes / 1e6:g} MB; make its tables smaller"
            )
        if self._commands > most.commands:
            raise _LimitError(
                f"does not build within {most.commands} commands; put its sources into fewer files"
            )

    def name_of(self, path: Path) -> str:
        """Returns a path in the tree, relative to its root."""
        return path.resolve().relative_to(self.root).as_posix()


def _first_of(tries: Sequence[Callable[[], Path]]) -> Path:
    """Returns the result of the first try that succeeds.

    If all fail, raises the error of the try with the fewest errors: missing or additional headers
    add errors of their own.
    """
    problems: list[BuildError] = []
    for each in tries:
        try:
            return each()
        except _LimitError:
            raise
        except BuildError as error:
            problems.append(error)
    raise min(problems, key=lambda each: errors_in(each.message) or _MANY)


@dataclass
class Compiler:
    """Builds entries, from several threads at once.

    Args:
        folder: cache of objects.
        confined: sandbox that runs the compiler.
        command: g++ or clang++.
        budget: limits of each build.
        standards: flags of C++ standards, tried in this order.
        flags: the compiler's flags.
        otherwise: additional flags for a source that does not compile without them; empty: none.
        reads: our own files that the compiler may read, with their digests in their names.
        max_bytes: limit of the cache's size; the least recently used files are removed.
    """

    folder: Path
    confined: Confined
    command: str = os.environ.get("CXX") or "c++"
    budget: Budget = field(default_factory=Budget)
    standards: Sequence[str] = ("-std=gnu++20", "-std=gnu++11")
    flags: Sequence[str] = LEAN[:-1]
    otherwise: Sequence[str] = _OLD
    reads: Sequence[Path] = ()
    max_bytes: int = 2_000_000_000
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _given: set[str] = field(default_factory=set)
    """Files that this process may still run, and that therefore stay in the cache."""

    def build(self, tree: Tree, macros: Mapping[str, str]) -> Path:
        """Compiles and links an entry in C++; returns its shared object.

        Raises:
            BuildError: it does not build.
            DisturbedError: a cause outside the build ended the compiler.
            MachineError: there is no compiler.
        """
        defined = [f"-D{name}={value}" for name, value in sorted(macros.items())]
        with private_folder("objects") as work:
            build = _Build(tree, work, self.budget)
            built = _first_of(
                [partial(self._build, build, each, defined) for each in self.standards]
            )
            made = [each for each in work.iterdir() if each.suffix in (".o", ".so")]
            data = {f"{sha256_of(each.read_bytes())}.data": each for each in tree.data}
            self._keep({each.name: each for each in made} | data, {built.name, *data})
            return self.folder / built.name

    def keep(self, tree: Tree) -> Path:
        """Stores the single file of a Python entry."""
        (source,) = tree.sources
        name = f"{sha256_of(source.read_bytes())}.py"
        self._keep({name: source}, {name})
        return self.folder / name

    def _build(self, build: _Build, standard: str, defined: Sequence[str]) -> Path:
        objects = {}
        for path in build.tree.library:
            source = build.name_of(path)
            folder = f"{source.rpartition('/')[0]}/".removeprefix("/")
            near = [name for name in build.digests if name.startswith(folder)]
            objects[self._compile_alone(build, source, standard, [], near)] = source
        for path in build.tree.sources:
            source = build.name_of(path)
            words = [*(f"-D{each}" for each in build.tree.defines), *defined]
            place = self._compile_alone(build, source, standard, words, list(build.digests))
            objects[place] = source
        return self._link(build, objects)

    def _compile_alone(
        self,
        build: _Build,
        source: str,
        standard: str,
        flags: Sequence[str],
        near: Sequence[str],
    ) -> Path:
        """Compiles a source without the flags of `otherwise`, or with them if that fails.

        The compiler sees the files `near`, or all files if these do not suffice.
        """
        names = [name for name in near if name == source or not name.endswith(SUFFIXES)]
        seen = [names] if len(names) == len(build.digests) else [names, list(build.digests)]
        language = ["-x", "c++", standard]
        added = [[], self.otherwise] if self.otherwise else [[]]
        if source.endswith(C_SUFFIX):
            language, added = ["-x", "c"], [[]]
        return _first_of(
            [
                partial(self._compile, build, source, [*language, *flags, *more], names)
                for more in added
                for names in seen
            ]
        )

    def _compile(
        self, build: _Build, source: str, flags: Sequence[str], names: Sequence[str]
    ) -> Path:
        """Returns a source's object; the compiler sees only the named files."""
        words = [
            *(*self.flags, *flags),
            *(f"-I./{build.name_of(each)}" for each in build.tree.includes),
            f"./{source}",
        ]
        content = [f"{name} {build.digests[name]}" for name in names]
        name = f"{self.digest('compile', *words, *content)}.o"

        def make(copy: Path) -> None:
            with private_folder("tree") as stage:
                for each in names:
                    (stage / each).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(build.root / each, stage / each)
                    os.utime(stage / each, (0, 0))  # __TIMESTAMP__ depends on it
                command = [self.command, *words, "-c"]
                self._run(build, command, copy, stage, build.digests, {})

        return self._made(build, name, make)

    def _link(self, build: _Build, objects: Mapping[Path, str]) -> Path:
        given = [(path.name, path.read_bytes()) for path in build.tree.objects]
        parts = [*(each.stem for each in objects), *(sha256_of(content) for _, content in given)]
        key = self.digest("link", *_LINK, *_LIBRARIES, *parts)

        def make(copy: Path) -> None:
            for name, content in given:
                (build.work / name).write_bytes(content)
            ours = [name for name, _ in given]
            command = [self.command, *_LINK, *map(str, objects), *ours, *_LIBRARIES]
            own = {*objects.values(), *(name.rpartition("/")[2] for name in objects.values())}
            names = {str(path): source for path, source in objects.items()}
            self._run(build, command, copy, build.work, own, names)

        return self._made(build, f"{key}.so", make)

    def _made(self, build: _Build, name: str, make: Callable[[Path], None]) -> Path:
        """Returns the build's own copy of an object of the cache, or makes it."""
        copy = build.work / name
        try:
            with our_files():
                shutil.copyfile(self.folder / name, copy)
                os.utime(self.folder / name)
        except FileNotFoundError:
            if not copy.exists():
                make(copy)
        build.spend(object_bytes=copy.stat().st_size)
        return copy

    def _run(
        self,
        build: _Build,
        command: Sequence[str],
        place: Path,
        folder: Path,
        own: Collection[str],
        names: Mapping[str, str],
    ) -> None:
        """Runs a command in `folder` to make the file `place`; `own`, `names`: see `own_part`."""
        cause = ""
        for _ in range(_TRIES):
            build.spend(commands=1)
            with private_folder("build") as work:
                out = work / "out"
                words: list[str | Path] = [*command, "-o", out]
                environment = {"TMPDIR": str(work), "HOME": str(work), "SOURCE_DATE_EPOCH": "0"}
                ended = self.confined.run(
                    words, folder, [folder, *self.reads], [work], environment, build.cpu_s_left
                )
                if cause := ended.killed_for:
                    continue
                build.spend(cpu_s=ended.cpu_s)
                if ended.returncode != 0 or out.is_symlink() or not out.is_file():
                    message = own_part(ended.stderr, own, names)
                    raise BuildError(f"does not build: {reason_of(message)}", message)
                shutil.copyfile(out, place)
                return
        raise DisturbedError(
            f"could not be built: the compiler was ended {_TRIES} times ({cause}), for lack of "
            "memory or time; end other programs and run the command again"
        )

    def _keep(self, made: Mapping[str, Path], given: Collection[str]) -> None:
        """Copies files into the cache and limits its size; runs read the files named in `given`."""
        with self._lock, our_files():
            self._given.update(given)
            for name, path in made.items():
                if not (self.folder / name).exists():
                    write_whole(self.folder / name, path.read_bytes())
            found = []
            for path in self.folder.iterdir():
                with suppress(FileNotFoundError):  # another process removed it
                    status = path.stat()
                    found.append((status.st_mtime_ns, status.st_size, path))
            size = sum(each[1] for each in found)
            for _, bytes_, path in sorted(found):
                if size <= self.max_bytes:
                    break
                if path.name not in self._given:
                    path.unlink(missing_ok=True)
                    size -= bytes_

    @cached_property
    def _identity(self) -> str:
        """The compiler's path and version."""
        path = shutil.which(self.command)
        if path is None:
            raise NoCompilerError(f"{self.command}: no compiler; install g++, or set CXX")
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        return f"{Path(path).resolve()} {answer.stdout}"

    def digest(self, *parts: str) -> str:
        """Returns a key of the cache: the digest of the compiler's version and of `parts`."""
        return hashlib.sha256("\0".join((self._identity, *parts)).encode()).hexdigest()
