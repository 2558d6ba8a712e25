"""Made-up results in the shape of real ones: smooth curves, seeded noise, no emulator."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kneepoint.analysis.flow_log import FlowLog
from kneepoint.analysis.frames import PARAMETER
from kneepoint.analysis.link_log import ARRIVAL, DEPARTURE, OPPORTUNITY, LinkLog
from kneepoint.analysis.metrics import METRICS
from kneepoint.analysis.results import Part, Repeats, Results, Searched, StudyRuns
from kneepoint.analysis.run import run
from kneepoint.analysis.schema import STAGES, TABLES
from kneepoint.common.study_record import BestTrial, StudyRecord
from kneepoint.common.tables import Table, from_frame, write
from kneepoint.config.comparison import Repeat
from kneepoint.config.published import TableDescription
from kneepoint.config.study import Range, Sampler, Study
from kneepoint.config.workflow import Workflow
from kneepoint.engines import base
from kneepoint.engines.catalogue import Catalogue
from kneepoint.networks.config import LinkTrace, Network
from kneepoint.runs import settings
from kneepoint.runs.question import questions
from kneepoint.runs.results import RUNS

NETWORK = "contest"


def _digest(*of: object) -> str:
    return hashlib.sha256(repr(of).encode()).hexdigest()


def run_row(
    controller: str,
    parameters: Mapping[str, float],
    throughput: float,
    delay: float,
    /,
    **more: Any,
) -> dict[str, Any]:
    """Returns a row of runs.parquet, with its parameters also as columns."""
    digest = _digest(controller, json.dumps(dict(parameters)), more.get("run", 0))
    return {
        **{"run_id": digest, "study": "synthetic", "trial": 0, "run": 0, "row": pd.NA},
        **{"engine": "emulator", "controller": controller, "network": NETWORK, "seed": 1},
        **{
            "parameters": json.dumps(dict(parameters), sort_keys=True),
            "status": "ok",
            "reason": "",
        },
        **{"throughput_mbps": throughput, "capacity_mbps": 5.04, "utilization": throughput / 5.04},
        **{"queueing_delay_p95_ms": delay * 0.4, "signal_delay_p95_ms": delay},
        "power": throughput / delay * 1000,
        **{"packets_sent": 10000, "packets_delivered": 9990, "packets_dropped": 0},
        **dict.fromkeys(base.SHARES, 0.0),
        **{"scheduling_delay_p99_us": None, "scheduling_delays_us": None},
        **{f"parameter_{name}": value for name, value in parameters.items()},
        **more,
    }


def failed_row(controller: str, parameters: Mapping[str, float], reason: str) -> dict[str, Any]:
    """A run without metrics."""
    nothing = dict.fromkeys(base.RUN_METRICS, np.nan)
    return run_row(controller, parameters, 1.0, 1.0, status="failed", reason=reason, **nothing)


def fixed_window(window: float, noise: float = 0.0) -> tuple[float, float]:
    """Returns throughput and delay of a window, similar to the contest's trace: power peaks near
    12."""
    throughput = 5.04 * (1 - np.exp(-window / 20)) * (1 + noise)
    return throughput, 77 + 8.6 * window + 0.012 * window**2


def study(
    name: str,
    runs: Sequence[Mapping[str, object]],
    logarithmic: Sequence[str] = (),
    searched: Sequence[Searched] | None = None,
    bounds: Mapping[str, Mapping[str, float]] | None = None,
    **config: Any,
) -> StudyRuns:
    """A study with these runs, one per trial unless the runs have trials, and with this
    configuration.

    It searches the parameters that differ between the runs, unless `searched` is given.
    """
    table = pd.DataFrame(list(runs))
    table["study"] = name
    if table["trial"].nunique() == 1:
        table["trial"] = range(len(table))
    parameters = [column for column in table.columns if column.startswith("parameter_")]
    if searched is None:
        varied = [each for each in parameters if table[each].nunique() > 1]
        searched = [
            Searched(name, table[c].min(), table[c].max(), name in logarithmic)
            for c in varied
            for name in [c.removeprefix(PARAMETER)]
        ]
        config["space"] = {
            c.removeprefix(PARAMETER): Range(values=tuple(table[c].unique())) for c in varied
        }
    trials = table[["study", "trial", "reason", *parameters, *METRICS]].copy()
    trials["n_runs"] = 1
    trials.insert(2, "value", table["power"])
    trials.insert(2, "state", np.where(table["status"] == "ok", "COMPLETE", "FAIL"))
    about = {"title": name, "controller": table["controller"].iloc[0], "networks": (NETWORK,)}
    sampler = Sampler.model_construct(kind=config.get("sampler", "grid"))
    config = {**about, **config, "sampler": sampler}
    made = Study.model_construct(**config)  # with the keys that the analysis needs
    best = _best(trials, table, parameters, made)
    record = StudyRecord(name, "power", 7, len(trials), best, bounds=bounds or {})
    return StudyRuns(name, made, tuple(searched), record, trials, table)


def changed(study: StudyRuns, **config: Any) -> StudyRuns:
    """Returns the study with a changed configuration."""
    return replace(study, config=study.config.model_copy(update=config))


def chosen(study: StudyRuns, trial: int | None = None) -> StudyRuns:
    """Returns the study with the present best of its trials, or with this trial as its best."""
    trials = study.trials if trial is None else study.trials[study.trials["trial"] == trial]
    parameters = [str(each) for each in study.runs if str(each).startswith("parameter_")]
    best = _best(trials, study.runs, parameters, study.config)
    return replace(study, record=replace(study.record, best=best))


def _best(
    trials: pd.DataFrame, runs: pd.DataFrame, parameters: Sequence[str], config: Study
) -> BestTrial | None:
    """Returns the best trial, whose value with fresh seeds is 1 % less than in its search."""
    value = trials["value"]
    if value.isna().all():
        return None
    known = trials.dropna(subset=["value"]).sort_values("value", kind="stable", ignore_index=True)
    first = known.iloc[0 if config.objective.minimises else len(known) - 1].to_dict()
    trial, most = int(first["trial"]), float(first["value"])
    of_best = runs[runs["trial"] == trial]
    shared = {
        c.removeprefix(PARAMETER): float(of_best[c].iloc[0])
        for c in parameters
        if of_best[c].nunique() == 1
    }
    searched = {c: float(first[c]) for c in parameters}
    best = BestTrial(trial, most, searched, shared)
    if config.objective.minimises or config.table:
        return best
    means = of_best.groupby("network")[list(METRICS)].mean()
    means["power"] *= 0.99
    fresh = {
        str(network): {
            **{str(k): v for k, v in row.items()},
            "low": row["power"] - 0.25,
            "high": row["power"] + 0.25,
            "runs": 30,
        }
        for network, row in means.iterrows()
    }
    ends = {"low": 0.98 * most, "high": most, "in_search": most, "runs": 30 * len(fresh)}
    return replace(best, value=0.99 * most, networks=fresh, **ends)  # type: ignore[arg-type]


def windows_study(
    name: str = "windows", values: Sequence[int] = range(3, 100, 3), **more: Any
) -> StudyRuns:
    """A grid over fixed windows."""
    runs = [run_row("fixed_window", {"window": w}, *fixed_window(w)) for w in values]
    return study(name, runs, **more)


def ternary_study(**more: Any) -> StudyRuns:
    """A search for the best window."""
    order = (34, 67, 23, 45, 12, 16, 9, 13, 11, 14)
    return windows_study("best_window", order, **{"sampler": "ternary", **more})


def grid_study(**more: Any) -> StudyRuns:
    """AIMD over decrease and increase, with a published table (see published_rows)."""
    runs = [
        run_row(
            "aimd_rtt",
            {"additive_increase": x, "decrease_factor": y, "initial_window": w},
            3.5 + 0.05 * np.log2(x),
            3500 / (19 - 2 * np.log2(x) + 0.1 * y + 0.005 * w),
        )
        for y in (0.2, 0.4, 0.6, 0.8)
        for x in (1, 2, 4, 8, 16)
        for w in (2, 10)
    ]
    return study("aimd_grid", runs, compare=("000-aimd-grid",), **more)


def tpe_study(trials: int = 120, **more: Any) -> StudyRuns:
    """A search of three parameters that gathers around its peak; two trials fail."""
    random = np.random.default_rng(5)
    runs = []
    for trial in range(trials):
        width = 2.0 * np.exp(-trial / 40) + 0.1
        a, b, t = (width * random.normal() for _ in range(3))
        parameters = {"alpha": np.exp(a), "beta": 10 * np.exp(b), "rtt_threshold_ms": 90 + 20 * t}
        power = 27 * np.exp(-(a**2 + b**2 / 4 + t**2) / 8) * (1 + 0.004 * random.normal())
        if trial in (3, 17):
            runs.append(failed_row("delay_threshold", parameters, "the window is not a number"))
        else:
            runs.append(run_row("delay_threshold", parameters, 3.5, 3500 / power))
    return study("delay_tpe", runs, sampler="tpe", logarithmic=("alpha", "beta"), **more)


def published_rows() -> pd.DataFrame:
    """Tables of two reports on windows and one grid of power."""
    rows: list[dict[str, Any]] = []

    def add(table: str, row: int, controller: str, power: float, **printed: float) -> None:
        place = {"table": table, "row": row, "controller": controller, "network": NETWORK}
        rows.append({**place, **printed, "power": round(power, 2)})

    for table, values in (
        ("001-fixed-window", range(5, 95, 5)),
        ("004-fixed-window", range(3, 100, 3)),
    ):
        for row, window in enumerate(values):
            throughput, delay = fixed_window(window, 0.003 if row % 2 else -0.003)
            numbers = {"throughput_mbps": round(throughput, 2), "signal_delay_p95_ms": round(delay)}
            power = throughput / delay * 1000
            add(table, row, "fixed_window", power, parameter_window=window, **numbers)
    rows[7]["signal_delay_p95_ms"] *= 3.0
    for row, (y, x) in enumerate((y, x) for y in (0.2, 0.4, 0.6, 0.8) for x in (1, 2, 4, 8, 16)):
        parameters = {"parameter_additive_increase": x, "parameter_decrease_factor": y}
        add("000-aimd-grid", row, "aimd_rtt", 18.6 - 1.97 * float(np.log2(x)), **parameters)
    return described(pd.DataFrame(rows))


def described(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns published rows with the columns of their tables' descriptions; each has its
    report."""
    reports = "Report " + rows["table"].str.partition("-")[0]
    marks = pd.factorize(reports)[0]
    rows = rows.assign(report=reports, kind="published", mark=marks)
    return rows if "replayable" in rows else rows.assign(replayable=True)


