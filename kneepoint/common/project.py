"""The project that a command works in: the folder of a configuration.

A command takes the configuration of an option, or finds one upwards from the current folder, and
makes the project the current folder; paths in arguments stay relative to the caller's folder.
Without a project, shipped networks and controllers are prepared in a folder of the user's cache.
"""

import os
import re
import shutil
import stat
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import require_folder, write_whole
from kneepoint.common.places import (
    IS_INSTALLED,
    NETWORKS,
    OWN_CONTROLLERS,
    PACKAGE,
    SHIPPED,
    STATE,
    VERSION,
)

_CONFIGURATIONS = ("config.yaml", "config/config.yaml")


def find_config(folder: Path, option: str = "--config") -> Path | None:
    """Returns the configuration in a folder or, if it has none, in the nearest folder above it.

    A project's controllers are compiled and run. Therefore a configuration in a folder above, and
    that folder, must belong to the user or to root, and other users must not be able to write
    there: everybody can write a configuration, or a link to one, into /tmp. A configuration in
    `folder` itself may belong to the owner of `folder`. `option` names a configuration on the
    command line.

    Raises:
        KneepointError: a folder has two configurations, or the configuration is another user's.
    """
    for place in (folder, *folder.parents):
        found = [place / name for name in _CONFIGURATIONS if os.path.lexists(place / name)]
        if len(found) > 1:
            raise KneepointError(
                f"{place}: has {' and '.join(_CONFIGURATIONS)}; remove one, or name one ({option})"
            )
        if found and not found[0].is_file():
            raise KneepointError(f"{found[0]}: not a file, or a broken link; remove it")
        if found:
            config = found[0]
            owners = {place.stat().st_uid} if place == folder else set()
            paths = (config, config.parent, place, place / STATE)
            _require_trusted(paths, f"if you trust it: {option} {config}", owners)
            return config
    return None


def require_own(path: Path, remedy: str) -> None:
    """Raises KneepointError if an existing path is another user's, or writable for others.

    Otherwise this user would run another user's code or read another user's numbers.
    """
    _require_trusted([path], remedy)


def _require_trusted(paths: Iterable[Path], remedy: str, owners: Collection[int] = ()) -> None:
    """Refuses paths, and targets of links, that users besides this, root and `owners` can write."""
    for path in filter(os.path.lexists, paths):
        status = [path.lstat(), *([path.stat()] if path.exists() else [])]
        for owner in (each.st_uid for each in status):
            if owner not in {0, os.geteuid(), *owners}:
                said = f"belongs to user {owner}, whose code or numbers would be used"
                raise KneepointError(f"{path}: {said}; {remedy}")
        if status[-1].st_mode & stat.S_IWOTH and not stat.S_ISLNK(status[-1].st_mode):
            raise KneepointError(
                f"{path}: anybody can change files that would be run or read there; chmod o-w, or "
                f"{remedy}"
            )


def require_config_here(option: str = "--config") -> Path:
    """Returns the configuration of the current folder's project.

    `option` names a configuration on the command line.

    Raises:
        KneepointError: no configuration exists, or a folder has two.
    """
    here = current_folder()
    found = find_config(here, option)
    if found is None:
        raise KneepointError(
            f"{here}: no config.yaml here or above; name one ({option}), or make a project: "
            "kneepoint new-report NAME"
        )
    return found


