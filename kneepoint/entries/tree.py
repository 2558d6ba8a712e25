"""Recognizes the sender in an entry's tree: its dialect, sources and parameters.

The public kit has the folders `datagrump/` and `src/`; the kit of 2013 is flat, and has another
format of datagrams.
A file in Python either has a class with the controller's methods, which runs in the kit's loop, or
is a whole sender.
"""

import ast
import hashlib
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from kneepoint.common.errors import KneepointError
from kneepoint.entries.build_files import (
    CMAKE_FILE,
    COMPARISON,
    Makefile,
    Work,
    read_cmake,
    read_makefile,
)
from kneepoint.entries.config import EntryFile, load_entry_file
from kneepoint.entries.unpack import files_of

Language = Literal["c++", "python"]

C_SUFFIX = ".c"
SUFFIXES = (".cc", ".cpp", ".cxx", ".c++", ".cp", ".C", ".CC", ".CPP", C_SUFFIX)
"""Suffixes of sources in C++ and C."""
_METHODS = {"window_size", "datagram_was_sent", "ack_received", "timeout_ms"}
_MAX_PYTHON_BYTES = 2**17
_CONTINUED = re.compile(rb"\\\r?\n")
_LONG_IMPORT = re.compile(rb"\b(?:import|from)\b[\w\s.]{1000}")
"""The interpreter's parser needs memory quadratic in the length of a dotted name: 4 GB for
128 KB."""
_MAX_DEPTHS = (3, 10)
"""Depths of the search for a sender's folder; the second depth is for trees without a sender at the
first."""
_MAX_DATA = 16
_MAX_DATA_BYTES = 2**20
_QUOTED = re.compile(r'"([^"\n]{1,200})"')
_UPWARD = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(\.\./[^"\n]{1,200})"', re.MULTILINE)
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".ipp")
_OPENED = re.compile(
    r"""\b(?:open|Path)\(\s*["']([^"'\n]{1,200})["'](?!\s*,\s*(?:mode\s*=\s*)?["'][wax])"""
)
"""Files that a source in Python opens for reading."""
_DEFINED = re.compile(r"[A-Za-z_]\w{0,99}(?:=[^\x00-\x1f]{0,500})?")
_MAX_TEXT = 2**20
_MAKEFILES = ("Makefile.am", "GNUmakefile", "makefile", "Makefile")
_MAIN = re.compile(r"\bint\s+main\s*\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\b\d[\d']{0,30}(?:\.\d{1,30})?(?:[eE]\+?\d{1,2})?")
_DATES_S = range(1_200_000_000, 1_500_000_000)
"""Plausible epochs of the clocks of a kit of 2013 (s since 1970)."""
KIT = Path(__file__).parent / "kit"
"""A sender in the layout of the public kit, with its receiver."""
_PUBLIC_RECEIVERS = (
    "eb8c985ca77f71aca61ba8b90725f142e0be1520c623189cc300daa7bb25138f",
    "6a94305ac5568d4a2c77123e9aaed0ece2fdd518e519656ff1094f0c2772a3eb",
)
"""Digests of the public kit's receivers, the second without SO_REUSEADDR (see `_code_digest`)."""


@dataclass(frozen=True)
class Tree:
    """An entry's sender.

    Args:
        root: folder to which paths are relative.
        language: language of the sender.
        library: sources that see only their own folder, like the sources in src/.
        sources: all other sources.
        includes: include directories.
        defines: macros of `sources`, NAME or NAME=VALUE.
        data: files that its sources name and may read in a run.
        objects: object files of ours that are linked with its own.
        dialect: format of its datagrams (see Entry); "": the kit's.
        clock_epoch_ms: offset that its clocks subtract from the date (ms since 1970); None: its
            clocks begin at 0.
        own_receiver: whether it has a receiver other than the kit's.
        declared: the content of its kneepoint.yaml.
    """

    root: Path
    language: Language
    library: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()
    includes: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    data: tuple[Path, ...] = ()
    objects: tuple[Path, ...] = ()
    dialect: str = ""
    clock_epoch_ms: int | None = None
    own_receiver: bool = False
    declared: EntryFile = field(default_factory=EntryFile)


def recognize(folder: Path) -> Tree:
    """Finds the sender in a tree.

    Raises:
        KneepointError: the tree has no sender, or a malformed kneepoint.yaml.
    """
    tree = _find_sender(folder)
    data = _data_of(tree, _QUOTED if tree.language == "c++" else _OPENED)
    if data and tree.language == "python":
        raise KneepointError(
            f"opens {data[0].name}, but a sender in Python cannot read files; put the data into "
            "the source"
        )
    return replace(tree, declared=load_entry_file(tree.root), data=data)


def _data_of(tree: Tree, naming: re.Pattern[str]) -> tuple[Path, ...]:
    """Returns the files, neither sources nor headers, that the sources name."""
    quoted = {
        name.rpartition("/")[2]
        for path in (*tree.sources, *tree.library)
        for name in naming.findall(_text(path))
    }
    found: dict[str, Path] = {}
    size = 0
    for path in files_of(tree.root):
        is_code = path.suffix in (*SUFFIXES, *_HEADERS)
        if path.name not in quoted or is_code or path.name in found:
            continue
        size += path.stat().st_size
        if len(found) == _MAX_DATA or size > _MAX_DATA_BYTES:
            raise KneepointError(
                f"has more than {_MAX_DATA} files or {_MAX_DATA_BYTES // 2**20} MiB to read in a "
                f"run, such as {path.name}; put them into the source"
            )
        found[path.name] = path
    return tuple(found.values())


def _find_sender(folder: Path) -> Tree:
    problems: list[str] = []
    for depth in _MAX_DEPTHS:
        for root in _levels(folder, depth):
            if (root / "datagrump").is_dir():
                return _of_kit(root)
            found = _of_cmake(root) or _of_makefile(root, folder) or _flat(root, folder)
            if found is not None:
                return found
        for root in _levels(folder, depth):
            found = _python(root, problems)
            if found is not None:
                return found
    raise KneepointError(
        problems[0]
        if problems
        else "has no sender: neither datagrump/sender.cc, nor a main function in C or C++, nor a "
        "class in Python with window_size, datagram_was_sent, ack_received and timeout_ms"
    )


def _levels(folder: Path, depth: int) -> Iterator[Path]:
    """Yields the folder and its descendants by depth: archives often have a top folder."""
    level = [folder]
    for _ in range(depth):
        yield from level
        level = [each for root in level for each in sorted(root.iterdir()) if each.is_dir()]


def _of_kit(root: Path) -> Tree:
    place = root / "datagrump"
    makefile = place / "Makefile.am"
    named = _named_sources(root, makefile, "sender_SOURCES")
    if named is None and (found := _of_cmake(root) or _of_cmake(place)) is not None:
        return found
    sources = [path for path in named or _sources_in(place) if path.suffix in SUFFIXES]
    if named is None:
        sources = [path for path in sources if not _receives(path)]
    if not any(_has_main(path) for path in sources):
        raise KneepointError("has no sender: no file of datagrump/ has a main function")
    if sum(map(_has_main, sources)) > 1:
        mains = ", ".join(path.name for path in sources if _has_main(path))
        raise KneepointError(f"has several main functions: {mains}; name sources in Makefile.am")
    src = root / "src"
    sources += _of_libraries(root, makefile, src)
    own = _named_sources(root, src / "Makefile.am", "libsourdough_a_SOURCES")
    library = (_sources_in(src) if own is None else own) if src.is_dir() else []
    includes, defines = _flags(root, [read_makefile(makefile, root)])
    standard = (src, place, root) if src.is_dir() else (place, root)
    return Tree(
        root,
        "c++",
        library=tuple(path for path in library if path.suffix in SUFFIXES),
        sources=tuple(dict.fromkeys(path for path in sources if path.suffix in SUFFIXES)),
        includes=_each_once(standard, includes),
        defines=defines,
        own_receiver=_is_foreign(place / "receiver.cc"),
    )


def _of_libraries(root: Path, makefile: Path, src: Path) -> list[Path]:
    """The sources of libraries that Makefile.am links with the sender, except src/'s library."""
    found: list[Path] = []
    senders, sources_in = read_makefile(makefile, root), cache(_sources_in)
    for word in senders.words_of("sender_LDADD"):
        library = Path(os.path.normpath(makefile.parent.resolve() / word))
        place = library.parent
        if not word.endswith((".a", ".la")) or place == src.resolve() or not place.is_dir():
            continue
        _require_within(root, place, makefile)
        variable = re.sub(r"\W", "_", library.name) + "_SOURCES"
        named = _named_sources(root, place / "Makefile.am", variable, senders.work)
        of_library = sources_in(place) if named is None else named
        senders.work.count(len(of_library))
        found += of_library
    return found


def _of_cmake(root: Path) -> Tree | None:
    """Returns the tree of the sending program in CMakeLists.txt; None without one."""
    if not (root / CMAKE_FILE).is_file():
        return None
    read, has_main = read_cmake(root), cache(_has_main)

    @cache
    def source(word: str) -> Path | None:
        path = _within(root, word)
        return path if path and path.suffix in SUFFIXES and path.is_file() else None

    found = []
    for program in read.programs:
        sources = [path for word in read.sources_of(program) if (path := source(word))]
        mains = [path for path in sources if has_main(path)]
        if len(mains) == 1 and not _receives(mains[0]):
            is_other = "sender" not in f"{program} {mains[0].stem}".lower()
            found.append((is_other, program, tuple(dict.fromkeys(sources))))
    if not found:
        return None
    _, _, sources_of_sender = min(found)
    folders = [path for word in read.includes if (path := _within(root, word)) and path.is_dir()]
    return _program(root, sources_of_sender, folders, read.defines)


def _of_makefile(root: Path, top: Path) -> Tree | None:
    """Returns the tree of the sending program in a makefile; None without one."""
    found: set[tuple[bool, int, tuple[Path, ...]]] = set()
    makefiles = _makefiles(root, _top_of_automake(root, top))
    named, has_main = cache(_named_in(root)), cache(_has_main)
    for makefile in makefiles:
        for words in makefile.programs():
            every = {source for word in words for source in named(word)}
            makefile.work.count(COMPARISON * len(every))
            sources = tuple(sorted(every))
            mains = [source for source in sources if has_main(source)]
            if len(mains) == 1 and not any(map(_receives, mains)):
                is_other = "sender" not in mains[0].stem.lower()
                found.add((is_other, -len(sources), sources))
    if not found:
        return None
    return _program(root, min(found)[2], *_flags(top, makefiles), top)


def _makefiles(root: Path, top: Path) -> list[Makefile]:
    return [read_makefile(root / name, top) for name in _MAKEFILES]


def _top_of_automake(root: Path, top: Path) -> Path:
    """Automake's top_srcdir: the nearest folder with a configure.ac, or else `root`."""
    above = [root, *(each for each in root.parents if each.is_relative_to(top))]
    named = ("configure.ac", "configure.in")
    return next((each for each in above if any((each / name).is_file() for name in named)), root)


def _flat(root: Path, top: Path) -> Tree | None:
    """Returns the tree of a folder whose sources have a main function; None without one."""
    sources = [path for path in _sources_in(root) if not _receives(path)]
    mains = [path for path in sources if _has_main(path)]
    if not mains:
        return None
    if len(mains) > 1:  # the kit of 2013 has several programs
        sender = [path for path in mains if "sender" in path.name]
        if len(sender) != 1:
            names = ", ".join(path.name for path in mains)
            raise KneepointError(
                f"has several main functions: {names}; leave one, or name its sources in a Makefile"
            )
        sources = [path for path in sources if path not in mains or path in sender]
    return _program(root, sources, *_flags(root, _makefiles(root, root)), top)


def _program(
    root: Path,
    sources: Sequence[Path],
    includes: Sequence[Path],
    defines: Sequence[str],
    top: Path | None = None,
) -> Tree:
    """A tree without the kit's layout; its headers may be in folders above `root`, up to `top`."""
    is_of_2013 = (root / "packet.hh").is_file()
    src = [path for path in (root / "src", root / "datagrump") if path.is_dir()]
    all_includes = _each_once([root], includes, src, [path.parent for path in sources])
    named = (Path(os.path.normpath(path)) for path in _included_from_above(sources))
    is_within = all(path.is_relative_to(root.resolve()) for path in (*all_includes, *named))
    return Tree(
        root if is_within or top is None else top,
        "c++",
        sources=tuple(sources),
        includes=all_includes,
        defines=tuple(defines),
        dialect="2013" if is_of_2013 else "",
        clock_epoch_ms=_epoch_ms(root) if is_of_2013 else None,
    )


def _included_from_above(sources: Iterable[Path]) -> Iterator[Path]:
    """Yields the headers that sources include from folders above their own."""
    for source in sources:
        for name in _UPWARD.findall(_text(source)):
            yield source.resolve().parent / name


def _each_once(*folders: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(path.resolve() for each in folders for path in each))


def _flags(top: Path, makefiles: Iterable[Makefile]) -> tuple[list[Path], tuple[str, ...]]:
    """Returns the include directories within `top`, and the macros, in the flags of makefiles."""
    folders, defines = [], []
    for makefile in makefiles:
        for option, value in pairwise([*makefile.flags(), ""]):
            text = value if option in ("-I", "-D", "-isystem") else option[2:]
            if option.startswith(("-I", "-isystem")):
                path = _within(top, makefile.path.parent.resolve() / text)
                folders += [path] if path and path.is_dir() else []
            elif option.startswith("-D") and _DEFINED.fullmatch(text):
                defines.append(text)
    return folders, tuple(dict.fromkeys(defines))


def _named_sources(
    root: Path, makefile: Path, variable: str, work: Work | None = None
) -> list[Path] | None:
    """Returns the files in a variable of Makefile.am; None without the file or the variable."""
    place, read = makefile.parent, read_makefile(makefile, root, work)
    words = read.words_of(variable)
    if not words:
        return None
    read.work.count(COMPARISON * len(words))
    inside = place.resolve()
    paths = [Path(os.path.normpath(inside / word)) for word in words if "$" not in word]
    for path in paths:
        _require_within(root, path, makefile)
        if not path.is_file():
            raise KneepointError(
                f"{place.name}/Makefile.am names {path.name}, which is missing{_hint(root, path)}"
            )
    return list(dict.fromkeys(paths))


def _require_within(root: Path, path: Path, makefile: Path) -> None:
    if not path.is_relative_to(root.resolve()):
        where = f"{makefile.parent.name}/Makefile.am"
        raise KneepointError(f"{where} names {path.name}, which is outside the tree; move it there")


def _hint(root: Path, path: Path) -> str:
    """The remedy for a missing file, which may be in a submodule, that git does not archive."""
    has_submodules = (root / ".gitmodules").is_file()
    empty = not path.parent.is_dir() or not any(path.parent.iterdir())
    return "; it is a submodule's: commit its files" if has_submodules and empty else "; add it"


def _within(root: Path, word: str | Path) -> Path | None:
    """Returns the path that a file of the tree names; None if it is outside the tree."""
    path = Path(os.path.normpath(root.resolve() / word))
    return path if path.is_relative_to(root.resolve()) else None


def _sources_in(folder: Path, which: str = "*") -> list[Path]:
    return [
        path.resolve()
        for path in sorted(folder.glob(which))
        if path.suffix in SUFFIXES and not path.name.startswith(".") and path.is_file()
    ]


def _named_in(root: Path) -> Callable[[str], list[Path]]:
    """Returns a function that finds the sources in a folder by a word: a source or its object file.

    An object in another folder than its source counts if only one source has its name.
    """
    sources = {
        path.relative_to(root.resolve()).as_posix(): path for path in _sources_in(root, "**/*")
    }
    by_name: dict[str, list[Path]] = {}
    for path in sources.values():
        by_name.setdefault(path.name, []).append(path)

    def named(word: str) -> list[Path]:
        name = posixpath.normpath(word)
        found = [sources[name]] if name in sources else []
        stem, _, ending = name.rpartition(".")
        if ending in ("o", "lo", "obj"):
            beside = [sources[stem + each] for each in SUFFIXES if stem + each in sources]
            base = stem.rpartition("/")[2]
            others = [path for each in SUFFIXES for path in by_name.get(base + each, ())]
            found += beside or (others if len(others) == 1 else [])
        return found

    return named


def _epoch_ms(root: Path) -> int:
    """The clocks' epoch in a kit of 2013 (ms since 1970): a date in its timestamp.cc or .hh."""
    for text in (_text(root / f"timestamp{each}") for each in (".cc", ".hh")):
        for number in map(_value, _NUMBER.findall(_COMMENT.sub("", text))):
            for per_s in (10**9, 10**6, 10**3, 1):
                if number // per_s in _DATES_S:
                    return int(number * 1000 // per_s)
    return 0


def _value(number: str) -> int:
    return int(float(number)) if re.search("[.eE]", number) else int(number.replace("'", ""))


def _receives(path: Path) -> bool:
    return "receiver" in path.stem.lower()


def _has_main(path: Path) -> bool:
    return _MAIN.search(_text(path)) is not None


def _text(path: Path) -> str:
    """Returns the text of a file, cut off if it is long; "" without the file."""
    try:
        with path.open("rb") as file:
            return file.read(_MAX_TEXT).decode(errors="replace")
    except FileNotFoundError:
        return ""


def _is_foreign(receiver: Path) -> bool:
    if not receiver.is_file():
        return False
    known = (*_PUBLIC_RECEIVERS, _code_digest(KIT / "datagrump/receiver.cc"))
    return _code_digest(receiver) not in known


def _code_digest(source: Path) -> str:
    """Returns the digest of a source without its comments and spaces."""
    code = _COMMENT.sub("", _text(source))
    return hashlib.sha256("".join(code.split()).encode()).hexdigest()


def _python(root: Path, problems: list[str]) -> Tree | None:
    """The tree of a sender in Python, None without one; adds syntax errors to `problems`."""
    senders = []
    read_bytes = 0
    for path in sorted(root.glob("[!.]*.py")):
        if path.stat().st_size > _MAX_PYTHON_BYTES:
            continue
        content = path.read_bytes()
        read_bytes += len(content)
        if read_bytes > _MAX_PYTHON_BYTES:
            raise KneepointError("has too much Python; keep only the sender, which is one file")
        if _LONG_IMPORT.search(_CONTINUED.sub(b"", content)):
            raise KneepointError(f"{path.name}: imports a name of more than 1000 characters")
        try:
            module = ast.parse(content)
        except SyntaxError as error:
            line = f", line {error.lineno}" if error.lineno else ""
            problems.append(f"has no sender: {path.name}{line}: {error.msg}")
            continue
        except (ValueError, RecursionError, MemoryError):
            continue
        for each in module.body:
            if not isinstance(each, ast.ClassDef):
                continue
            if {part.name for part in each.body if isinstance(part, ast.FunctionDef)} >= _METHODS:
                if each.name != "Controller":
                    raise KneepointError(f"{path.name}: name the class Controller, not {each.name}")
                return Tree(root, "python", sources=(path,))
        if "receiver" not in path.stem and _imports(module, "socket"):
            senders.append(path)
    if not senders:
        return None
    return Tree(root, "python", sources=(senders[0],))


def _imports(module: ast.Module, name: str) -> bool:
    return any(
        (isinstance(each, ast.Import) and any(alias.name == name for alias in each.names))
        or (isinstance(each, ast.ImportFrom) and each.module == name)
        for each in ast.walk(module)
    )
