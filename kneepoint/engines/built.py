"""Whether programs, controllers and the module are built from the present sources, and unchanged.

controllers/build.sh writes build/sources/NAME, the digests of all sources of NAME and of the files
built from them; kneepoint.engines.own writes such a list for a project's own controllers.
"""

from collections.abc import Iterable
from pathlib import Path

from kneepoint.common.files import sha256_of
from kneepoint.common.places import BUILT, IS_INSTALLED, OWN_CONTROLLERS, TOOL
from kneepoint.engines.catalogue import SOURCES, Catalogue, load_catalogue
from kneepoint.engines.limits import LIMITS

CORE = "core"
"""The name of all programs together."""
MODULE = "kneepoint.wasm"
"""The emulator as a WebAssembly module; every name but these two is a controller's."""
EMULATE = BUILT / "emulate"
REPLAY = BUILT / "replay"
PROGRAMS = tuple(
    str(BUILT / name)
    for name in dict.fromkeys(
        [
            *(name for limits in LIMITS.values() for name in limits.programs),
            *("emulate", "replay", "synthesize", "check_trace", "confine"),
            *("entry", "entry-sender", "python_entry.so", "python_entry_real.so"),
            "python_sender.py",
        ]
    )
)
"""The paths of all programs."""

_NO_CONTROLLERS = (CORE, MODULE)
_ALL = TOOL / "controllers"
_SCRIPT = _ALL / "build.sh"


def sources_of(name: str, own: Path) -> list[Path]:
    """Returns the sources of a controller, which may be in `own`, of CORE, or of MODULE.

    A built controller of the project has all files that compiler and linker read, except system
    headers.
    """
    if name in _NO_CONTROLLERS:
        needless = ("tests", "wasm") if name == CORE else ("tests",)
        found = [
            path
            for path in _ALL.rglob("*")
            if path.is_file()
            and path.relative_to(_ALL).parts[0] not in needless
            and not (name == CORE and path.parent == SOURCES and path.suffix == ".cc")
        ]
        return sorted(found)
    source = source_of_controller(name, own)
    if is_own(name, own):
        built = shared_object(name, own).absolute()
        return list(dict.fromkeys([source, *(each for each in _noted(name, own) if each != built)]))
    shared = sorted(path for path in SOURCES.glob("*") if path.suffix != ".cc")
    further = ("common/portable_math.hh", "CMakeLists.txt")
    return [source, *shared, *(_ALL / name for name in further), _SCRIPT]


def source_of_controller(name: str, own: Path) -> Path:
    """Returns the path of a controller's own source: in the folder `own`, or the shipped one."""
    source, shipped = own.resolve() / f"{name}.cc", SOURCES / f"{name}.cc"
    return shipped if shipped.is_file() and not source.is_file() else source


def is_own(name: str, own: Path) -> bool:
    """Returns whether a controller is the project's own, in the folder `own`."""
    return source_of_controller(name, own).parent != SOURCES


def shared_object(controller: str, own: Path) -> Path:
    """Returns the path of a controller's shared object."""
    folder = OWN_CONTROLLERS if is_own(controller, own) else BUILT / "controllers"
    return folder / f"{controller}.so"


def built_of(name: str, own: Path) -> Path:
    """Returns the file that lists the sources of a built controller, CORE or MODULE, and itself."""
    is_ours = name not in _NO_CONTROLLERS and is_own(name, own)
    return OWN_CONTROLLERS / f"{name}.sources" if is_ours else BUILT / "sources" / name


def changed_files(name: str, own: Path) -> list[Path]:
    """Returns the sources, programs and shared objects that have changed since the build.

    This includes files that were removed, or are not in the list. An installed tool never changes.
    """
    is_controller = name not in _NO_CONTROLLERS
    if IS_INSTALLED and not (is_controller and is_own(name, own)):
        return []
    of = _noted(name, own)
    if is_controller:
        built = [shared_object(name, own).absolute()]
    else:
        built = [BUILT / MODULE] if name == MODULE else [*map(Path, PROGRAMS)]
    paths = [path for path in {*of, *sources_of(name, own), *built} if path.is_file()]
    now = {path: sha256_of(path.read_bytes()) for path in paths}
    return sorted(path for path in {**of, **now} if of.get(path) != now.get(path))


def _noted(name: str, own: Path) -> dict[Path, str]:
    """Returns the digests in the list of a build (see `built_of`)."""
    try:
        lines = built_of(name, own).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    rows = [line.partition("  ") for line in lines]
    return {TOOL / path: digest for digest, _, path in rows if path}  # the list may be truncated


def is_current(name: str, own: Path) -> bool:
    """Returns whether a controller, or all programs (CORE), are built from present sources."""
    built = EMULATE if name == CORE else shared_object(name, own)
    return built.is_file() and not changed_files(name, own)


def out_of_date(controllers: Iterable[str], own: Path) -> list[Path]:
    """Returns the emulator and the shared objects of controllers that must be built.

    A controller without a source is left out.
    """
    found = [] if is_current(CORE, own) else [EMULATE]
    with_source = [name for name in controllers if source_of_controller(name, own).is_file()]
    return found + [shared_object(name, own) for name in with_source if not is_current(name, own)]


def targets_of(controllers: Iterable[str], own: Path) -> list[str]:
    """Returns the targets of controllers/build.sh that build shipped controllers.

    Controllers of the project, and controllers without a source, are left out.
    """
    shipped = (name for name in controllers if not is_own(name, own))
    return [f"controller_{name}" for name in shipped if source_of_controller(name, own).is_file()]


def current_catalogue(controllers: Iterable[str], own: Path) -> Catalogue | None:
    """Returns the catalogue of controllers that are up to date; None if the emulator is not.

    Only an up-to-date build declares the parameters of the present source.
    """
    if not is_current(CORE, own):
        return None
    return load_catalogue(EMULATE).only([name for name in controllers if is_current(name, own)])
