"""Settings under the same traffic: metrics of every flow and probe, and published numbers.

A figure is a metric of a flow, of a probe or of the link: `ping.rtt_mean_ms`, `link.utilization`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneepoint.analysis import labels, over_time, statistics
from kneepoint.analysis.frames import PARAMETER, Parts, Record, records, select, together
from kneepoint.analysis.inventory import InventoryEntry, experiment_entry
from kneepoint.analysis.metrics import FIGURES
from kneepoint.analysis.results import Compared, Results, StudyRuns, shown
from kneepoint.common.json_text import parse_json
from kneepoint.common.tables import Tables, flag, real, table, text, texts, whole
from kneepoint.config.study import EMULATOR, KERNEL, Engine
from kneepoint.engines.base import FLOW_METRICS, LINK_METRICS, PROBE_METRICS
from kneepoint.networks.config import Network
from kneepoint.networks.traffic import TrafficFile
from kneepoint.stats import intervals

Floats = NDArray[np.float64]
LINK = "link"
"""The source of the uplink's figures."""
NEAR = 0.05
"""The relative distance from one of our runs within which a published number is near."""
FALL = 0.95
"""The ratio of successive values of a window below which a loss must have occurred."""
_SETTLED = 5
"""The number of intervals after a fall in which a further fall belongs to the same recovery."""

FEWEST = 3
"""The minimum number of a network parameter's values in a sweep."""

_PAYLOAD_KB = 1.448
_PLACE = ["trial", "traffic", "network"]
_TITLES = ["label", "traffic_title", "network_title"]
FIGURE = [*_TITLES, "engine", *_PLACE, "source", "metric", "shown"]
"""The columns that identify a figure of a setting; each replicate has a value."""
_OF_CYCLE = ("run", "engine", *_PLACE, *_TITLES, "comparison", "flow")

_SETTING = (
    *text("comparison", "engine", "label", "traffic", "traffic_title", "network", "network_title"),
    *whole("trial"),
)
TABLES = (
    table(
        "traffic_figures",
        "the spread of a metric of a flow, a probe or the link (source) over replicates, in the "
        "metric's unit (metrics.FIGURES), in a comparison, or in a study that varies a "
        "parameter of its network, which has this value; shown: a summary has it; bdp_packets: "
        "the uplink's rate times the round-trip propagation delay, in packets of 1504 bytes",
        _SETTING,
        text("source", "metric"),
        flag("shown"),
        whole("n"),
        real("mean", "standard_deviation", "cv", "low", "high", "least", "greatest"),
        text("parameter", optional=True),
        real("value", "bdp_packets"),
    ),
    table(
        "comparison_published",
        "a published number against our runs: inside their range, near it (5 %), outside, or "
        "contradicted by the source itself, which prints it elsewhere as an extreme; off: the "
        "relative distance from the nearest run; published_high: the end of a printed range",
        text("comparison"),
        whole("trial"),
        text("label", "traffic", "network", "network_title", "source", "metric"),
        real("published", "published_high", "step"),
        whole("published_n", optional=True),
        text("place", "remark", "position", "verdict"),
        real("off"),
        text("extreme", optional=True),
        texts("conflicts"),
        whole("emulator_n", "kernel_n"),
        real("emulator_mean", "emulator_least", "emulator_greatest"),
        real("kernel_mean", "kernel_least", "kernel_greatest"),
    ),
    table(
        "comparison_shares",
        "an endless flow's share of the throughput of all endless flows, and Jain's index",
        _SETTING,
        text("flow"),
        flag("under_study"),
        whole("flows", "n"),
        real("mean", "low", "high", "least", "greatest", "jains_index", "utilization"),
        real("queueing_delay_p95_ms"),
    ),
    table(
        "comparison_runs",
        "the first run of a setting (parameters: JSON); the table series has its flows over time",
        _SETTING,
        text("run", "parameters"),
        whole("flows"),
    ),
)


