"""Reads files of any known format."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from kneepoint.common.errors import KneepointError
from kneepoint.tools.import_files import flent, iperf3, mahimahi, packets, pantheon, qlog
from kneepoint.tools.import_files.both_ends import join_ends
from kneepoint.tools.import_files.measurement import Format, Measurement, opened

FORMATS: tuple[Format, ...] = (
    *(mahimahi.FORMAT, pantheon.TUNNEL_LOG, pantheon.METADATA, iperf3.FORMAT, flent.FORMAT),
    *(packets.FORMAT, qlog.FORMAT),
)
_UNITS = "does the file use the units of its format?"
_HEAD = 65_536
_UNPACK = {
    b"BZh": "bunzip2",
    b"\xfd7zXZ": "unxz",
    b"\x28\xb5\x2f\xfd": "unzstd",
    b"PK\3\4": "unzip",
    b"\x04\x22\x4d\x18": "unlz4",
}
_PROBABLE = {
    "duration_s": (0.05, 86_400),
    "throughput_mbps": (1e-3, 4e5),
    "rtt_mean_ms": (5e-3, 6e4),
    "delay_p50_ms": (5e-3, 1e4),
    "signal_delay_p95_ms": (-1, 3e4),
    "loss": (-1, 0.98),
}
_LONG_S, _SLOW_MBPS = 7200, 0.2
_SHORT_S, _FAST_MBPS = 1, 1000
"""Limits of improbable runs: long at a low rate, or short at a high rate, as with a wrong unit."""


def read_measurements(paths: Iterable[Path]) -> list[Measurement]:
    """Reads files, also compressed by gzip; two captures of both ends become one run.

    Raises:
        KneepointError: a file is missing, damaged or of unknown format.
    """
    return [
        replace(
            each,
            flows=tuple({"controller": each.controller, **flow} for flow in each.flows),
            notes=(*each.notes, *_doubts(each)),
        )
        for each in join_ends([each for path in paths for each in _read(path)])
    ]


def _doubts(run: Measurement) -> Iterator[str]:
    """Yields notes on improbable figures: the file may have other units than its format."""
    told = {"duration_s": run.duration_s, **(run.flows[0] if run.flows else {}), **run.metrics}
    for name, (least, most) in _PROBABLE.items():
        value = told.get(name)
        if isinstance(value, int | float) and not least <= value <= most:
            yield f"improbable: {name} {value:.3g}; {_UNITS}"
    length_s, rate_mbps = run.duration_s, run.metrics.get("throughput_mbps", 1)
    is_slow = length_s >= _LONG_S and rate_mbps <= _SLOW_MBPS
    if is_slow or (length_s <= _SHORT_S and rate_mbps >= _FAST_MBPS):
        yield f"improbable: {rate_mbps:.3g} Mbit/s for {length_s:.3g} s; {_UNITS}"


def _read(path: Path) -> list[Measurement]:
    with opened(path) as stream:
        head = stream.read(_HEAD)
        stream.seek(0)
        if not head.strip():
            raise KneepointError(f"{path}: is empty; did the tool run?")
        for known in FORMATS:
            if known.recognises(head):
                return known.read(path, stream)
    for magic, remedy in _UNPACK.items():
        if head.startswith(magic):
            raise KneepointError(f"{path}: is compressed, not by gzip; unpack it: {remedy}")
    names = "; ".join(each.name for each in FORMATS)
    raise KneepointError(f"{path}: unknown format; known: {names}")