def repeats() -> Repeats:
    """Two repeated windows, with published means."""
    random = np.random.default_rng(3)
    runs = [
        run_row(
            *("fixed_window", {"window": window}),
            *fixed_window(window, 0.002 * random.normal()),
            **{"setting": f"windows:{i}", "label": f"fixed window {window}", "study": "windows"},
            **{"trial": i, "run": run},
        )
        for i, (window, n) in enumerate(((12, 10), (15, 25)))
        for run in range(n)
    ]
    published = (
        {**{"mean": 12.868, "standard_deviation": 0.046, "n": 10, "step": 0.001}, "setting": 0},
        {**{"mean": 11.6, "n": 25, "step": 0.01}, "setting": 1},
    )
    settings = [{"controller": "fixed_window", "parameters": {"window": each}} for each in (12, 15)]
    about = {"title": "Windows repeated", "network": NETWORK, "repeats": 10, "settings": settings}
    printed = [{**each, "metric": "power", "source": "Report"} for each in published]
    config = Repeat.model_validate({**about, "published": printed})
    return Repeats("windows", config, pd.DataFrame(runs))


@dataclass(frozen=True)
class HeldOut:
    """The tables of settings on held-out networks."""

    settings: pd.DataFrame
    networks: pd.DataFrame
    runs: pd.DataFrame