def inventory_entries(results: Results) -> Iterator[InventoryEntry]:
    """Yields the runs of comparisons on each engine that has run."""
    for each in results.comparisons:
        about = {
            "title": each.config.title,
            "controllers": list(dict.fromkeys(each.runs["controller"])),
            "network_titles": list(dict.fromkeys(each.runs["network_title"])),
            "traffic_titles": list(dict.fromkeys(each.runs["traffic_title"])),
            "settings": each.runs["trial"].nunique(),
            "source": each.config.source,
            "wanted_engines": list(map(shown, each.config.engines)),
        }
        yield experiment_entry(each.name, "comparison", each.engine, **about), each.runs


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the tables of comparisons, and of studies that vary only a parameter of a network."""
    found = Parts(list)
    for name, group in groupby(results.comparisons, lambda each: each.name):
        engines = list(group)
        figures = pd.concat(
            [figures_of(each.engine, each.runs, each.traffic, each.networks) for each in engines],
            ignore_index=True,
        )
        for part, frame in {
            "traffic_figures": statistics.spreads(figures, FIGURE),
            "comparison_published": beside_published(engines[0], figures),
            "comparison_shares": pd.concat([shares(each) for each in engines]),
            "comparison_runs": pd.DataFrame([key for each in engines for key in _first_runs(each)]),
        }.items():
            found[part].append(frame.assign(comparison=name))
    for study in results.studies:
        varies_network_alone = len(study.searched) == len(study.of_network) == 1
        is_grid = study.config.sampler.kind == "grid" and len(study.trials) >= FEWEST
        if study.config.traffic and varies_network_alone and is_grid:
            found["traffic_figures"].append(_swept(study, results))
    return together(found)


def summaries(tables: Tables) -> pd.DataFrame:
    """Lists the comparisons on each engine that has run."""
    return select(tables["inventory"], kind="comparison").rename(columns={"name": "comparison"})


# Figures --------------------------------------------------------------------------------------


def figures_of(
    engine: Engine,
    runs: pd.DataFrame,
    traffic: Mapping[str, TrafficFile],
    networks: Mapping[str, Network],
) -> pd.DataFrame:
    """Returns every figure of every successful run.

    A summary has the figures that are `shown`: the throughput of an endless flow, the completion
    time of a finite flow, and the mean RTT of a probe.

    Args:
        engine: the engine of the runs.
        runs: see `Compared`.
        traffic: the traffic by name.
        networks: the networks by name.

    Returns:
        Columns FIGURE and value.
    """
    rows = []
    for run in records(statistics.succeeded(runs)):
        sent = traffic[run["traffic"]]
        place = {name: run[name] for name in (*_PLACE, *_TITLES)}
        for source, metric, value in _values(run, sent, networks[run["network"]].duration_s):
            shown = {
                "throughput_mbps": source in sent.flows and sent.flows[source].bytes is None,
                "rtt_mean_ms": source in sent.probes,
                "completion_s": True,
            }
            figure = {"source": source, "metric": metric, "shown": shown.get(metric, False)}
            rows.append({"engine": engine, **place, **figure, "value": value})
    return pd.DataFrame(rows, columns=[*FIGURE, "value"])


def _values(
    run: Mapping[str, Any], traffic: TrafficFile, duration_s: float | None
) -> Iterator[tuple[str, str, float]]:
    for source, measured, metrics in (
        (LINK, run, LINK_METRICS),
        *((flow["name"], flow, FLOW_METRICS) for flow in run["flows"]),
        *((probe["name"], probe, PROBE_METRICS) for probe in run["probes"]),
    ):
        for metric in metrics:
            if metric in FIGURES and labels.is_known(measured[metric]):
                yield source, metric, float(measured[metric])
        flow, losses = traffic.flows.get(source), measured.get("loss_events")
        if flow and flow.bytes is None and duration_s and labels.is_known(losses):
            minutes = (duration_s - max(flow.start_s, traffic.measure_from_s)) / 60
            yield source, "loss_events_per_minute", losses / minutes


# Studies of a network -------------------------------------------------------------------------


def _swept(study: StudyRuns, results: Results) -> pd.DataFrame:
    """Returns the spread of every figure at each value of the network's parameter."""
    parameter, networks = study.searched[0].name, results.workflow.networks
    values = study.trials.set_index("trial")[PARAMETER + parameter].astype(float)
    runs = results.titled(study.runs).assign(label=labels.words(study.config.controller))
    figures = figures_of(EMULATOR, runs, results.workflow.traffic, networks)
    figures = statistics.spreads(figures, FIGURE)
    return figures.assign(
        comparison=study.name,
        parameter=parameter,
        value=figures["trial"].map(values),
        bdp_packets=_bdp_packets(networks[study.config.networks[0]]),
    )


