"""Reads files of any known format."""

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path

from analysis.imported import mahimahi, pantheon
from analysis.imported.measurement import Format, Measurement
from common.errors import KneepointError

FORMATS: tuple[Format, ...] = (mahimahi.FORMAT, pantheon.LOG, pantheon.METADATA)
_HEAD = 65_536


def read_measurements(paths: Iterable[Path]) -> list[Measurement]:
    """Reads files, each unpacked if it is compressed by gzip.

    Raises:
        KneepointError: one of them is missing, damaged or of no known format.
    """
    return [each for path in paths for each in _read(path)]


def _read(path: Path) -> list[Measurement]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise KneepointError(f"{path}: {error.strerror}; name a file") from None
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise KneepointError(f"{path}: cannot be unpacked: {error}; was it cut off?") from None
    if not data.strip():
        raise KneepointError(f"{path}: is empty; did the tool run?")
    for known in FORMATS:
        if known.recognises(data[:_HEAD]):
            return known.read(path, data)
    names = "; ".join(each.name for each in FORMATS)
    raise KneepointError(f"{path}: of no known format; known: {names}")
