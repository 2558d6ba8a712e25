"""Notes of digests, by which the workflow knows what has changed: .kneepoint/notes/NAME/sha256.

Snakemake compares times, and a file that is restored or copied with its times is older than what
was made of another content. So a job has a note of its input among its inputs: the note holds a
digest, and is rewritten only when the digest is another.
"""

import csv
import io
import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from kneepoint.common.config_file import read_yaml
from kneepoint.common.errors import unusable
from kneepoint.common.files import (
    read_json,
    sha256_of,
    write_whole,
)
from kneepoint.common.places import STATE

NOTES = STATE / "notes"
_SNAKEMAKE_LOGS = Path(".snakemake/log")

Paths = Iterable[str | Path]


def place_of(name: str, kind: str = "sha256") -> Path:
    """Returns the path of a note.

    Each has a folder of its own: Snakemake lists a folder once, and takes what comes into it later
    for missing.
    """
    return NOTES / name.strip("/") / kind


def digest_of_input(path: Path) -> str:
    """Returns the digest of a file's content; "" if there is none.

    Comments and formatting of YAML and CSV files do not count.
    """
    if not path.is_file():
        return ""
    content: Any
    if path.suffix == ".yaml":
        content = read_yaml(path)
    elif path.suffix == ".csv":
        content = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig", "replace"))))
    else:
        return sha256_of(path.read_bytes())
    return sha256_of(json.dumps(content).encode())


def digest_of_files(paths: Paths) -> str:
    """Returns the digest of the contents of files; missing files do not count."""
    found = [(str(path), sha256_of(Path(path).read_bytes())) for path in paths if _is_file(path)]
    return sha256_of(json.dumps(found).encode())


def note(name: str, digest: str, since_ns: int | None = None) -> Path:
    """Returns the note of something that no job makes.

    The first one is as old as `since_ns` says, or new.
    """
    path = place_of(name)
    is_first = not path.is_file()
    if is_first or path.read_text() != f"{digest}\n":
        write_whole(path, f"{digest}\n")
        changed_ns = _now_ns() if since_ns is None or not is_first else since_ns
        os.utime(path, ns=(changed_ns, changed_ns))
    return path


def renew(path: Path, files: Paths, *, is_current: bool) -> Path:
    """Returns a note that is another, and newer than files, if they must be made again."""
    times_ns = [Path(each).stat().st_mtime_ns for each in files if _is_file(each)]
    if not is_current:
        write_whole(path, f"{time.time_ns()}\n")
        newest_ns = max(time.time_ns(), 1 + max(times_ns, default=0))
        os.utime(path, ns=(newest_ns, newest_ns))
    elif not path.is_file():
        write_whole(path, "before\n")
        before_ns = min(times_ns, default=1) - 1
        os.utime(path, ns=(before_ns, before_ns))
    return path


def seal(name: str, files: Paths) -> None:
    """Records the digests of all files that a job has written."""
    written = {str(path): sha256_of(Path(path).read_bytes()) for path in files}
    write_whole(place_of(name, "written"), json.dumps(written, indent=1) + "\n")


def is_sealed(name: str) -> bool:
    """Whether all files of a job are what it wrote; nothing is known of a job without a record."""
    try:
        written = read_json(place_of(name, "written"))
        return all(_digest_of(Path(path)) == digest for path, digest in written.items())
    except FileNotFoundError:
        return True
    except (AttributeError, OSError, ValueError):
        return False


def require_sealed(name: str, path: Path) -> None:
    """Raises KneepointError if a file differs from the digest that its job has recorded, if any."""
    try:
        digest = read_json(place_of(name, "written"))[str(path)]
    except (KeyError, OSError, TypeError, ValueError):  # nothing is known; Snakemake asks is_sealed
        return
    if _digest_of(path) not in ("", digest):
        raise unusable(path, "it has changed since it was written")


def _digest_of(path: Path) -> str:
    """Returns the digest of a file's bytes; "" if there is none."""
    return sha256_of(path.read_bytes()) if path.is_file() else ""


def note_input(path: Path) -> Path:
    """Returns the note of a file that a user edits."""
    return note(str(path), digest_of_input(path), path.stat().st_mtime_ns)


def note_files(name: str, paths: Paths) -> Path:
    """Returns a note that is as old as the last change of some files, whoever made it.

    Jobs and builds write such files, too, and what they made of them since is up to date. The
    kernel sets a file's time of change (ctime) even where its other times are set to older ones.
    While a file is missing, an older note stays: whoever makes the file decides.
    """
    paths = list(paths)
    files = [Path(path).stat() for path in paths if _is_file(path)]
    path = place_of(name)
    if path.is_file() and len(files) < len(paths):
        return path
    before_ns = path.stat().st_mtime_ns if path.is_file() else None
    first_ns = max((file.st_mtime_ns for file in files), default=None)
    digest = digest_of_files(paths)
    is_other = before_ns is not None and path.read_text() != f"{digest}\n"
    note(name, digest, first_ns)
    changed_ns = max((file.st_ctime_ns for file in files), default=0)
    if is_other and before_ns is not None and changed_ns > before_ns:
        os.utime(path, ns=(changed_ns, changed_ns))
    return path


def settle_note(path: Path, digest: str, files: Paths, is_all_made: bool = False) -> None:
    """Writes into a note a digest of files that the workflow itself has just written.

    If the digest is another, the note is as old as the newest of the files: what was made of them
    since is up to date. If all that depends on them was made, some of it before the last of them,
    it is as old as the oldest.
    """
    if path.read_text() != f"{digest}\n":
        times_ns = [Path(file).stat().st_mtime_ns for file in files if _is_file(file)]
        time_ns = min(times_ns) if is_all_made else max(times_ns)
        write_whole(path, f"{digest}\n")
        os.utime(path, ns=(time_ns, time_ns))


def _now_ns() -> int:
    """The time, but no earlier than the last workflow's, in case the clock was set back."""
    last_ns = 0
    with suppress(OSError):
        last_ns = max((each.stat().st_mtime_ns for each in _SNAKEMAKE_LOGS.iterdir()), default=0)
    return max(time.time_ns(), last_ns + 1)


def _is_file(path: str | Path) -> bool:
    return Path(path).is_file()
