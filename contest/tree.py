"""Recognizes the sender in an entry's tree: its dialect, sources and parameters.

The public kit's layout has `datagrump/` and `src/`; that of 2013 is flat, and its datagrams differ.
A file in Python either has a class with the controller's methods, which runs in the kit's loop, or
is a whole sender.
"""

import ast
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from common.errors import KneepointError
from contest.config import EntryFile, load_entry_file
from contest.makefile import read_makefile

Language = Literal["c++", "python"]

SUFFIXES = (".cc", ".cpp", ".cxx", ".c++", ".C")
"""Of sources in C++."""
_METHODS = {"window_size", "datagram_was_sent", "ack_received", "timeout_ms"}
_MOST_PYTHON_BYTES = 2**17
_CONTINUED = re.compile(rb"\\\r?\n")
_LONG_IMPORT = re.compile(rb"\b(?:import|from)\b[\w\s.]{1000}")
"""For a dotted name the interpreter's parser needs the square of its length, 4 GB for 128 KB."""
_MOST_DEPTH = 3
_MOST_TEXT = 2**20
_MAKEFILES = ("Makefile.am", "GNUmakefile", "makefile", "Makefile")
_MAIN = re.compile(r"\bint\s+main\s*\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\b\d[\d']{0,30}(?:\.\d{1,30})?(?:[eE]\+?\d{1,2})?")
_DATES_S = range(1_200_000_000, 1_500_000_000)
"""From which the clocks of a kit of 2013 may count."""
_KIT = Path(__file__).parent / "kit"
_PUBLIC_RECEIVERS = (
    "eb8c985ca77f71aca61ba8b90725f142e0be1520c623189cc300daa7bb25138f",
    "6a94305ac5568d4a2c77123e9aaed0ece2fdd518e519656ff1094f0c2772a3eb",
)
"""Digests of the public kit's receivers, the second without SO_REUSEADDR (see `_code_digest`)."""


@dataclass(frozen=True)
class Tree:
    """An entry's sender.

    Args:
        root: folder that paths are relative to.
        language: of the sender.
        library: sources that see only their own folder, like those of src/.
        sources: the others.
        includes: folders of headers.
        archives: of ours, that its objects are linked with.
        dialect: of its datagrams, as the engines call it; "": the kit's.
        clock_epoch_ms: what its clocks subtract from the date; None: they begin at 0.
        own_receiver: whether it brings a receiver that is not the kit's.
        declared: what its kneepoint.yaml says.
    """

    root: Path
    language: Language
    library: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()
    includes: tuple[Path, ...] = ()
    archives: tuple[Path, ...] = ()
    dialect: str = ""
    clock_epoch_ms: int | None = None
    own_receiver: bool = False
    declared: EntryFile = field(default_factory=EntryFile)


def recognize(folder: Path) -> Tree:
    """Finds the sender.

    Raises:
        KneepointError: there is none; the message says what was expected. Or its kneepoint.yaml is
            malformed.
    """
    tree = _find_sender(folder)
    return replace(tree, declared=load_entry_file(tree.root))


def _find_sender(folder: Path) -> Tree:
    for root in _levels(folder):
        if (root / "datagrump").is_dir():
            return _of_kit(root)
        flat = [path for path in _sources_in(root) if _has_main(path) and not _receives(path)]
        if flat:
            return _flat(root)
    for root in _levels(folder):
        found = _python(root)
        if found is not None:
            return found
    raise KneepointError(
        "has no sender: neither datagrump/sender.cc, nor a flat tree with a main function, nor a "
        "class in Python with window_size, datagram_was_sent, ack_received and timeout_ms"
    )


def _levels(folder: Path) -> Iterator[Path]:
    """The folder, and those within it, nearest first: archives often have a top folder."""
    level = [folder]
    for _ in range(_MOST_DEPTH):
        yield from level
        level = [each for root in level for each in sorted(root.iterdir()) if each.is_dir()]


def _of_kit(root: Path) -> Tree:
    place = root / "datagrump"
    named = _named_sources(place, "sender_SOURCES")
    sources = [path for path in named or _sources_in(place) if path.suffix in SUFFIXES]
    if named is None:
        sources = [path for path in sources if not _receives(path)]
    if not any(_has_main(path) for path in sources):
        raise KneepointError("has no sender: no file of datagrump/ has a main function")
    if sum(map(_has_main, sources)) > 1:
        mains = ", ".join(path.name for path in sources if _has_main(path))
        raise KneepointError(f"has several main functions: {mains}; name sources in Makefile.am")
    src = root / "src"
    library = _named_sources(src, "libsourdough_a_SOURCES") if src.is_dir() else []
    if library is None:
        library = _sources_in(src)
    return Tree(
        root,
        "c++",
        library=tuple(path for path in library if path.suffix in SUFFIXES),
        sources=tuple(sources),
        includes=(src, place, root) if src.is_dir() else (place, root),
        own_receiver=_is_foreign(place / "receiver.cc"),
    )


