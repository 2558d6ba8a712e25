"""Reads which sources make a program from CMakeLists.txt, without running CMake."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from contest.makefile import MOST_BYTES, MOST_VALUE, Work, expanded, glob_in

FILE = "CMakeLists.txt"
_COMMENT = re.compile(r'"(?:[^"\\]|\\.?)*(?:"|\Z)|#\[\[.*?(?:\]\]|\Z)|#[^\n]*', re.DOTALL)
_COMMAND = re.compile(
    r"\b([A-Za-z_]\w*)\s*\(((?:[^()\"]|\"(?:[^\"\\]|\\.?)*(?:\"|\Z)|\([^()]*\))*)\)"
)
_WORD = re.compile(r'"((?:[^"\\]|\\.?)*)(?:"|\Z)|([^\s;"]+)')
_REFERENCE = re.compile(r"\$\{(\w+)\}")
_KEYWORDS = frozenset(
    "PUBLIC PRIVATE INTERFACE STATIC SHARED OBJECT MODULE WIN32 SYSTEM BEFORE AFTER".split()
)
_MOST_FILES = 50


@dataclass
class CMake:
    """The content of a tree's files; all paths are as written, from the tree's root.

    Args:
        programs: sources of each executable.
        libraries: sources of each library.
        links: libraries of each target.
        includes: folders of headers, of all targets.
        defines: macros, NAME or NAME=VALUE, of all targets.
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
        found = list(self.programs[program])
        pending, seen = list(self.links.get(program, [])), set()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                found += self.libraries.get(name, [])
                pending += self.links.get(name, [])
        return found

    def read(self, folder: str, variables: dict[str, str]) -> None:
        """Reads the CMakeLists.txt of a folder and of its subfolders."""
        path = self.root / folder / FILE
        self._files += 1
        if self._files > _MOST_FILES or not path.is_file():
            return
        text = path.read_bytes()[:MOST_BYTES].decode(errors="replace")
        self.work.count(len(text))
        text = _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else "", text)
        here = {
            **variables,
            **dict.fromkeys(("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR"), "."),
            **dict.fromkeys(("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"), self._up(folder)),
        }
        for name, arguments in _COMMAND.findall(text):
            words = _words(arguments, here, self.work)
            if words:
                self._take(name.lower(), words, folder, here)

    def _take(self, command: str, words: list[str], folder: str, here: dict[str, str]) -> None:
        first, rest = words[0], [word for word in words[1:] if word not in _KEYWORDS]
        if command == "project":
            here["PROJECT_NAME"] = first
        elif command == "set":
            here[first] = ";".join(rest)[:MOST_VALUE]
        elif command == "list" and first == "APPEND" and rest:
            here[rest[0]] = ";".join([here.get(rest[0], ""), *rest[1:]])[:MOST_VALUE]
            self.work.count(len(here[rest[0]]))
        elif command == "file" and first in ("GLOB", "GLOB_RECURSE") and rest:
            patterns = [word for word in rest[1:] if word != "CONFIGURE_DEPENDS"]
            place = self.root / folder
            here[rest[0]] = ";".join(
                glob_in(place, patterns, self.work, deep=first == "GLOB_RECURSE")
            )
        elif command == "add_executable":
            self.programs[first] = [self._at(folder, word) for word in rest]
        elif command == "add_library":
            self.libraries[first] = [self._at(folder, word) for word in rest]
        elif command == "target_sources":
            kind = self.programs if first in self.programs else self.libraries
            kind.setdefault(first, []).extend(self._at(folder, word) for word in rest)
        elif command == "target_link_libraries":
            self.links.setdefault(first, []).extend(rest)
        elif command in ("include_directories", "target_include_directories"):
            own = rest if command.startswith("target") else [first, *rest]
            self.includes += [self._at(folder, word) for word in own if word not in _KEYWORDS]
        elif command in ("add_definitions", "add_compile_definitions"):
            self.defines += [word.removeprefix("-D") for word in words]
        elif command == "target_compile_definitions":
            self.defines += [word.removeprefix("-D") for word in rest]
        elif command == "add_subdirectory":
            self.read(self._at(folder, first), dict(here))

    @staticmethod
    def _up(folder: str) -> str:
        return "/".join(".." for part in folder.split("/") if part not in ("", ".")) or "."

    @staticmethod
    def _at(folder: str, word: str) -> str:
        return word if folder in ("", ".") else f"{folder}/{word}"


def read_cmake(root: Path) -> CMake:
    """Reads the CMakeLists.txt of a folder and of each add_subdirectory in it."""
    found = CMake(root)
    found.read("", {})
    return found


def _words(text: str, variables: dict[str, str], work: Work) -> list[str]:
    work.count(len(text))
    text = expanded(text, _REFERENCE, lambda found: variables.get(found[1], ""), work)
    return [quoted or plain for quoted, plain in _WORD.findall(text)]
