"""Reads what was measured of the host and in real mahimahi, where that was done.

Real runs take hours, so each part may be absent: it is there when its last file is.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from common.errors import unusable
from experiments.results import read_frame
from reports.frames import with_constants


@dataclass(frozen=True)
class Probe:
    """How many real runs the host takes at once; `busy_us` spoils a run (see experiments.config).

    `levels` has columns level, concurrency, agrees, reason, in the order in which they were tried;
    `runs` has the level as its trial, the first of them being of runs that had the host alone.
    """

    slots: int
    cores: int
    busy_us: float
    levels: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class Confirmation:
    """Settings that were run in real mahimahi.

    `settings` has columns trial, controller, constants, origins, rows (of published tables,
    as "TABLE ROW") and constant_<name>; `runs` has the setting as its trial.
    """

    settings: pd.DataFrame
    runs: pd.DataFrame


def load_probe(folder: Path, busy_us: float) -> Probe | None:
    """Reads the probe's results; None where the host was not probed.

    Raises:
        KneepointError: they are damaged.
    """
    path = folder / "probe.json"
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_bytes())
        levels = pd.DataFrame(found["levels"])[["concurrency", "agrees", "reason"]]
        slots, cores = int(found["slots"]), int(found["cores"])
    except (ValueError, KeyError, TypeError):
        raise unusable(path, "it is damaged") from None
    levels.insert(0, "level", range(len(levels)))
    return Probe(slots, cores, busy_us, levels, read_frame(folder / "runs.parquet"))


def load_confirmation(folder: Path) -> Confirmation | None:
    """Reads the confirmed settings and their runs; None where none were run.

    Raises:
        KneepointError: they are damaged.
    """
    path = folder / "settings.parquet"
    if not path.exists():
        return None
    settings = with_constants(read_frame(path))
    for column in ("origins", "rows"):
        settings[column] = [tuple(filter(None, text.split(","))) for text in settings[column]]
    return Confirmation(settings, with_constants(read_frame(folder / "runs.parquet")))


def load_if_there(path: Path) -> pd.DataFrame | None:
    """Reads one table of the calibration; None where that has not written it.

    Raises:
        KneepointError: it is damaged.
    """
    return read_frame(path) if path.exists() else None


def load_runs(path: Path) -> pd.DataFrame | None:
    """Reads further runs of confirmed settings, real or emulated; None where there are none.

    Raises:
        KneepointError: they are damaged.
    """
    found = load_if_there(path)
    return None if found is None else with_constants(found)