def _flat(root: Path) -> Tree:
    is_of_2013 = (root / "packet.hh").is_file()
    sources = _sources_of_program(root) or [
        path for path in _sources_in(root) if not _receives(path)
    ]
    mains = [path for path in sources if _has_main(path)]
    if len(mains) > 1:  # the kit of 2013 has several programs
        sender = [path for path in mains if "sender" in path.name]
        if len(sender) != 1:
            names = ", ".join(path.name for path in mains)
            raise KneepointError(
                f"has several main functions: {names}; leave one, or name its sources in a Makefile"
            )
        sources = [path for path in sources if path not in mains or path in sender]
    return Tree(
        root,
        "c++",
        sources=tuple(sources),
        includes=(root,),
        dialect="2013" if is_of_2013 else "",
        clock_epoch_ms=_epoch_ms(root) if is_of_2013 else None,
    )


def _named_sources(place: Path, variable: str) -> list[Path] | None:
    """The files that Makefile.am names for a program; None if it is not there or names none."""
    makefile = place / "Makefile.am"
    if not makefile.is_file():
        return None
    words = read_makefile(makefile).words_of(variable)
    if not words:
        return None
    paths = [Path(os.path.normpath(place.resolve() / word)) for word in words if "$" not in word]
    for path in paths:
        if not path.is_relative_to(place.parent.resolve()):
            raise KneepointError(
                f"{place.name}/Makefile.am names {path.name}, which is outside the tree"
            )
        if not path.is_file():
            raise KneepointError(f"{place.name}/Makefile.am names {path.name}, which is missing")
    return list(dict.fromkeys(paths))


def _sources_in(folder: Path) -> list[Path]:
    return [path.resolve() for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES]


def _sources_of_program(root: Path) -> list[Path] | None:
    """The sources that a flat tree's makefile names for the sender; None if it names none."""
    found = set()
    for path in (root / name for name in _MAKEFILES):
        for words in read_makefile(path).programs() if path.is_file() else ():
            sources = tuple(sorted(set(_named_in(root, words))))
            mains = [source for source in sources if _has_main(source)]
            if len(mains) == 1 and not any(map(_receives, mains)):
                is_other = "sender" not in mains[0].stem.lower()
                found.add((is_other, -len(sources), sources))
    return list(min(found)[2]) if found else None


def _named_in(root: Path, words: Iterable[str]) -> Iterator[Path]:
    """The sources in a folder that words name, or the objects that they name are made of."""
    sources = {path.name: path for path in _sources_in(root)}
    for word in words:
        name = word.removeprefix("./")
        if name in sources:
            yield sources[name]
        stem, _, ending = name.rpartition(".")
        if ending in ("o", "lo"):
            yield from (sources[stem + each] for each in SUFFIXES if stem + each in sources)


def _epoch_ms(root: Path) -> int:
    """What the clocks of a kit that shows dates subtract: a date in its timestamp.cc or .hh."""
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
    """The text of a file, or its beginning; "" if there is none."""
    try:
        with path.open("rb") as file:
            return file.read(_MOST_TEXT).decode(errors="replace")
    except FileNotFoundError:
        return ""


def _is_foreign(receiver: Path) -> bool:
    if not receiver.is_file():
        return False
    known = (*_PUBLIC_RECEIVERS, _code_digest(_KIT / "datagrump/receiver.cc"))
    return _code_digest(receiver) not in known


def _code_digest(source: Path) -> str:
    """The digest of a source without its comments and spaces."""
    code = _COMMENT.sub("", _text(source))
    return hashlib.sha256("".join(code.split()).encode()).hexdigest()


def _python(root: Path) -> Tree | None:
    senders = []
    read_bytes = 0
    for path in sorted(root.glob("*.py")):
        if path.stat().st_size > _MOST_PYTHON_BYTES:
            continue
        content = path.read_bytes()
        read_bytes += len(content)
        if read_bytes > _MOST_PYTHON_BYTES:
            raise KneepointError("has too much Python; leave the sender, which is one file")
        if _LONG_IMPORT.search(_CONTINUED.sub(b"", content)):
            raise KneepointError(f"{path.name}: imports a name of more than 1000 characters")
        try:
            module = ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
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
