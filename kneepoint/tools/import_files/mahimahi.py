"""mahimahi's link log, with and without drops (format: `kneepoint.analysis.link_log`)."""

import re
from pathlib import Path
from typing import Any, BinaryIO

from kneepoint.common.json_text import parse_json
from kneepoint.common.places import BUILT
from kneepoint.common.programs import run_built
from kneepoint.engines.base import COUNTS, RUN_METRICS
from kneepoint.tools.import_files.measurement import Format, Measurement, UnreadableError, series_of

_HEADER = re.compile(rb"\A(?:#[^\n]*\n)*# base timestamp: ")


def _recognises(head: bytes) -> bool:
    return bool(_HEADER.match(head))


def _read(_: Path, stream: BinaryIO) -> list[Measurement]:
    found = _measured(stream)
    metrics = {name: found[name] for name in (*RUN_METRICS, *COUNTS)}
    absent = ["flows: a link log does not tell them apart"]
    if not found["logs_drops"]:
        del metrics["packets_dropped"]
        absent.append("drops: the log has none, or they were not logged")
    series, others = series_of(found["over_time"]), found["other_events"]
    notes = [f"left out: {count} events of the kind {kind!r}" for kind, count in others.items()]
    if longer := found["longer_events"]:
        notes.append(f"left out: words after the fields of mahimahi in {longer} events")
    told = (found["duration_s"], metrics, (), series, tuple(absent))
    return [Measurement(*told, notes=tuple(notes))]


def _measured(stream: BinaryIO) -> dict[str, Any]:
    """Returns the metrics of a log of any length, from build/measure."""
    printed, status, complaint = run_built(BUILT / "measure", "--over-time", content=stream)
    if status:
        raise UnreadableError(complaint.removeprefix("log -").lstrip(", "))
    found: dict[str, Any] = parse_json(printed)
    if found["is_torn"]:
        raise UnreadableError("its last line is cut off; copy the whole file")
    if not found["packets_delivered"]:
        raise UnreadableError("no packet departed; did a flow run?")
    if not found["duration_s"]:
        raise UnreadableError("all within one millisecond; did it run on?")
    return found


FORMAT = Format("link log of mahimahi", _recognises, _read)