def hold_out() -> HeldOut:
    """Published and tuned settings of two controllers, and a tuned setting of a third."""
    threshold = {"alpha": 1.0, "beta": 10.0, "rtt_threshold_ms": 100.0}
    better = {**threshold, "alpha": 2.0}
    aimd = {"additive_increase": 2.0, "decrease_factor": 0.5, "initial_window": 2.0}
    found = [  # controller, origin, best, study, row, parameters, powers on both networks
        ("fixed_window", "published", False, "windows", 1, {"window": 6.0}, 10.1, 0.9),
        ("fixed_window", "published", True, "windows", 3, {"window": 12.0}, 12.8, 0.8),
        ("fixed_window", "tuned", True, "best_window", None, {"window": 12.0}, 12.8, 0.8),
        ("delay_threshold", "published", True, "delays", 0, threshold, 22.0, 1.2),
        ("delay_threshold", "tuned", True, "delay_tpe", None, better, 27.0, 0.6),
        ("aimd_rtt", "tuned", True, "aimd_grid", None, aimd, 18.0, 0.7),
    ]
    settings = pd.DataFrame(
        {
            **{"trial": trial, "controller": controller, "origin": origin, "best": best},
            **{"study": study, "table": None if row is None else f"001-{study}"},
            **{"row": pd.NA if row is None else row, "parameters": json.dumps(parameters)},
            "published_power": None if row is None else here,
            **{"study_power": 1.02 * here, "study_runs": 1},
        }
        for trial, (controller, origin, best, study, row, parameters, here, _) in enumerate(found)
    )
    networks = pd.DataFrame(
        {
            "network": [NETWORK, "slow", "fast"],
            "is_training": [True, False, False],
            "capacity_mbps": [5.04, 0.5, 20.0],
            "signal_delay_p95_ms": [32.0, 100.0, 4.0],
            "power": [157.5, 5.0, 5000.0],
        }
    )
    runs = [
        run_row(
            *(controller, parameters, 3.0, 3000 / (power * (1 + 0.004 * (run - 1)))),
            **{"trial": trial, "run": run, "network": network, "study": "hold_out"},
            run_id=_digest(controller, sorted(parameters.items()), network, run),
        )
        for trial, (controller, _, best, _, _, parameters, here, there) in enumerate(found)
        for network, power in ((NETWORK, here), ("slow", there), ("fast", 1000 * there**2))
        for run in range(3 if best else 1)
    ]
    return HeldOut(settings.astype({"row": "Int64"}), networks, pd.DataFrame(runs))