def _bdp_packets(network: Network) -> float:
    """Returns the product of uplink rate and round-trip propagation delay, in packets of 1504 B.

    NaN where the uplink has a trace.
    """
    rate_mbps = network.uplink.rate_mbps or network.uplink.constant_mbps
    return math.nan if rate_mbps is None else rate_mbps * 2e3 * network.delay_ms / (8 * 1504)


def network_sweep_points(tables: Tables) -> pd.DataFrame:
    """Selects the figures of studies that vary a parameter of a network: see traffic_figures."""
    found = tables["traffic_figures"].dropna(subset=["parameter"])
    found = found.rename(columns={"comparison": "study"})
    columns = ["study", "source", "metric", "shown", "value", *intervals.SPREAD]
    return found[columns].reset_index(drop=True)


def network_sweeps(tables: Tables) -> pd.DataFrame:
    """Lists the studies that vary only a parameter of a network."""
    about = ["label", "network_title", "traffic_title", "parameter", "bdp_packets"]
    found = tables["traffic_figures"].dropna(subset=["parameter"])
    found = found.drop_duplicates("comparison")[["comparison", *about]]
    made = select(tables["inventory"], kind="study").rename(
        columns={"name": "comparison", "settings": "values"}
    )[["comparison", "title", "values", "runs"]]
    return found.merge(made, on="comparison").rename(columns={"comparison": "study"})


def compared_figures(tables: Tables) -> pd.DataFrame:
    """Selects the figures of comparisons, without the figures of studies."""
    found = tables["traffic_figures"]
    columns = ["parameter", "value", "bdp_packets"]
    return found[found["parameter"].isna()].drop(columns=columns).reset_index(drop=True)


# Published numbers ----------------------------------------------------------------------------


def beside_published(compared: Compared, figures: pd.DataFrame) -> pd.DataFrame:
    """Compares each published number with our runs of the same setting.

    A number is inside if it lies in the range of our runs on either engine, within half a printed
    digit; a range is inside if it overlaps the range of our runs. A number is contradicted if the
    source prints it as a mean, and elsewhere as the minimum or maximum of the same pings.
    """
    rows: list[Record] = []
    label = compared.runs.drop_duplicates("trial").set_index("trial")["label"]
    for printed in compared.config.published:
        source, _, metric = printed.figure.partition(".")
        traffic = printed.traffic or compared.config.traffic[0]
        place = {"trial": printed.setting, "traffic": traffic, "network": printed.network}
        ours = select(figures, **place, source=source, metric=metric)
        row = {
            **place,
            "label": label[printed.setting],
            "network_title": compared.networks[printed.network].title,
            "source": source,
            "metric": metric,
            "published": printed.value,
            "published_high": math.nan if printed.high is None else printed.high,
            "step": printed.step,
            "published_n": printed.n,
            "place": printed.place,
            "remark": printed.remark,
        }
        for engine in (EMULATOR, KERNEL):
            of_engine = intervals.spread(select(ours, engine=engine)["value"])
            for name in ("n", "mean", "least", "greatest"):
                row[f"{engine}_{name}"] = of_engine[name]
        rows.append(row | _position(row))
    for row in rows:
        same = (*_PLACE, "source", "metric")
        others = [each for each in _alike(row, rows, same) if _differs(each, row)]
        row["conflicts"] = [each["place"] for each in others]
        row["extreme"] = _extreme_of(row, rows) if others else None
        row["verdict"] = row["position"] if row["extreme"] is None else "contradicted"
    return pd.DataFrame(rows)


def _position(row: Record) -> Record:
    """Returns a number's position: inside our runs' range, near, outside, or not comparable."""
    low, high = _ends(row)
    distances = []
    for engine in (EMULATOR, KERNEL):
        least, greatest = row[f"{engine}_least"], row[f"{engine}_greatest"]
        if least == least:
            below, above = max(0.0, least - high), max(0.0, low - greatest)
            distances.append(below / least if below else -above / greatest if above else 0.0)
    if not distances:
        return {"position": "not comparable", "off": math.nan}
    nearest = min(distances, key=abs) or 0.0
    position = "inside" if nearest == 0 else "near" if abs(nearest) <= NEAR else "outside"
    return {"position": position, "off": -nearest or 0.0}


def _ends(row: Record) -> tuple[float, float]:
    """Returns the interval of a printed number or range, with half a digit more at each end."""
    half = row["step"] / 2
    high = float(np.fmax(row["published"], row["published_high"]))
    return row["published"] - half, high + half


