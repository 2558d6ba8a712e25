"""Reads the sources of programs from CMakeLists.txt, without running CMake."""

import os.path
import re
from dataclasses import dataclass, field
from pathlib import Path

from kneepoint.entries.makefile import COMPARISON, MAX_BYTES, MAX_VALUE, Work, expanded, glob_in

FILE = "CMakeLists.txt"
_TEXT = r'"(?:[^"\\]|\\[\s\S])*(?:"|\\?\Z)'
"""Quoted text. The pattern is unambiguous: backtracking in an entry's file could take years."""
_COMMENT = re.compile(_TEXT + r"|#\[\[.*?(?:\]\]|\Z)|#[^\n]*", re.DOTALL)
_COMMAND = re.compile(rf'\b([A-Za-z_]\w*)\s*\(((?:[^()"]|{_TEXT}|\([^()]*\))*)\)')
_WORD = re.compile(rf'({_TEXT})|([^\s;"]+)')
_REFERENCE = re.compile(r"\$\{(\w+)\}")
_IN_BUILDS = re.compile(r"\$<BUILD_INTERFACE:([^<>]*)>")
_KEYWORDS = frozenset(
    "PUBLIC PRIVATE INTERFACE STATIC SHARED OBJECT MODULE WIN32 MACOSX_BUNDLE SYSTEM BEFORE AFTER "
    "EXCLUDE_FROM_ALL CONFIGURE_DEPENDS".split()
)
_ROOT = "//"
"""Prefix of paths relative to the tree's root in values of variables; unused in real files."""
_MAX_FILES = 50


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
        found = list(self.programs[program])
        pending, seen = list(self.links.get(program, [])), set()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                found += self.libraries.get(name, [])
                pending += self.links.get(name, [])
        return found

    def read(self, folder: str, parent: dict[str, str]) -> None:
        """Reads the CMakeLists.txt of a folder and of its subfolders.

        `parent` has the variables of the enclosing scope, in which the folder may set variables.
        """
        path = self.root / folder / FILE
        self._files += 1
        if self._files > _MAX_FILES or not path.is_file():
            return
        text = path.read_bytes()[:MAX_BYTES].decode(errors="replace")
        self.work.count(len(text))
        text = _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else "", text)
        here = {
            **parent,
            **dict.fromkeys(("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR"), _ROOT + folder),
            **dict.fromkeys(("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"), _ROOT),
        }
        for name, arguments in _COMMAND.findall(text):
            words = _words(arguments, here, self.work)
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
            scope[first] = ";".join(_before(rest, "PARENT_SCOPE", "CACHE"))[:MAX_VALUE]
        elif command == "list" and first == "APPEND" and rest:
            here[rest[0]] = ";".join([here.get(rest[0], ""), *rest[1:]])[:MAX_VALUE]
            self.work.count(len(here[rest[0]]))
        elif command == "list" and first == "REMOVE_ITEM" and rest:
            before = here.get(rest[0], "").split(";")
            self.work.count(COMPARISON * (len(before) + len(rest)))
            gone = {_at(folder, word) for word in rest[1:]}
            here[rest[0]] = ";".join(word for word in before if _at(folder, word) not in gone)
        elif command == "file" and first in ("GLOB", "GLOB_RECURSE") and rest:
            patterns = rest[3:] if rest[1:2] == ["RELATIVE"] else rest[1:]
            found = glob_in(
                self.root,
                [_at(folder, word) for word in patterns],
                self.work,
                deep=first == "GLOB_RECURSE",
            )
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


def _words(text: str, variables: dict[str, str], work: Work) -> list[str]:
    work.count(len(text))
    text = _IN_BUILDS.sub(r"\1", text)
    text = expanded(text, _REFERENCE, lambda found: variables.get(found[1], ""), work)
    return [plain or quoted[1:].removesuffix('"') for quoted, plain in _WORD.findall(text)]


def _before(words: list[str], *ends: str) -> list[str]:
    return words[: next((n for n, word in enumerate(words) if word in ends), None)]


def _at(folder: str, word: str) -> str:
    """Returns a path named in a folder's file, relative to the tree's root; `.` for the root."""
    path = word.lstrip("/") if word.startswith(_ROOT) else f"{folder or '.'}/{word}"
    return os.path.normpath(path or ".")
