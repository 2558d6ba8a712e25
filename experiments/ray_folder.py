"""Ray's private temporary folder."""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.errors import KneepointError
from common.files import hold_lock, locked, runtime_folder

_PARENT = Path("/tmp")  # noqa: S108 (mkdtemp makes it safe; paths of sockets must be short)
_PREFIX = "kneepoint-ray-"
_OWNER = "owner"
"""The file that the owner of a folder has locked."""


@contextmanager
def ray_folder() -> Iterator[Path]:
    """Makes a folder and removes it afterwards; first removes those of killed owners.

    Ray opens its own folder to everybody, so that must lie in this one.
    """
    lock = runtime_folder() / "ray.lock"
    with locked(lock):
        for left in _PARENT.glob(f"{_PREFIX}*"):
            _remove_if_left(left)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_PARENT))
        owner = hold_lock(folder / _OWNER)
    try:
        yield folder
    finally:
        with locked(lock):  # or another owner would see a folder that is being removed
            shutil.rmtree(folder, ignore_errors=True)
            owner.close()


def write_token(folder: Path) -> Path:
    """Writes a new token for Ray into a file that only this user can read."""
    path = folder / "token"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
    return path


def own_token() -> Path:
    """Returns the token file of the Rays that this user's workflows start; makes it.

    One for all of them, because Ray reads its token once in a process.
    """
    folder = runtime_folder()
    path = folder / "token"
    with locked(folder / "ray.lock"):
        if not path.exists() or not path.read_text():  # killed while it was written
            path.unlink(missing_ok=True)
            write_token(folder)
    return path


def find_token() -> Path:
    """Returns the token file of an existing Ray, where Ray itself looks for it.

    Raises:
        KneepointError: there is none.
    """
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token").expanduser()
    if not path.is_file():
        raise KneepointError(
            f"{path}: no token of the Ray to join; make one (ray get-auth-token --generate), give "
            "it to all nodes, or name its file in RAY_AUTH_TOKEN_PATH"
        )
    return path


def _remove_if_left(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return
    try:
        owner = hold_lock(folder / _OWNER)
    except KneepointError:  # the owner is alive
        return
    shutil.rmtree(folder, ignore_errors=True)
    owner.close()