def _alike(row: Record, rows: Sequence[Record], keys: Sequence[str]) -> list[Record]:
    return [each for each in rows if all(each[key] == row[key] for key in keys)]


def _differs(one: Record, other: Record) -> bool:
    (low, high), (other_low, other_high) = _ends(one), _ends(other)
    return low > other_high or other_low > high


def _extreme_of(row: Record, rows: Sequence[Record]) -> str | None:
    """Returns the place where the source prints a mean RTT as a minimum or maximum, if any."""
    if row["metric"] == "rtt_mean_ms":
        for each in _alike(row, rows, (*_PLACE, "source")):
            if each["metric"] in ("rtt_min_ms", "rtt_max_ms") and not _differs(each, row):
                return str(each["place"])
    return None


# The kernel against the emulator --------------------------------------------------------------


def beside_kernel(tables: Tables) -> pd.DataFrame:
    """Compares the emulator's mean of each figure with the kernel's, if both measured it.

    They agree where the relative difference is within the metric's tolerance, or where the
    emulator's mean lies within the range of the kernel's repeats.
    """
    means = compared_figures(tables)
    is_shown = means["shown"] | (means["metric"] == "loss_events_per_minute")
    found = means[is_shown & means["metric"].isin(_COMPARED)]
    keys = ["comparison", *_PLACE, *_TITLES, "source", "metric"]
    values = [name for name in intervals.SPREAD if name != "cv"]
    emulated, kernel = (
        select(found, engine=engine)[[*keys, *values]].rename(
            columns={name: f"{engine}_{name}" for name in values}
        )
        for engine in (EMULATOR, KERNEL)
    )
    joined = emulated.merge(kernel, on=keys)
    joined["relative"] = joined["emulator_mean"] / joined["kernel_mean"] - 1
    joined["size"] = joined["relative"].abs()
    joined["tolerance"] = joined["metric"].map(_COMPARED).astype(float)
    inside = joined["emulator_mean"].between(joined["kernel_least"], joined["kernel_greatest"])
    joined["agrees"] = inside | (joined["size"] <= joined["tolerance"])
    return joined


_COMPARED: Mapping[str, float] = {
    "throughput_mbps": 0.02,
    "rtt_mean_ms": 0.05,
    "loss_events_per_minute": 0.15,
    "completion_s": 0.0,
}
"""The figures compared between the engines, with the relative tolerance of agreement."""


# Shares ---------------------------------------------------------------------------------------


def shares(compared: Compared) -> pd.DataFrame:
    """Returns the share of each of several endless flows in their total throughput."""
    rows = []
    for (_, of, _), group in statistics.succeeded(compared.runs).groupby(_PLACE, sort=False):
        traffic = compared.traffic[str(of)]
        endless = [name for name, flow in traffic.flows.items() if flow.bytes is None]
        if len(endless) < 2:
            continue
        rates = pd.DataFrame(
            [{flow["name"]: flow["throughput_mbps"] for flow in flows} for flows in group["flows"]],
            columns=endless,
            dtype=float,
        )
        total = rates.sum(axis=1)
        place = {name: group[name].iloc[0] for name in (*_PLACE, *_TITLES)}
        of_all = {
            "jains_index": (total**2 / (len(endless) * (rates**2).sum(axis=1))).mean(),
            "utilization": group["utilization"].astype(float).mean(),
            "queueing_delay_p95_ms": group["queueing_delay_p95_ms"].mean(),
        }
        for flow in endless:
            share = intervals.spread((rates[flow] / total).dropna())
            under_study = traffic.flows[flow].controller is None
            of_flow = {"flow": flow, "under_study": under_study, "flows": len(endless)}
            rows.append({"engine": compared.engine, **place, **of_flow, **share, **of_all})
    return pd.DataFrame(rows).drop(columns=["standard_deviation", "cv"], errors="ignore")


# Over time ------------------------------------------------------------------------------------


def _first_runs(compared: Compared) -> Iterator[Record]:
    """Yields the first run of each setting whose traffic is measured over time."""
    good = statistics.succeeded(compared.runs).drop_duplicates(_PLACE)
    for run in records(good):
        if compared.traffic[run["traffic"]].interval_s is not None:
            name = f"{compared.name}-{run['trial']}-{run['traffic']}-{run['network']}"
            yield {
                "run": name if compared.engine == EMULATOR else f"{name}-{compared.engine}",
                "engine": compared.engine,
                **{name: run[name] for name in (*_PLACE, *_TITLES, "parameters")},
                "flows": len(run["flows"]),
            }


