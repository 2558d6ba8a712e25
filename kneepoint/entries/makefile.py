"""Reads the sources of programs from a Makefile or an automake file, without running make."""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from kneepoint.common.errors import KneepointError

MAX_BYTES = 2**18
MAX_VALUE = 100_000
_MAX_ROUNDS = 10
_MAX_WORK = 10_000_000
COMPARISON = 20
"""Work of matching a name with a pattern, in characters (see Work)."""
_ASSIGNMENT = re.compile(r"\s*(?:(?:override|export)\s+)?([\w.-]+)\s*(\+|\?|::?)?=\s*(.*)")
_REFERENCE = re.compile(r"\$[({]([^(){}$]*)[)}]")
_PARTS = (".o", ".lo", ".d")
_FLAGS = (
    *("AM_CPPFLAGS", "AM_CXXFLAGS", "sender_CPPFLAGS", "sender_CXXFLAGS", "INCLUDES"),
    *("CPPFLAGS", "CXXFLAGS", "CFLAGS"),
)
"""Variables with the compiler's flags."""
_FILTERS = {"patsubst", "filter", "sort", "strip", "addprefix", "addsuffix", "notdir", "basename"}
"""Functions of make whose last argument contains the names of files; changes of suffixes do not
matter here."""


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
            for target in self._expand(targets).split():
                made_of.setdefault(target, []).extend(self._expand(words).split())
        for target in made_of:
            if target.endswith(_PARTS):
                continue
            found = dict.fromkeys([target])
            pending = [target]
            while pending:
                parts = made_of.get(pending.pop(), [])
                self.work.count(len(parts))
                for word in parts:
                    if word not in found:
                        found[word] = None
                        pending.append(word)
            yield list(found)

    def _expand(self, text: str) -> str:
        return expanded(text, _REFERENCE, self._value, self.work)

    def _value(self, found: re.Match[str]) -> str:
        function, blank, arguments = found[1].strip().partition(" ")
        if not blank:
            return self.variables.get(function.partition(":")[0], "")  # $(NAME:.cc=.o)
        first, _, last = arguments.rpartition(",")
        if function == "wildcard":
            return " ".join(self._names(arguments.split()))
        if function == "filter-out":
            patterns = first.replace("%", "*").split()
            self.work.count(COMPARISON * len(patterns) * len(last.split()))
            return " ".join(word for word in last.split() if not _matches(word, patterns))
        return last if function in _FILTERS else ""

    def _names(self, patterns: list[str]) -> list[str]:
        return glob_in(self.path.parent, patterns, self.work)


def read_makefile(path: Path, top: Path) -> Makefile:
    """Reads the assignments and rules of a file, without recipes.

    `top` is the root of the tree, automake's top_srcdir.
    """
    up = os.path.relpath(top, path.parent)
    makefile = Makefile(path)
    for prefix in ("", "abs_"):
        for name in ("srcdir", "builddir"):
            makefile.variables[f"{prefix}{name}"] = "."
            makefile.variables[f"{prefix}top_{name}"] = up
    makefile.variables["CURDIR"] = "."
    text = path.read_bytes()[:MAX_BYTES].decode(errors="replace").replace("\r\n", "\n")
    text = text.replace("\\\n", " ")
    for line in text.split("\n"):
        line = line.partition("#")[0]
        if line.startswith("\t"):
            continue
        if found := _ASSIGNMENT.fullmatch(line):
            name, operator, value = found.groups()
            before = f"{makefile.variables.get(name, '')} " if operator == "+" else ""
            makefile.variables[name] = f"{before}{value}"[:MAX_VALUE]
            continue
        targets, colon, words = line.partition(":")
        words = words.removeprefix(":").partition(";")[0].replace("|", " ")
        if colon and "%" not in targets:
            before = makefile.rules.get(targets, "")
            makefile.rules[targets] = f"{before} {words}"[:MAX_VALUE]
    return makefile


def expanded(
    text: str, reference: re.Pattern[str], value: Callable[[re.Match[str]], str], work: Work
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
            if size > MAX_VALUE:
                break
        if not parts:
            break
        text = "".join([*parts, text[end:]])[:MAX_VALUE]
        work.count(len(text))
    return text


def glob_in(folder: Path, patterns: Iterable[str], work: Work, *, deep: bool = False) -> list[str]:
    """Returns the sorted paths, relative to a folder, of files that match patterns."""
    found = set()
    for pattern in patterns:
        place, _, name = pattern.rpartition("/")
        if ".." in place.split("/") or pattern.startswith("/"):
            continue
        start = folder / place
        for path in start.rglob("*") if deep else start.glob("*"):
            work.count(COMPARISON)
            if path.is_file() and fnmatchcase(path.name, name):
                found.add(path.relative_to(folder).as_posix())
    return sorted(found)


def _matches(word: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(word, pattern) for pattern in patterns)
