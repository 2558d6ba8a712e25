"""Reads the sources of programs from Makefile, Makefile.am and CMakeLists.txt, running nothing."""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from kneepoint.common.errors import KneepointError

CMAKE_FILE = "CMakeLists.txt"
_MAX_BYTES = 2**18
_MAX_VALUE = 100_000
_MAX_ROUNDS = 10
_MAX_WORK = 10_000_000
COMPARISON = 20
"""Work of matching a name with a pattern, in characters (see Work)."""
_ASSIGNMENT = re.compile(r"\s*(?:(?:override|export)\s+)?([\w.-]+)\s*(\+|\?|::?)?=\s*(.*)")
_MAKE_REFERENCE = re.compile(r"\$[({]([^(){}$]*)[)}]")
_PARTS = (".o", ".lo", ".d")
_FLAGS = (
    *("AM_CPPFLAGS", "AM_CXXFLAGS", "sender_CPPFLAGS", "sender_CXXFLAGS", "INCLUDES"),
    *("CPPFLAGS", "CXXFLAGS", "CFLAGS"),
)
"""Variables with the compiler's flags."""
_FILTERS = {"patsubst", "filter", "sort", "strip", "addprefix", "addsuffix", "notdir", "basename"}
"""Functions of make whose last argument contains the names of files; changes of suffixes do not
matter here."""
_TEXT = r'"(?:[^"\\]|\\[\s\S])*(?:"|\\?\Z)'
"""Quoted text. The pattern is unambiguous: backtracking in an entry's file could take years."""
_CMAKE_COMMENT = re.compile(_TEXT + r"|#\[\[.*?(?:\]\]|\Z)|#[^\n]*", re.DOTALL)
_COMMAND = re.compile(rf'\b([A-Za-z_]\w*)\s*\(((?:[^()"]|{_TEXT}|\([^()]*\))*)\)')
_WORD = re.compile(rf'({_TEXT})|([^\s;"]+)')
_CMAKE_REFERENCE = re.compile(r"\$\{(\w+)\}")
_IN_BUILDS = re.compile(r"\$<BUILD_INTERFACE:([^<>]*)>")
_KEYWORDS = frozenset(
    "PUBLIC PRIVATE INTERFACE STATIC SHARED OBJECT MODULE WIN32 MACOSX_BUNDLE SYSTEM BEFORE AFTER "
    "EXCLUDE_FROM_ALL CONFIGURE_DEPENDS".split()
)
_ROOT = "//"
"""Prefix of paths relative to the tree's root in values of variables; unused in real files."""
_MAX_CMAKE_FILES = 50


@dataclass
class Work:
    """The work spent on an entry's build files, in characters and words read."""

    done: int = 0

    def count(self, looked_at: int) -> None:
        """Adds work; raises KneepointError if the total is too much."""
        self.done += looked_at
        if self.done > _MAX_WORK:
            raise KneepointError(
                "has a Makefile or CMakeLists.txt that is too complicated; name only the sources"
            )

    def expanded(
        self, text: str, reference: re.Pattern[str], value: Callable[[re.Match[str]], str]
    ) -> str:
        """Returns a text with all references expanded, recursively.

        A value may refer to itself, so that depth and length are limited.
        """
        for _ in range(_MAX_ROUNDS):
            parts, size, end = [], 0, 0
            for found in reference.finditer(text):
                parts += [text[end : found.start()], value(found)]
                end = found.end()
                size += sum(map(len, parts[-2:]))
                if size > _MAX_VALUE:
                    break
            if not parts:
                break
            text = "".join([*parts, text[end:]])[:_MAX_VALUE]
            self.count(len(text))
        return text

    def glob(self, folder: Path, patterns: Iterable[str], *, deep: bool = False) -> list[str]:
        """Returns the sorted paths, relative to a folder, of files that match patterns."""
        found = set()
        for pattern in patterns:
            place, _, name = pattern.rpartition("/")
            if ".." in place.split("/") or pattern.startswith("/"):
                continue
            start = folder / place
            for path in start.rglob("*") if deep else start.glob("*"):
                self.count(COMPARISON)
                if path.is_file() and fnmatchcase(path.name, name):
                    found.add(path.relative_to(folder).as_posix())
        return sorted(found)

    def reached_from(self, name: str, graph: Mapping[str, Sequence[str]]) -> list[str]:
        """Returns a name and all names to which it leads, directly or not."""
        found, pending = {name: None}, [name]
        while pending:
            nearest = graph.get(pending.pop(), ())
            self.count(len(nearest))
            for each in nearest:
                if each not in found:
                    found[each] = None
                    pending.append(each)
        return list(found)