def link_log(seconds: int = 20) -> LinkLog:
    """A link of one opportunity every 2 ms, used by every second one, with one outage."""
    opportunity = np.arange(0, seconds * 1000, 2)
    opportunity = opportunity[(opportunity < 9000) | (opportunity > 9700)]
    departure = opportunity[1::2]
    delay = 20 + (15 * np.sin(departure / 700)).astype(np.int64)
    departure, delay = departure[departure >= delay], delay[departure >= delay]
    return events_of(np.sort(departure - delay), opportunity, departure, delay)


def events_of(arrival: Any, opportunity: Any, departure: Any, delay: Any) -> LinkLog:
    """Returns the log of packets of 1504 bytes, given the times of events (ms)."""
    kinds = {ARRIVAL: (arrival, 0), OPPORTUNITY: (opportunity, 0), DEPARTURE: (departure, delay)}
    events = [
        pd.DataFrame({"time_ms": times, "kind": kind, "amount": 1504, "delay_ms": delays})
        for kind, (times, delays) in kinds.items()
    ]
    return pd.concat(events).sort_values("time_ms", kind="stable", ignore_index=True)


def flow_log(seconds: int = 20) -> FlowLog:
    """A window that steps up each second; RTTs of 40 to 55 ms."""
    times = np.arange(1.0, seconds, 0.25)
    rtts = 40.0 + 15 * np.sin(times) ** 2
    return pd.DataFrame({"time_s": times, "rtt_ms": rtts, "window_packets": np.floor(times)})


