"""The probe's concurrent runs, compared with single runs."""

from collections.abc import Iterator

import pandas as pd

from kneepoint.analysis.frames import records
from kneepoint.analysis.inventory import InventoryEntry, experiment_entry, not_run
from kneepoint.analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from kneepoint.analysis.results import Results
from kneepoint.common.errors import unusable
from kneepoint.common.files import read_json
from kneepoint.common.tables import Tables, flag, read_frame, real, table, text, whole
from kneepoint.config.study import MAHIMAHI
from kneepoint.questions.probe import Settings
from kneepoint.runs.results import RUNS

_LATE = "scheduling_delay_p99_us"

TABLES = (
    table(
        "probe",
        "a run of the probe, its differences from single runs, and its level: the number of runs "
        "at once, and whether they agree with single runs; slots: the host's number of "
        "concurrent real runs; a run beyond busy_us is repeated",
        whole("level", "concurrency"),
        flag("agrees"),
        text("reason", "controller"),
        flag("failed"),
        real("relative_throughput_mbps", "relative_signal_delay_p95_ms", unit=""),
        real("scheduling_delay_p99_us", "busy_us"),
        whole("slots", "cores"),
    ),
)


def inventory_entries(results: Results) -> Iterator[InventoryEntry]:
    """Yields the runs of the probe."""
    found = results.part(probe)
    if found is not None:
        yield experiment_entry("probe", "probe", MAHIMAHI), found
    elif results.workflow.settings.part(Settings).real_time.probe:
        yield not_run("probe")


def probe(results: Results) -> pd.DataFrame | None:
    """Reads the runs of the probe with the level of each run; None without a probe.

    Runs of the first level were made one at a time.
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
    runs = read_frame(path.with_name("runs.parquet"), RUNS).join(levels, on="trial")
    return runs.assign(busy_us=float(results.workflow.settings.real_time.busy_us))


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the table; empty without real runs."""
    runs = results.part(probe)
    return {} if runs is None else {"probe": beside_lone(runs)}


def beside_lone(runs: pd.DataFrame) -> pd.DataFrame:
    """Compares each run of a probe with the single runs of its first level."""
    names = {"trial": "level", "level_reason": "reason"}
    columns = ["trial", "controller", _LATE, "concurrency", "agrees", "level_reason"]
    found = runs[columns].rename(columns=names).assign(failed=runs["status"] != "ok")
    for metric in (THROUGHPUT, SIGNAL_DELAY):
        value = runs[metric].astype(float).mask(found["failed"])
        found[f"relative_{metric}"] = value / value[found["level"] == 0].mean() - 1
    found[_LATE] = runs[_LATE].astype(float).mask(found["failed"])
    return found.assign(**runs[["busy_us", "slots", "cores"]])


def probe_levels(tables: Tables) -> pd.DataFrame:
    """Summarises each level of the probe: counts of runs, and differences from single runs.

    relative_<metric> is the relative difference of the mean, furthest_<metric> the maximum absolute
    difference of a run, and scheduling_delay_p99_us the maximum over the runs.
    """
    lines = []
    for _, runs in tables["probe"].groupby("level"):
        first = records(runs)[0]
        line = {name: first[name] for name in ("level", "concurrency", "agrees", "reason")}
        line |= {"runs": (~runs["failed"]).sum(), "failed": runs["failed"].sum()}
        for metric in (THROUGHPUT, SIGNAL_DELAY):
            relative = runs[f"relative_{metric}"]
            line[f"relative_{metric}"] = relative.mean()
            line[f"furthest_{metric}"] = relative.abs().max()
        lines.append(line | {_LATE: runs[_LATE].max()})
    return pd.DataFrame(lines)


DERIVED = {"probe_levels": probe_levels}