@dataclass(frozen=True)
class Makefile:
    """The content of a file: values of variables, and prerequisites of targets, not expanded."""

    path: Path
    variables: dict[str, str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    work: Work = field(default_factory=Work)

    def words_of(self, variable: str) -> list[str]:
        """Returns the words of a variable's value."""
        return self._expand(self.variables.get(variable, "")).split()

    def flags(self) -> list[str]:
        """Returns the compiler's flags, split as by a shell."""
        text = " ".join(self._expand(self.variables.get(name, "")) for name in _FLAGS)
        try:
            return shlex.split(text)
        except ValueError:
            return text.split()

    def programs(self) -> Iterator[list[str]]:
        """Yields the direct and indirect prerequisites of each target, and each *_SOURCES."""
        for name in self.variables:
            if name.endswith("_SOURCES"):
                yield self.words_of(name)
        made_of: dict[str, list[str]] = {}
        for targets, words in self.rules.items():
            needed = self._expand(words).split()
            for target in self._expand(targets).split():
                self.work.count(len(needed))
                made_of.setdefault(target, []).extend(needed)
        for target in made_of:
            if not target.endswith(_PARTS):
                yield self.work.reached_from(target, made_of)

    def _expand(self, text: str) -> str:
        return self.work.expanded(text, _MAKE_REFERENCE, self._value)

    def _value(self, found: re.Match[str]) -> str:
        function, blank, arguments = found[1].strip().partition(" ")
        if not blank:
            return self.variables.get(function.partition(":")[0], "")  # $(NAME:.cc=.o)
        first, _, last = arguments.rpartition(",")
        if function == "wildcard":
            return " ".join(self.work.glob(self.path.parent, arguments.split()))
        if function == "filter-out":
            patterns = first.replace("%", "*").split()
            self.work.count(COMPARISON * len(patterns) * len(last.split()))
            left = (w for w in last.split() if not any(fnmatchcase(w, each) for each in patterns))
            return " ".join(left)
        return last if function in _FILTERS else ""


def read_makefile(path: Path, top: Path, work: Work | None = None) -> Makefile:
    """Reads the assignments and rules of a file, without recipes; a missing file has none.

    `top` is the root of the tree, automake's top_srcdir; `work` that of files read before.
    """
    up = os.path.relpath(top, path.parent)
    makefile = Makefile(path, work=work or Work())
    for prefix in ("", "abs_"):
        for name in ("srcdir", "builddir"):
            makefile.variables[f"{prefix}{name}"] = "."
            makefile.variables[f"{prefix}top_{name}"] = up
    makefile.variables["CURDIR"] = "."
    content = path.read_bytes()[:_MAX_BYTES] if path.is_file() else b""
    makefile.work.count(len(content))
    text = content.decode(errors="replace").replace("\r\n", "\n").replace("\\\n", " ")
    for line in text.split("\n"):
        line = line.partition("#")[0]
        if line.startswith("\t"):
            continue
        if found := _ASSIGNMENT.fullmatch(line):
            name, operator, value = found.groups()
            before = f"{makefile.variables.get(name, '')} " if operator == "+" else ""
            makefile.variables[name] = f"{before}{value}"[:_MAX_VALUE]
            continue
        targets, colon, words = line.partition(":")
        words = words.removeprefix(":").partition(";")[0].replace("|", " ")
        if colon and "%" not in targets:
            before = makefile.rules.get(targets, "")
            makefile.rules[targets] = f"{before} {words}"[:_MAX_VALUE]
    return makefile


@dataclass
class CMake:
    """The content of a tree's files; all paths are relative to the tree's root.

    Args:
        root: root of the tree.
        programs: sources of each executable.
        libraries: sources of each library.
        links: libraries that each target links.
        includes: include directories of all targets.
        defines: macros of all targets, NAME or NAME=VALUE.
        work: limits the work for an entry's files.
    """

    root: Path
    programs: dict[str, list[str]] = field(default_factory=dict)
    libraries: dict[str, list[str]] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)
    includes: list[str] = field(default_factory=list)
    defines: list[str] = field(default_factory=list)
    work: Work = field(default_factory=Work)
    _files: int = 0

    def sources_of(self, program: str) -> list[str]:
        """Returns the sources of an executable and of the libraries that it links."""
        libraries = self.work.reached_from(program, self.links)[1:]
        parts = [self.programs[program], *(self.libraries.get(name, []) for name in libraries)]
        self.work.count(COMPARISON * sum(map(len, parts)))
        return [source for part in parts for source in part]

    def read(self, folder: str, parent: dict[str, str]) -> None:
        """Reads the CMakeLists.txt of a folder and of its subfolders.

        `parent` has the variables of the enclosing scope, in which the folder may set variables.
        """
        path = self.root / folder / CMAKE_FILE
        self._files += 1
        is_outside = folder.partition("/")[0] == ".."
        if is_outside or self._files > _MAX_CMAKE_FILES or not path.is_file():
            return
        text = path.read_bytes()[:_MAX_BYTES].decode(errors="replace")
        self.work.count(len(text))
        text = _CMAKE_COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else "", text)
        here = {
            **parent,
            **dict.fromkeys(("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR"), _ROOT + folder),
            **dict.fromkeys(("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"), _ROOT),
        }
        for name, arguments in _COMMAND.findall(text):
            self.work.count(len(arguments))
            text = self.work.expanded(
                _IN_BUILDS.sub(r"\1", arguments),
                _CMAKE_REFERENCE,
                lambda found: here.get(found[1], ""),
            )
            words = [plain or quoted[1:].removesuffix('"') for quoted, plain in _WORD.findall(text)]
            if words:
                self._take(name.lower(), words, folder, here, parent)

    def _take(
        self,
        command: str,
        words: list[str],
        folder: str,
        here: dict[str, str],
        parent: dict[str, str],
    ) -> None:
        first, rest = words[0], [word for word in words[1:] if word not in _KEYWORDS]
        if command == "project":
            here["PROJECT_NAME"] = first
        elif command == "set":
            scope = parent if rest[-1:] == ["PARENT_SCOPE"] else here
            scope[first] = ";".join(_before(rest, "PARENT_SCOPE", "CACHE"))[:_MAX_VALUE]
        elif command == "list" and first == "APPEND" and rest:
            here[rest[0]] = ";".join([here.get(rest[0], ""), *rest[1:]])[:_MAX_VALUE]
            self.work.count(len(here[rest[0]]))
        elif command == "list" and first == "REMOVE_ITEM" and rest:
            before = here.get(rest[0], "").split(";")
            self.work.count(COMPARISON * (len(before) + len(rest)))
            gone = {_at(folder, word) for word in rest[1:]}
            here[rest[0]] = ";".join(word for word in before if _at(folder, word) not in gone)
        elif command == "file" and first in ("GLOB", "GLOB_RECURSE") and rest:
            patterns = rest[3:] if rest[1:2] == ["RELATIVE"] else rest[1:]
            named = [_at(folder, word) for word in patterns]
            found = self.work.glob(self.root, named, deep=first == "GLOB_RECURSE")
            here[rest[0]] = ";".join(_ROOT + path for path in found)
        elif command == "add_library" and rest[:1] == ["ALIAS"]:
            self.links[first] = rest[1:]
        elif command in ("add_executable", "add_library"):
            kind = self.programs if command == "add_executable" else self.libraries
            kind[first] = [_at(folder, word) for word in rest]
        elif command == "target_sources":
            kind = self.programs if first in self.programs else self.libraries
            kind.setdefault(first, []).extend(_at(folder, word) for word in rest)
        elif command == "target_link_libraries":
            self.links.setdefault(first, []).extend(rest)
        elif command in ("include_directories", "target_include_directories"):
            own = rest if command.startswith("target") else [first, *rest]
            self.includes += [_at(folder, word) for word in own if word not in _KEYWORDS]
        elif command in ("add_definitions", "add_compile_definitions"):
            self.defines += [word.removeprefix("-D") for word in words]
        elif command == "target_compile_definitions":
            self.defines += [word.removeprefix("-D") for word in rest]
        elif command == "add_subdirectory":
            self.read(_at(folder, first), here)


def read_cmake(root: Path) -> CMake:
    """Reads the CMakeLists.txt of a tree and of its subdirectories."""
    found = CMake(root)
    found.read("", {})
    return found


def _before(words: list[str], *ends: str) -> list[str]:
    return words[: next((n for n, word in enumerate(words) if word in ends), None)]


def _at(folder: str, word: str) -> str:
    """Returns a path named in a folder's file, relative to the tree's root; `.` for the root."""
    path = word.lstrip("/") if word.startswith(_ROOT) else f"{folder or '.'}/{word}"
    return os.path.normpath(path or ".")
