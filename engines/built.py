"""Build targets and their C++ sources. Paths are relative to the repository."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from common import code
from engines.catalogue import SOURCES, Catalogue, load_catalogue

_ALL = Path("controllers")
EMULATE = Path("build/emulate")


def core_sources() -> list[Path]:
    """Returns the sources of the programs, which contain no controller."""
    return [
        path
        for path in sorted(_ALL.rglob("*"))
        if path.is_file()
        and "tests" not in path.parts
        and not (path.parent == SOURCES and path.suffix == ".cc")
    ]


def shared_sources() -> list[Path]:
    """Returns the sources that all controllers share."""
    shared = [path for path in SOURCES.iterdir() if path.suffix != ".cc"]
    return [*sorted(shared), _ALL / "CMakeLists.txt"]


def controller_sources(name: str, own: Path) -> list[Path]:
    """Returns the sources of a controller, which may be in the folder `own`."""
    source = own / f"{name}.cc"
    return [source if source.is_file() else SOURCES / f"{name}.cc", *shared_sources()]


def shared_object(controller: str) -> Path:
    """Returns the path of a controller's shared object."""
    return Path(f"build/controllers/{controller}.so")


def note_sources(name: str, sources: Sequence[Path]) -> Path:
    """Returns a file that is as old as the tokens of C++ sources (see common.code.note)."""
    since_ns = max(path.stat().st_mtime_ns for path in sources)
    return code.note(name, code.digest_of_cpp(sources), since_ns)


def is_newer(program: Path, note: Path) -> bool:
    """Returns whether a program exists and is newer than the last change of its sources' tokens."""
    return program.exists() and program.stat().st_mtime_ns > note.stat().st_mtime_ns


def settle(program: Path, note: Path) -> None:
    """Makes the note older than a program that the build found up to date."""
    if not is_newer(program, note):
        before_ns = program.stat().st_mtime_ns - 1
        os.utime(note, ns=(before_ns, before_ns))


def note_programs(controllers: Iterable[str], own: Path) -> Mapping[Path, Path]:
    """Returns the emulator and the shared objects of controllers, with notes of their sources.

    A controller without a source is left out. `own` is the folder of the configuration's own ones.
    """
    notes = {EMULATE: note_sources("core", core_sources())}
    for name in controllers:
        sources = controller_sources(name, own)
        if sources[0].is_file():
            notes[shared_object(name)] = note_sources(f"controller.{name}", sources)
    return notes


def current_catalogue(controllers: Iterable[str], own: Path) -> Catalogue | None:
    """Returns what controllers declare whose builds are up to date; None if the emulator's is not.

    Only such a build declares the parameters that its source has now.
    """
    notes = note_programs(controllers, own)
    if not is_newer(EMULATE, notes[EMULATE]):
        return None
    names = {program.stem for program, note in notes.items() if is_newer(program, note)}
    return load_catalogue(EMULATE).only(names)