LINK = LinkTrace(constant_mbps=5.04)
CONTEST = Network(title="Verizon LTE, short", uplink=LINK, downlink=LINK, duration_s=20)
TITLES = {NETWORK: CONTEST.title, "slow": "A slow link", "fast": "A fast link"}
NOTHING: dict[str, Any] = {
    name: {} for name in ("studies", "repeats", "comparisons", "traffic", "tables", "sections")
}
WORKFLOW = Workflow(
    path=Path("config.yaml"),
    settings=settings.model()(seed=1),
    networks={NETWORK: CONTEST},
    **NOTHING,
)
DESCRIPTION = TableDescription.model_construct(source="", controller="", columns={})


class MadeUp(Results):
    """Results without a folder, with the given parts only."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(WORKFLOW, Catalogue({"controllers": [], "broken": []}))
        self.parts = parts
        published = parts.get("published", self.published)
        described = dict.fromkeys(published["table"].unique(), DESCRIPTION)
        vars(self).update(
            {
                "hosts": {NETWORK: {"host_latency_us": 600.0}},
                "units": {("fixed_window", "window"): "packets"},
                "networks": TITLES,
                **parts,
                "sources": {**described, **parts.get("sources", {})},
            }
        )

    def part(self, read: Callable[[Results], Part]) -> Part:
        """Returns a question's part, given by the name of the function that reads it."""
        parts = {"replayed": self.studies, **self.parts}
        if read.__name__ not in parts:
            return super().part(read)
        given: Part = parts[read.__name__]
        return given

    def table(self, experiment: str, schema: Table = RUNS) -> pd.DataFrame | None:
        """Returns an experiment's table; its tables, or only its runs, are given by its name."""
        given = self.parts.get(experiment)
        runs: pd.DataFrame | None = getattr(given, Path(schema.file).stem, given)
        return runs

    def but(self, **parts: Any) -> "MadeUp":
        """Returns the same results with other parts."""
        return MadeUp(**{**self.parts, **parts})


@cache
def _analysed(results: Results, stages: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    tables: dict[str, pd.DataFrame] = {}
    for stage in stages:
        tables |= run(results, stage, tables)
    return tables


def analysed(results: Results, *stages: str) -> dict[str, pd.DataFrame]:
    """Returns the tables of these stages, or of all; computed once for equal results."""
    found = _analysed(results, stages or tuple(STAGES))
    return {name: table.copy() for name, table in found.items()}


def write_tables(folder: Path) -> None:
    """Writes the tables of all stages, as the workflow does."""
    for name, table in analysed(results()).items():
        write(folder / f"{name}.parquet", from_frame(TABLES[name], table))


def results(**more: Any) -> MadeUp:
    """All results of the emulator."""
    return _whole().but(**more) if more else _whole()


@cache
def real_results() -> MadeUp:
    """All results of the emulator, and all real results."""
    return results(**of_questions("real_parts"))


@cache
def _whole() -> MadeUp:
    return MadeUp(**_parts(), **of_questions("parts"))


def of_questions(name: str) -> dict[str, Any]:
    """Returns the made-up parts by the functions of this name, of all installed questions."""
    found: dict[str, Any] = {}
    for question in questions():
        module = f"tests.questions.{question}"
        if find_spec(module) and find_spec(f"{module}.made_up"):
            found |= getattr(import_module(f"{module}.made_up"), name, dict)()
    return found


@cache
def _parts() -> dict[str, Any]:
    tables = ("001-fixed-window", "004-fixed-window")
    return {
        "studies": (
            windows_study(compare=tables),
            windows_study("windows_five", range(5, 95, 5), compare=tables[:1]),
            ternary_study(),
            grid_study(),
            tpe_study(),
        ),
        "repeats": (repeats(),),
        "hold_out": hold_out(),
        "published": published_rows(),
        "sources": {
            "001-fixed-window": DESCRIPTION.model_copy(update={"source": "Report 001, Table 2.1"})
        },
    }
