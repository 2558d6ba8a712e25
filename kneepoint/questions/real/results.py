"""What ran in real mahimahi, and on the host that is fitted to it, read from results."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from kneepoint.analysis.inventory import Found, not_run, what
from kneepoint.analysis.results import Results, StudyRuns, read
from kneepoint.common.errors import unusable
from kneepoint.common.files import read_json
from kneepoint.config.study import MAHIMAHI
from kneepoint.config.workflow import CALIBRATED
from kneepoint.questions.real.settings import Settings, study_of_calibration
from kneepoint.runs.results import read_frame


@dataclass(frozen=True)
class Confirmation:
    """Settings that were run in real mahimahi.

    `settings` has columns trial, controller, constants, origins, rows (of published tables,
    as "TABLE ROW") and constant_<name>; `runs` has the setting as its trial.
    """

    settings: pd.DataFrame
    runs: pd.DataFrame


def made(results: Results) -> Iterator[Found]:
    """The runs of the probe and of confirmed settings."""
    found, confirmed = results.part(probe), results.part(confirmation)
    wanted = results.workflow.settings.part(Settings)
    if found is not None:
        yield what("probe", "probe", MAHIMAHI), found
    elif wanted.real_time.probe:
        yield not_run("probe")
    if confirmed is not None:
        settings = len(confirmed.settings)
        yield what("confirm", "confirm", MAHIMAHI, settings=settings), confirmed.runs
    elif wanted.confirm:
        yield not_run("confirm")


def probe(results: Results) -> pd.DataFrame | None:
    """The runs that show how many real runs the host takes at once: see the table probe.

    The first level is of runs that had the host alone.
    """
    path = results.real_file("probe/probe.json")
    if path is None:
        return None
    try:
        found = read_json(path)
        levels = pd.DataFrame(found["levels"])[["concurrency", "agrees", "reason"]]
        levels = levels.assign(slots=int(found["slots"]), cores=int(found["cores"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise unusable(path, "it is damaged") from None
    levels = levels.rename(columns={"reason": "level_reason"})
    runs = read_frame(path.with_name("runs.parquet")).join(levels, on="trial")
    return runs.assign(busy_us=float(results.workflow.settings.real_time.busy_us))


def confirmation(results: Results) -> Confirmation | None:
    """The settings that ran in real mahimahi."""
    settings = results.table("confirm", "settings")
    if settings is None:
        return None
    for column in ("origins", "rows"):
        settings[column] = [tuple(filter(None, text.split(","))) for text in settings[column]]
    return Confirmation(settings, read(results.folder / "confirm" / "runs.parquet"))


def calibration(results: Results) -> StudyRuns | None:
    """The fit of the emulated host to real fixed windows, which no file describes."""
    wanted = results.workflow.settings.part(Settings).confirm
    if wanted is None or not results.real_file("calibration/study.json"):
        return None
    return results.study(CALIBRATED, study_of_calibration(wanted))


def delays(results: Results) -> pd.DataFrame | None:
    """The waits for the processor that the calibration takes over (see `calibration`)."""
    return results.table(CALIBRATED, "delays")


def spread(results: Results) -> pd.DataFrame | None:
    """The fit of the differences between runs (see `calibration`)."""
    return results.table(CALIBRATED, "spread")


def again(results: Results) -> pd.DataFrame | None:
    """Further real runs of settings that the emulator does not predict."""
    return results.table("again")
