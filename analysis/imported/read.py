"""Reads files of any known format."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from analysis.imported import flent, iperf3, mahimahi, packets, pantheon, qlog
from analysis.imported.both_ends import join_ends
from analysis.imported.measurement import Format, Measurement, opened
from common.errors import KneepointError

FORMATS: tuple[Format, ...] = (
    *(mahimahi.FORMAT, pantheon.LOG, pantheon.METADATA, iperf3.FORMAT, flent.FORMAT),
    *(packets.FORMAT, qlog.FORMAT),
)
_HEAD = 65_536


def read_measurements(paths: Iterable[Path]) -> list[Measurement]:
    """Reads files, each unpacked if it is compressed by gzip; captures of both ends are one run.

    Raises:
        KneepointError: one of them is missing, damaged or of no known format.
    """
    return [
        replace(each, flows=tuple({"controller": each.controller, **flow} for flow in each.flows))
        for each in join_ends([each for path in paths for each in _read(path)])
    ]


def _read(path: Path) -> list[Measurement]:
    with opened(path) as stream:
        head = stream.read(_HEAD)
        stream.seek(0)
        if not head.strip():
            raise KneepointError(f"{path}: is empty; did the tool run?")
        for known in FORMATS:
            if known.recognises(head):
                return known.read(path, stream)
    names = "; ".join(each.name for each in FORMATS)
    raise KneepointError(f"{path}: of no known format; known: {names}")