def epochs(tables: Tables) -> pd.DataFrame:
    """Returns the growth of a lone flow's window in each epoch, from one loss to the next.

    For CUBIC the plateau is W_max of RFC 9438: the window at the previous loss, or a share of this
    window if it was smaller than the previous W_max (fast convergence, section 4.7). The window is
    convex above the plateau and concave below it.

    Returns:
        The columns of comparison_runs and of `epochs_of`.
    """
    if "series" not in tables:
        return pd.DataFrame(columns=["run", "epoch"])
    windows = select(tables["series"], quantity=over_time.WINDOW)
    rows = []
    for key in records(select(tables["comparison_runs"], flows=1)):
        window = select(windows, run=key["run"])
        time_s, packets = (window[name].to_numpy() for name in ("time_s", "value"))
        parameters = parse_json(key.pop("parameters"))
        of_run = epochs_of(time_s, packets, parameters) if len(window) else []
        rows += [{**key, "flow": window["flow"].iloc[0], **epoch} for epoch in of_run]
    return pd.DataFrame(rows, columns=None if rows else ["run", "epoch"])


def cycles(tables: Tables) -> pd.DataFrame:
    """Returns medians over the epochs of a lone flow, without slow start.

    Windows are in packets and in kB of payload; `fast` and `convex` are the shares of epochs with
    fast convergence and with a convex part.
    """
    found = epochs(tables)
    rows = []
    for _, group in found[found["epoch"] > 0].groupby("run", sort=False) if len(found) else ():
        first, medians = records(group)[0], group[["bottom_packets", "top_packets"]].median()
        rows.append(
            {
                **{name: first[name] for name in _OF_CYCLE},
                "epochs": len(group),
                "duration_s": float((group["end_s"] - group["start_s"]).median()),
                **medians,
                "bottom_kb": medians["bottom_packets"] * _PAYLOAD_KB,
                "top_kb": medians["top_packets"] * _PAYLOAD_KB,
                "fast": float(group["fast"].mean()),
                "convex": float(group["convex_from_s"].notna().mean()),
            }
        )
    return pd.DataFrame(rows)


def epochs_of(
    time_s: Floats,
    window: Floats,
    parameters: Mapping[str, float],
) -> list[Record]:
    """Returns the epochs of a window (packets), each from one fall of the window to the next.

    Args:
        time_s: times of the samples (s).
        window: the window at these times.
        parameters: of the flow's controller; with `c`, `beta` and `fast_convergence` it is CUBIC.

    Returns:
        epoch (from 0, which is slow start; the last epoch, which ends without a fall, is left out),
        start_s, end_s, bottom_packets, top_packets, plateau_packets and convex_from_s (NaN without
        a plateau or a convex part), fast (whether fast convergence lowers the next epoch's
        plateau).
    """
    falls = [i for i in range(1, len(window)) if window[i] < FALL * window[i - 1]]
    first = [i for n, i in enumerate(falls) if n == 0 or i - falls[n - 1] > _SETTLED]
    is_cubic = {"c", "beta", "fast_convergence"} <= set(parameters)
    rows: list[Record] = []
    begin, plateau = 0, 0.0
    for number, fall in enumerate(first):
        part = window[begin:fall]
        top = float(part.max())
        convex = np.flatnonzero(part > plateau)[: bool(plateau)]
        fast = is_cubic and bool(parameters["fast_convergence"]) and top < plateau
        rows.append(
            {
                "epoch": number,
                "start_s": float(time_s[begin]),
                "end_s": float(time_s[fall - 1]),
                "bottom_packets": float(part.min()),
                "top_packets": top,
                "plateau_packets": plateau or math.nan,
                "convex_from_s": float(time_s[begin + convex[0]]) if len(convex) else math.nan,
                "fast": fast,
            }
        )
        if is_cubic:
            plateau = top * (1 + parameters["beta"]) / 2 if fast else top
        begin = max(i for i in falls if fall <= i <= fall + _SETTLED)
    return rows


DERIVED = {
    "comparison_cycles": cycles,
    "comparison_engines": beside_kernel,
    "comparison_figures": compared_figures,
    "comparisons": summaries,
    "network_sweep_points": network_sweep_points,
    "network_sweeps": network_sweeps,
}
