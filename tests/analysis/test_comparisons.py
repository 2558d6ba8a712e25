"""Comparisons: figures of flows and probes, beside the kernel, beside what is published."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import over_time
from analysis.comparisons import (
    FIGURE,
    beside_kernel,
    beside_published,
    cycles,
    epochs_of,
    figures_of,
    network_sweep_points,
    network_sweeps,
    shares,
)
from analysis.frames import records, select
from analysis.results import Compared
from analysis.schema import TABLES
from analysis.statistics import spreads
from common.tables import conform
from engines.base import FLOW_METRICS, PROBE_METRICS
from experiments.models.comparison import Comparison
from networks.config import Network
from networks.traffic import TrafficFile
from tests.analysis.synthetic import LINK, WORKFLOW, MadeUp, analysed, run_row, study

TRAFFIC = TrafficFile.model_validate(
    {
        "title": "A page and pings",
        "measure_from_s": 30,
        "flows": {
            "long": {"transport": "tcp"},
            "page": {"transport": "tcp", "start_s": 60, "bytes": 1000},
        },
        "probes": {"ping": {}},
    }
)
ROUTER = Network(
    title="A router",
    uplink=LINK,
    downlink=LINK,
    delay_ms=10,
    duration_s=90,
)
PAIR = TrafficFile.model_validate(
    {"title": "Two", "flows": {"first": {}, "second": {"controller": "reno"}}}
)


def run_of(
    flows: Mapping[str, Mapping[str, float]],
    probes: Mapping[str, Mapping[str, float]] | None = None,
    trial: int = 0,
    queue: Sequence[float] | None = None,
) -> dict[str, Any]:
    nothing = dict.fromkeys(FLOW_METRICS)
    return run_row(
        ("reno", "cubic")[trial],
        {},
        1.4,
        100.0,
        trial=trial,
        traffic="web",
        network="router",
        label=("Reno", "CUBIC")[trial],
        traffic_title="A page and pings",
        network_title="A router",
        flows=[{**nothing, "name": name, **told} for name, told in flows.items()],
        probes=[
            {**dict.fromkeys(PROBE_METRICS), "name": name, **told}
            for name, told in (probes or {}).items()
        ],
        queue_by_interval_packets=queue,
    )


def compared(
    runs: Sequence[Mapping[str, Any]],
    engine: Any = "emulator",
    traffic: TrafficFile = TRAFFIC,
    published: Sequence[Mapping[str, Any]] = (),
) -> Compared:
    config = Comparison.model_validate(
        {
            "title": "Buffers",
            "source": "Report 003",
            "engines": {"emulator": {"repeats": 1}, "kernel": {"repeats": 1}},
            "settings": [{"controller": "reno"}, {"controller": "cubic"}],
            "traffic": "web",
            "networks": ["router"],
            "published": published,
        }
    )
    networks = {"router": ROUTER}
    return Compared("buffers", config, engine, {"web": traffic}, networks, pd.DataFrame(list(runs)))


def figures(ours: Compared) -> pd.DataFrame:
    return figures_of(ours.engine, ours.runs, ours.traffic, ours.networks)


def pages(*seconds: float, engine: str = "emulator", published: Any = ()) -> Compared:
    runs = [
        run_of(
            {"long": {"throughput_mbps": 1.4, "loss_events": 30}, "page": {"completion_s": s}},
            {"ping": {"rtt_mean_ms": 100 * s, "rtt_min_ms": 90 * s}},
        )
        for s in seconds
    ]
    return compared(runs, engine, published=published)


def test_every_flow_and_probe_has_its_figures() -> None:
    told = spreads(figures(pages(2, 4)), FIGURE)
    told = told.set_index(["source", "metric"])
    assert told.loc[("page", "completion_s"), "mean"] == 3
    assert tuple(told.loc[("ping", "rtt_mean_ms"), ["least", "greatest"]]) == (200, 400)
    assert told.loc[("long", "loss_events_per_minute"), "mean"] == 30, "a minute counts"
    assert told.loc[("link", "utilization"), "n"] == 2
    shown = [key for key in told.index if told.loc[key, "shown"]]
    assert shown == [
        ("long", "throughput_mbps"),
        ("page", "completion_s"),
        ("ping", "rtt_mean_ms"),
    ]


def printed(value: float, figure: str = "page.completion_s", **more: object) -> dict[str, object]:
    place = {"setting": 0, "network": "router", "place": f"item {value:g}"}
    return {**place, "figure": figure, "value": value, "step": 0.1, **more}


@pytest.mark.parametrize(
    ("published", "position"),
    [
        (printed(3), "inside"),
        (printed(1.96), "inside"),  # half a digit
        (printed(4.2), "near"),
        (printed(5), "outside"),
        (printed(1, high=2.5), "inside"),
        (printed(1, figure="page.goodput_mbps"), "not comparable"),
    ],
)
def test_published_numbers_stand_beside_the_range_of_our_runs(
    published: dict[str, object], position: str
) -> None:
    ours = pages(2, 4, published=[published])
    (row,) = beside_published(ours, figures(ours)).to_dict("records")
    assert (row["position"], row["verdict"]) == (position, position)
    assert row["off"] == pytest.approx(
        {"near": 0.0375, "outside": 0.2375}.get(position, row["off"]), nan_ok=True
    )


def told_of(figures: pd.DataFrame) -> pd.DataFrame:
    found = spreads(figures, FIGURE).assign(comparison="pages")
    return conform(TABLES["traffic_figures"], found)


def test_engines_agree_within_the_tolerance_or_the_kernels_range() -> None:
    both = pd.concat([figures(pages(2, 4)), figures(pages(3.2, 3.4, engine="kernel"))])
    told = {
        (row["source"], row["metric"]): row
        for row in beside_kernel({"traffic_figures": told_of(both)}).to_dict("records")
    }
    page = told["page", "completion_s"]
    assert (page["emulator_mean"], page["kernel_mean"]) == (3, pytest.approx(3.3))
    assert not page["agrees"], (
        "3 s is outside the kernel's 3.2 to 3.4, and downloads have no tolerance"
    )
    assert told["long", "throughput_mbps"]["agrees"]
    assert not told["ping", "rtt_mean_ms"]["agrees"], "9 % apart"
    wide = pd.concat([figures(pages(2, 4)), figures(pages(2.9, 9, engine="kernel"))])
    assert (
        beside_kernel({"traffic_figures": told_of(wide)}).set_index("source").loc["page", "agrees"]
    ), "inside the range"


def test_shares_are_of_the_throughput_of_all_endless_flows() -> None:
    runs = [
        run_of({"first": {"throughput_mbps": a}, "second": {"throughput_mbps": b}})
        for a, b in ((3.0, 1.0), (2.0, 2.0))
    ]
    told = shares(compared(runs, traffic=PAIR)).set_index("flow")
    assert told.loc["first", "mean"] == pytest.approx(0.625)
    assert told.loc["first", "under_study"] and not told.loc["second", "under_study"]
    assert told.loc["second", "jains_index"] == pytest.approx((16 / (2 * 10) + 1) / 2)
    assert shares(pages(2)).empty, "one endless flow has nobody to share with"


def test_flows_that_carry_nothing_have_no_share() -> None:
    idle = run_of({"first": {"throughput_mbps": 0.0}, "second": {"throughput_mbps": 0.0}})
    told = shares(compared([idle], traffic=PAIR))
    assert told["n"].tolist() == [0, 0] and told["mean"].isna().all()


def sawtooth(tops: Sequence[float], fall: float) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Ramps of twenty samples from `fall` of the top before to the top."""
    parts, before = [], 10.0
    for top in tops:
        parts.append(np.linspace(before, top, 20))
        before = fall * top
    return np.concatenate([*parts, np.full(3, before)])


