"""The project that a command works in: the folder of a configuration.

A command takes the configuration of an option, or finds one upwards from the current folder, and
makes the project the current folder; paths in arguments stay relative to the caller's folder.
Without a project, shipped networks and controllers are prepared in a folder of the user's cache.
"""

import os
import re
import shutil
import sys
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


def find_config(folder: Path) -> Path | None:
    """Returns the configuration in a folder or, without one, in the nearest one above it.

    A project's controllers are compiled and run. So a configuration above, and its folder, must
    belong to the user or to root: anybody may write a configuration, or a link to one, into /tmp. A
    configuration in `folder` itself may belong to the owner of `folder`.

    Raises:
        KneepointError: a folder has two, or the configuration is another user's.
    """
    for place in (folder, *folder.parents):
        found = [place / name for name in _CONFIGURATIONS if os.path.lexists(place / name)]
        if len(found) > 1:
            raise KneepointError(
                f"{place}: has {' and '.join(_CONFIGURATIONS)}; remove one, or name one (--config)"
            )
        if found and not found[0].is_file():
            raise KneepointError(f"{found[0]}: is no file, or a link to none; remove it")
        if found:
            _require_trusted(found[0], place, is_here=place == folder)
            return found[0]
    return None


def _require_trusted(config: Path, project: Path, *, is_here: bool) -> None:
    trusted = {0, os.geteuid()} | ({project.stat().st_uid} if is_here else set())
    paths = (config.lstat(), config.stat(), config.parent.stat(), project.stat())
    for owner in (each.st_uid for each in paths if each.st_uid not in trusted):
        raise KneepointError(
            f"{config}: belongs to user {owner}, and its controllers would run; if you trust it: "
            f"--config {config}"
        )


def require_config_here() -> Path:
    """Returns the configuration of the current folder's project.

    Raises:
        KneepointError: there is none, or a folder has two.
    """
    here = current_folder()
    found = find_config(here)
    if found is None:
        raise KneepointError(
            f"{here}: no config.yaml here or above; name one (--config), or make a project: "
            "kneepoint new-report NAME"
        )
    return found


def current_folder() -> Path:
    """Returns the current folder.

    Raises:
        KneepointError: somebody has removed it.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise KneepointError("the current folder has been removed; change to another") from None


def project_of(config: Path) -> Path:
    """Returns the project of a configuration: its folder, or the one above if that is `config`."""
    folder = config.absolute().parent
    return folder.parent if folder.name == "config" else folder


def enter(config: Path) -> Path:
    """Makes a configuration's project the current folder; returns the configuration's path there.

    A configuration of an installed tool is one of any project: it is used in the current folder.

    Raises:
        KneepointError: the folder cannot be entered.
    """
    if IS_INSTALLED and config.resolve().is_relative_to(SHIPPED.resolve()):
        _enter(Path.cwd())
        return config.absolute()
    project = project_of(config)
    path = config.absolute().relative_to(project)
    _enter(project)
    return path


def enter_shipped() -> Path:
    """Makes the user's folder for shipped networks the current one; returns its configuration.

    Raises:
        KneepointError: the folder cannot be made or entered.
    """
    folder = _own_cache() / "shipped"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KneepointError(
            f"{folder}: {error.strerror}; set XDG_CACHE_HOME to a folder that you can write"
        ) from None
    _enter(folder)
    return SHIPPED / "config.yaml"


def _enter(folder: Path) -> None:
    try:
        os.chdir(folder)
    except OSError as error:
        raise KneepointError(f"{folder}: {error.strerror}; name another project") from None
    os.environ["KNEEPOINT_OWN_CONTROLLERS"] = str(OWN_CONTROLLERS.absolute())
    _forget_removed_controllers()


def _forget_removed_controllers() -> None:
    """Removes a project's built controllers without a source: they would hide shipped ones."""
    for listed in OWN_CONTROLLERS.glob("*.sources"):
        if not source_listed_in(listed).is_file():
            listed.with_suffix(".so").unlink(missing_ok=True)
            listed.unlink(missing_ok=True)


def source_listed_in(listed: Path) -> Path:
    """Returns the source of a project's own controller, the first in the list of its sources."""
    _, _, source = listed.read_text(encoding="utf-8").partition("\n")[0].partition("  ")
    return Path(source)


def note_version() -> None:
    """Records this version in the project, and removes what another version has prepared.

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
            f"{STATE}: prepared by Kneepoint {version}, and this is {VERSION}: prepared anew",
            file=sys.stderr,
            flush=True,
        )
        for folder in (NETWORKS, OWN_CONTROLLERS):
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