def current_folder() -> Path:
    """Returns the current folder.

    Raises:
        KneepointError: it has been removed.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise KneepointError("the current folder has been removed; change to another") from None


def project_of(config: Path) -> Path:
    """Returns the project of a configuration: its folder, or the parent folder of `config`."""
    folder = config.absolute().parent
    return folder.parent if folder.name == "config" else folder


def enter(config: Path) -> Path:
    """Makes a configuration's project the current folder; returns the configuration's path there.

    The configuration of an installed tool is used in the current folder.

    Raises:
        KneepointError: the folder cannot be entered.
    """
    if IS_INSTALLED and config.resolve().is_relative_to(SHIPPED.resolve()):
        here = current_folder()
        for path in (here, here / STATE):
            require_own(path, "change to a folder of your own")
        _enter(here, config)
        return config.absolute()
    project = project_of(config)
    path = config.absolute().relative_to(project)
    _enter(project, path)
    return path


def enter_shipped() -> Path:
    """Makes the user's folder for shipped networks the current one; returns its configuration.

    Raises:
        KneepointError: the folder cannot be made or entered, or others write there.
    """
    folder, remedy = _own_cache() / "shipped", "set XDG_CACHE_HOME to a folder that you can write"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KneepointError(f"{folder}: {error.strerror}; {remedy}") from None
    for path in (folder.parent, folder, folder / STATE):
        require_own(path, remedy)
    config = SHIPPED / "config.yaml"
    _enter(folder, config)
    return config


def own_sources(config: Path) -> Path:
    """Returns the folder of a configuration's own controllers, one file each."""
    return config.parent / "controllers"


def _enter(folder: Path, config: Path) -> None:
    try:
        os.chdir(folder)
    except OSError as error:
        raise KneepointError(f"{folder}: {error.strerror}; name another project") from None
    os.environ["KNEEPOINT_OWN_CONTROLLERS"] = str(OWN_CONTROLLERS.absolute())
    _forget_removed_controllers(own_sources(config))


def _forget_removed_controllers(own: Path) -> None:
    """Removes a project's built controllers without a source, which hide shipped controllers."""
    for built in OWN_CONTROLLERS.glob("*.so"):
        if not (own / f"{built.stem}.cc").is_file():
            built.unlink(missing_ok=True)
            built.with_suffix(".sources").unlink(missing_ok=True)


def note_version() -> None:
    """Records this version in the project, and removes files that another version has prepared.

    Raises:
        KneepointError: the record cannot be written.
    """
    note = STATE / "version"
    before = note.read_bytes().decode(errors="replace").strip() if note.is_file() else ""
    if before == VERSION:
        return
    if before:
        version = before if re.fullmatch(r"[\w.+-]{1,20}", before) else "of another version"
        print(
            f"{STATE}: was prepared by Kneepoint {version}; Kneepoint {VERSION} prepares it anew",
            file=sys.stderr,
            flush=True,
        )
        for folder in (NETWORKS, OWN_CONTROLLERS):
            if folder.is_symlink():
                folder.unlink()
            else:
                shutil.rmtree(folder, ignore_errors=True)
    require_folder(STATE)
    write_whole(note, f"{VERSION}\n")


def seen_from(project: Path, path: Path) -> Path:
    """Returns an absolute path relative to the project, if it is in it."""
    return path.relative_to(project) if path.is_relative_to(project) else path


def user_cache() -> Path:
    """Returns the folder of cached traces: $KNEEPOINT_CACHE, which users may share, or their own.

    Raises:
        KneepointError: the path is not absolute, or the user has no home.
    """
    given = os.environ.get("KNEEPOINT_CACHE")
    return _absolute("KNEEPOINT_CACHE", given) if given else _own_cache()


def _own_cache() -> Path:
    """Returns kneepoint/ in $XDG_CACHE_HOME or ~/.cache, which only this user writes."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return _absolute("XDG_CACHE_HOME", base) / "kneepoint"


def _absolute(variable: str, given: str) -> Path:
    try:
        path = Path(given).expanduser()
    except RuntimeError:
        raise KneepointError(f"{given}: there is no such home; set HOME, or {variable}") from None
    if not path.is_absolute():
        raise KneepointError(f"{variable}={given}: give an absolute path")
    return path


def python_path() -> str:
    """Returns a PYTHONPATH with which programs in any folder can import this package."""
    others = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return os.pathsep.join(dict.fromkeys([str(PACKAGE.parent), *others]))