def test_cubics_plateau_falls_further_where_a_loss_comes_early() -> None:
    constants = {"c": 0.4, "beta": 0.7, "fast_convergence": 1.0}
    window = sawtooth([100, 90, 80, 95], 0.7)
    time_s = np.arange(1.0, len(window) + 1)
    told = epochs_of(time_s, window, constants)
    # After 100: 100. 90 is below: 90 (1 + 0.7) / 2 = 76.5. 80 is above that, so 80.
    assert [row["plateau_packets"] for row in told[1:]] == [100, 76.5, 80]
    assert [row["fast"] for row in told] == [False, True, False, False]
    assert [math.isnan(row["convex_from_s"]) for row in told] == [True, True, False, False]
    slow = epochs_of(time_s, window, {**constants, "fast_convergence": 0.0})
    assert [row["plateau_packets"] for row in slow[1:]] == [100, 90, 80]


def test_the_stage_writes_figures_series_and_cycles() -> None:
    window = sawtooth([100, 80, 90], 0.5).tolist()
    alone = TrafficFile.model_validate(
        {"title": "Alone", "interval_s": 0.5, "flows": {"long": {"transport": "tcp"}}}
    )
    flow = {
        "throughput_mbps": 1.4,
        "controller": "reno",
        "window_by_interval_packets": window,
        "rtt_by_interval_ms": [20.0] * len(window),
        "throughput_by_interval_mbps": [1.4] * len(window),
    }
    run = run_of({"long": flow}, queue=[5.0] * len(window))
    tables = analysed(MadeUp(comparisons=[compared([run], traffic=alone)]), "behaviour")
    of_window, queue = (
        select(tables["series"], quantity=name) for name in (over_time.WINDOW, over_time.QUEUE)
    )
    assert of_window["time_s"].tolist()[:2] == [0.5, 1.0]
    assert of_window["value"].tolist() == window
    assert set(of_window["flow"]) == {"long"}
    assert set(queue["value"]) == {5.0}
    (cycle,) = cycles(tables).to_dict("records")
    assert (cycle["epochs"], cycle["top_packets"], cycle["duration_s"]) == (2, 85, 9.5)
    assert cycle["top_kb"] == pytest.approx(85 * 1.448)


def test_a_sweep_of_a_buffer_has_a_point_a_value() -> None:
    runs = pages(2, 3, 5).runs.assign(trial=range(3), label="Reno")
    buffers = study(
        "buffers",
        [
            run_row("reno", {"network_queue_packets": v}, 1.0, 1.0, trial=n, network="router")
            for n, v in enumerate((5, 20, 100))
        ],
        traffic="web",
        networks=("router",),
    )
    buffers = replace(buffers, runs=runs)
    workflow = replace(WORKFLOW, traffic={"web": TRAFFIC}, networks={"router": ROUTER})
    tables = analysed(MadeUp(studies=[buffers], workflow=workflow), "behaviour", "inventory")
    points = network_sweep_points(tables)
    points = points[(points["source"] == "page") & (points["metric"] == "completion_s")]
    assert dict(zip(points["value"], points["mean"], strict=True)) == {5: 2, 20: 3, 100: 5}
    (told,) = records(network_sweeps(tables))
    assert (told["study"], told["values"]) == ("buffers", 3)
    assert told["bdp_packets"] == pytest.approx(5.04e6 * 0.02 / 8 / 1504)
