"""What was built, and whether from the present sources. Paths are relative to the repository.

controllers/build.sh writes into build/sources/NAME the digests of all that NAME was built of.
"""

from collections.abc import Iterable
from pathlib import Path

from kneepoint.common.files import sha256_of
from kneepoint.common.notes import place_of, renew
from kneepoint.engines.catalogue import (
    SOURCES,
    Catalogue,
    load_catalogue,
)
from kneepoint.engines.limits import LIMITS

CORE = "core"
"""The name of all programs together; every other name is a controller's."""
EMULATE = Path("build/emulate")
REPLAY = Path("build/replay")
PROGRAMS = (
    *(f"build/{name}" for limits in LIMITS.values() for name in limits.programs),
    *(EMULATE.as_posix(), REPLAY.as_posix(), "build/synthesize", "build/late_senders"),
    *("build/check_trace", "build/confine"),
    *("build/entry", "build/entry-sender", "build/python_entry.so", "build/python_entry_real.so"),
    *("build/python_sender.py", "build/libclass_sender.a"),
)
"""The paths of all programs."""

_ALL = Path("controllers")
_SCRIPT = Path("controllers/build.sh")
_BUILT_OF = Path("build/sources")


def sources_of(name: str, own: Path) -> list[Path]:
    """Returns the sources of a controller, which may be in `own`, or of all programs (CORE)."""
    if name == CORE:
        found = [
            path
            for path in _ALL.rglob("*")
            if path.is_file()
            and "tests" not in path.parts
            and not (path.parent == SOURCES and path.suffix == ".cc")
        ]
        return sorted(found)
    shared = sorted(path for path in SOURCES.glob("*") if path.suffix != ".cc")
    return [source_of_controller(name, own), *shared, _ALL / "CMakeLists.txt", _SCRIPT]


def source_of_controller(name: str, own: Path) -> Path:
    """Returns the path of a controller's own source, which may be in the folder `own`."""
    source = own.resolve() / f"{name}.cc"
    return source if source.is_file() else SOURCES / f"{name}.cc"


def shared_object(controller: str) -> Path:
    """Returns the path of a controller's shared object."""
    return Path(f"build/controllers/{controller}.so")


def changed_sources(name: str, own: Path) -> list[Path]:
    """Returns the sources that have changed, or are gone, since the build."""
    try:
        lines = (_BUILT_OF / name).read_text().splitlines()
    except OSError:
        lines = []
    rows = [line.partition("  ") for line in lines]
    of = {Path(path): digest for digest, _, path in rows if path}  # a note may have been cut off
    sources = [path for path in sources_of(name, own) if path.is_file()]
    now = {path: sha256_of(path.read_bytes()) for path in sources}
    return sorted(path for path in {**of, **now} if of.get(path) != now.get(path))


def is_current(name: str, own: Path, programs: Iterable[str | Path] = ()) -> bool:
    """Whether a controller, or all these programs, are there and built from the present sources."""
    needed = programs or [EMULATE if name == CORE else shared_object(name)]
    return all(Path(each).is_file() for each in needed) and not changed_sources(name, own)


def note_build(name: str, own: Path, programs: Iterable[str | Path]) -> Path:
    """Returns a file that is newer than programs, and another, if they must be built."""
    programs = list(programs)
    is_built = is_current(name, own, programs)
    return renew(place_of(name, "built"), programs, is_current=is_built)


def out_of_date(controllers: Iterable[str], own: Path) -> list[Path]:
    """Returns the emulator and the shared objects of controllers that must be built.

    A controller without a source is left out.
    """
    found = [] if is_current(CORE, own) else [EMULATE]
    with_source = [name for name in controllers if source_of_controller(name, own).is_file()]
    return found + [shared_object(name) for name in with_source if not is_current(name, own)]


def current_catalogue(controllers: Iterable[str], own: Path) -> Catalogue | None:
    """Returns what controllers declare whose builds are up to date; None if the emulator's is not.

    Only such a build declares the parameters that its source has now.
    """
    if not is_current(CORE, own):
        return None
    return load_catalogue(EMULATE).only([name for name in controllers if is_current(name, own)])
