"""Values over time of the example, and of runs of comparisons and worst cases."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kneepoint.analysis import link_log, over_time
from kneepoint.analysis.flow_log import FlowLog, mean_window, read_flow_log
from kneepoint.analysis.frames import Parts, records, select, together
from kneepoint.analysis.link_log import LinkLog, read_link_log
from kneepoint.analysis.metrics import THROUGHPUT
from kneepoint.analysis.over_time import RATES
from kneepoint.analysis.results import OF_NETWORK, Results
from kneepoint.analysis.statistics import succeeded
from kneepoint.common.json_text import parse_json
from kneepoint.common.tables import Tables, real, table, text
from kneepoint.config.study import EMULATOR, MAHIMAHI, Engine
from kneepoint.config.workflow import FLOW_LOG, UPLINK_LOG
from kneepoint.networks.config import Network
from kneepoint.networks.scenario import DELAYS
from kneepoint.networks.traffic import TrafficFile
from kneepoint.questions.over_time import REAL, Settings, Showcase

TABLES = (
    table(
        "showcase",
        "one run with its link log; parameters are JSON",
        text("run", "engine", "controller", "parameters", "network", "network_title"),
        real("throughput_mbps", "capacity_mbps", "queueing_delay_p95_ms", "signal_delay_p95_ms"),
        real("power", unit="Mbit/s/s"),
        real("utilization", "mean_window_packets"),
    ),
    table(
        "series",
        "a value of a quantity (see over_time) of a run of showcase, worst_cases or "
        "comparison_runs; flow: the flow's name, if the run has named flows",
        text("run"),
        text("flow", optional=True),
        text("quantity"),
        real("time_s", "value"),
        exported=lambda rows: rows[rows["quantity"].isin(RATES)],
    ),
)


_PLACE = ["trial", "traffic", "network"]


@dataclass(frozen=True)
class ShowcaseRun:
    """One run with its link log and, if it ran in virtual time, its sender's log."""

    config: Showcase
    log: LinkLog
    flow: FlowLog | None = None


def showcase(results: Results) -> ShowcaseRun | None:
    """Returns the example run, None without one."""
    shown = results.workflow.settings.part(Settings).showcase
    if shown is None:
        return None
    folder = results.folder / "showcase"
    return ShowcaseRun(shown, read_link_log(folder / UPLINK_LOG), read_flow_log(folder / FLOW_LOG))


def real_showcase(results: Results) -> ShowcaseRun | None:
    """Returns the example run in real mahimahi, None without one."""
    shown = results.workflow.settings.part(Settings).showcase
    path = results.real_file(f"{REAL}/{UPLINK_LOG}")
    return ShowcaseRun(shown, read_link_log(path)) if shown and path else None


def compute(results: Results, tables: Tables) -> dict[str, pd.DataFrame]:
    """Makes the tables."""
    found = Parts(list)
    for engine, read in ((EMULATOR, showcase), (MAHIMAHI, real_showcase)):
        if shown := results.part(read):
            _add(found, results, engine, shown)
    found["series"] += [*_of_comparisons(results, tables), *_of_worst_cases(results, tables)]
    return together(found)


def _add(found: Parts, results: Results, engine: Engine, shown: ShowcaseRun) -> None:
    """Adds one run over time."""
    controller, network = shown.config.controller, shown.config.network
    run = controller if engine == EMULATOR else f"real-{controller}"
    metrics, flow = link_log.metrics(shown.log), shown.flow
    end_s = shown.log["time_ms"].iloc[-1] / 1000
    summary = {
        "run": run,
        "engine": engine,
        "controller": controller,
        "parameters": json.dumps(dict(shown.config.parameters)),
        "network": network,
        "network_title": results.title(network),
        **metrics,
        "utilization": metrics["throughput_mbps"] / metrics["capacity_mbps"],
        "mean_window_packets": math.nan if flow is None else mean_window(flow, end_s),
    }
    found["showcase"].append(pd.DataFrame([summary]))
    found["series"].append(over_time.of_logs(shown.log, flow, run))


def _of_comparisons(results: Results, tables: Tables) -> Iterator[pd.DataFrame]:
    """Yields each flow and the uplink's queue over time, in the first run of each setting."""
    first_runs = tables.get("comparison_runs", pd.DataFrame())
    for compared in results.comparisons if len(first_runs) else ():
        first = succeeded(compared.runs).drop_duplicates(_PLACE).set_index(_PLACE)
        for key in records(select(first_runs, comparison=compared.name, engine=compared.engine)):
            run = first.loc[tuple(key[name] for name in _PLACE)]
            traffic = compared.traffic[key["traffic"]]
            for flow in run["flows"]:
                quantities = {
                    over_time.WINDOW: flow["window_by_interval_packets"],
                    over_time.RTT: flow["rtt_by_interval_ms"],
                    THROUGHPUT: flow["throughput_by_interval_mbps"],
                }
                yield _by_interval(quantities, traffic, key["run"], flow["name"])
            if (queue := run["queue_by_interval_packets"]) is not None:
                yield _by_interval({over_time.QUEUE: queue}, traffic, key["run"])


def _by_interval(
    quantities: Mapping[str, Sequence[float]],
    traffic: TrafficFile,
    run: str,
    flow: str | None = None,
) -> pd.DataFrame:
    """Returns quantities with one value per interval, at the interval's end."""
    assert traffic.interval_s is not None
    ends_s = {
        n: np.arange(1.0, len(each) + 1) * traffic.interval_s for n, each in quantities.items()
    }
    return over_time.long({n: (ends_s[n], each) for n, each in quantities.items()}, run, flow)


def _of_worst_cases(results: Results, tables: Tables) -> Iterator[pd.DataFrame]:
    """Yields the uplink over time in each worst case that did not fail."""
    worst_cases = tables.get("worst_cases", pd.DataFrame())
    network_of = {study.name: study.config.networks[0] for study in results.studies}
    for case in records(select(worst_cases, failed=False)) if len(worst_cases) else ():
        series = over_time.of_logs(results.worst_case_logs[case["search"]], run=case["run"])
        yield series
        end_s = link_log.end_s(select(series, quantity=RATES[0])["time_s"])
        network = results.workflow.networks[network_of[case["search"]]]
        delays = _base_delays(network, parse_json(case["network"]), end_s)
        yield over_time.long({over_time.BASE_DELAY: delays}, case["run"])


def _base_delays(
    network: Network, searched: Mapping[str, float], end_s: float
) -> tuple[list[float], list[float]]:
    """Returns times (s) and values (ms) of the one-way propagation delay of a searched network."""
    delay_ms, step_ms, period_s = (
        searched.get(f"{OF_NETWORK}{name}", getattr(network, name) or 0.0) for name in DELAYS
    )
    halves = range(math.ceil(end_s / (period_s / 2)) if step_ms else 1)
    return (
        [half * period_s / 2 for half in halves],
        [delay_ms + half % 2 * step_ms for half in halves],
    )
