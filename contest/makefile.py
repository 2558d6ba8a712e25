"""Reads which sources make a program from a Makefile or an automake file, without running it."""

import re
from collections.abc import Iterator, Sized
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from common.errors import KneepointError

_MOST_BYTES = 2**16
_MOST_VALUE = 10_000
_MOST_ROUNDS = 10
_MOST_WORK = 10_000_000
"""Characters, words and (twenty each) comparisons with patterns, for all that a file is asked."""
_ASSIGNMENT = re.compile(r"\s*([\w.-]+)\s*(\+|\?|::?)?=\s*(.*)")
_REFERENCE = re.compile(r"\$[({]([^(){}$]*)[)}]")
_PARTS = (".o", ".lo", ".d")
_Sized = TypeVar("_Sized", bound=Sized)
_FILTERS = {"patsubst", "filter", "sort", "strip", "addprefix", "addsuffix", "notdir", "basename"}
"""Functions of make whose last argument has the names; an ending does not matter here."""


@dataclass(frozen=True)
class Makefile:
    """What a file says: values of variables, and what each target is made of, as written."""

    path: Path
    variables: dict[str, str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    _work: list[int] = field(default_factory=lambda: [0])

    def words_of(self, variable: str) -> list[str]:
        """Returns the words of a variable's value."""
        return self._expand(self.variables.get(variable, "")).split()

    def programs(self) -> Iterator[list[str]]:
        """Yields the words from which each target is made, directly or through other targets."""
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
                for word in self._counted(made_of.get(pending.pop(), ())):
                    if word not in found:
                        found[word] = None
                        pending.append(word)
            yield list(found)

    def _expand(self, text: str) -> str:
        for _ in range(_MOST_ROUNDS):
            before, text = text, _REFERENCE.sub(self._value, text)[:_MOST_VALUE]
            if self._counted(text) == before:
                break
        return text

    def _counted(self, looked_at: _Sized) -> _Sized:
        """Returns what is looked at; raises KneepointError if all together is too much."""
        self._work[0] += len(looked_at)
        if self._work[0] > _MOST_WORK:
            raise KneepointError(f"{self.path.name} is too complicated; name the sources alone")
        return looked_at

    def _value(self, found: re.Match[str]) -> str:
        function, blank, arguments = found[1].strip().partition(" ")
        if not blank:
            return self._counted(
                self.variables.get(function.partition(":")[0], "")
            )  # $(NAME:.cc=.o)
        first, _, last = arguments.rpartition(",")
        if function == "wildcard":
            return " ".join(self._chosen(self._names, arguments.split(), is_match=True))
        if function == "filter-out":
            patterns = first.replace("%", "*").split()
            return " ".join(self._chosen(last.split(), patterns, is_match=False))
        return last if function in _FILTERS else ""

    @cached_property
    def _names(self) -> list[str]:
        return sorted(path.name for path in self.path.parent.iterdir())

    def _chosen(self, names: list[str], patterns: list[str], *, is_match: bool) -> list[str]:
        self._counted(range(20 * len(names) * len(patterns)))
        return [name for name in names if _matches(name, patterns) == is_match]


def read_makefile(path: Path) -> Makefile:
    """Reads a file's assignments and rules; commands are left out."""
    makefile = Makefile(path)
    text = path.read_bytes()[:_MOST_BYTES].decode(errors="replace").replace("\\\n", " ")
    for line in text.split("\n"):
        line = line.partition("#")[0]
        if line.startswith("\t"):
            continue
        if found := _ASSIGNMENT.fullmatch(line):
            name, operator, value = found.groups()
            before = f"{makefile.variables.get(name, '')} " if operator == "+" else ""
            makefile.variables[name] = f"{before}{value}"[:_MOST_VALUE]
            continue
        targets, colon, words = line.partition(":")
        words = words.removeprefix(":").partition(";")[0].replace("|", " ")
        if colon and "%" not in targets:
            before = makefile.rules.get(targets, "")
            makefile.rules[targets] = f"{before} {words}"[:_MOST_VALUE]
    return makefile


def _matches(word: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(word, pattern) for pattern in patterns)
