"""Comparisons: figures of flows and probes, against the kernel and published numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kneepoint.analysis import over_time
from kneepoint.analysis.frames import records, select
from kneepoint.analysis.results import Compared
from kneepoint.analysis.schema import TABLES
from kneepoint.analysis.statistics import spreads
from kneepoint.common.tables import from_frame, to_frame
from kneepoint.config.comparison import Comparison
from kneepoint.engines.base import FLOW_METRICS, PROBE_METRICS
from kneepoint.networks.config import Network
from kneepoint.networks.traffic import TrafficFile
from kneepoint.questions.comparisons import tables as comparisons
from tests.analysis.synthetic import LINK, WORKFLOW, MadeUp, analysed, run_row, study
from tests.questions.test_together import with_all

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
PAIR = TrafficFile.model_validate(
    {"title": "Two", "flows": {"first": {}, "second": {"controller": "reno"}}}
)
LINKS = {"uplink": LINK, "downlink": LINK}
ROUTER = Network(title="A router", **LINKS, delay_ms=10, duration_s=90)
Told = Mapping[str, Mapping[str, Any]]


def run_of(flows: Told, probes: Told | None = None, **more: Any) -> dict[str, Any]:
    """Returns a run of Reno under traffic, with these metrics of flows and probes."""
    place = {"traffic": "web", "network": "router", "label": "Reno"}
    titles = {"traffic_title": "A page and pings", "network_title": "A router"}
    told = {
        kind: [{**dict.fromkeys(metrics), "name": name, **each} for name, each in of.items()]
        for kind, metrics, of in (
            ("flows", FLOW_METRICS, flows),
            ("probes", PROBE_METRICS, probes or {}),
        )
    }
    nothing = {"queue_by_interval_packets": None}
    return run_row("reno", {}, 1.4, 100.0, **place, **titles, **told, **nothing | more)


def compared(
    runs: Sequence[Mapping[str, Any]],
    engine: Any = "emulator",
    traffic: TrafficFile = TRAFFIC,
    published: Sequence[Mapping[str, Any]] = (),
) -> Compared:
    config = Comparison.model_validate(
        {
            **{"title": "Buffers", "source": "Report 003"},
            "engines": {"emulator": {"repeats": 1}, "kernel": {"repeats": 1}},
            "settings": [{"controller": "reno"}, {"controller": "cubic"}],
            **{"traffic": "web", "networks": ["router"], "published": published},
        }
    )
    of_name = {"web": traffic}, {"router": ROUTER}
    return Compared("buffers", config, engine, *of_name, pd.DataFrame(list(runs)))


def figures(ours: Compared) -> pd.DataFrame:
    return comparisons.figures_of(ours.engine, ours.runs, ours.traffic, ours.networks)


def pages(*seconds: float, engine: str = "emulator", published: Any = ()) -> Compared:
    long = {"throughput_mbps": 1.4, "loss_events": 30}
    runs = [
        run_of(
            {"long": long, "page": {"completion_s": s}},
            {"ping": {"rtt_mean_ms": 100 * s, "rtt_min_ms": 90 * s}},
        )
        for s in seconds
    ]
    return compared(runs, engine, published=published)


def test_every_flow_and_probe_has_its_figures() -> None:
    told = spreads(figures(pages(2, 4)), comparisons.FIGURE).set_index(["source", "metric"])
    assert told.loc[("page", "completion_s"), "mean"] == 3
    assert tuple(told.loc[("ping", "rtt_mean_ms"), ["least", "greatest"]]) == (200, 400)
    assert told.loc[("long", "loss_events_per_minute"), "mean"] == 30, "a minute counts"
    assert told.loc[("link", "utilization"), "n"] == 2
    shown = {"long": "throughput_mbps", "page": "completion_s", "ping": "rtt_mean_ms"}
    assert list(told.index[told["shown"]]) == list(shown.items())


def printed(value: float, figure: str = "page.completion_s", **more: object) -> dict[str, object]:
    place = {"setting": 0, "network": "router", "place": f"item {value:g}"}
    return {**place, "figure": figure, "value": value, "step": 0.1, **more}


@pytest.mark.parametrize(
    ("published", "position", "off"),
    [
        (printed(3), "inside", 0),
        (printed(1.96), "inside", 0),  # half a digit
        (printed(4.2), "near", 0.0375),
        (printed(5), "outside", 0.2375),
        (printed(1, high=2.5), "inside", 0),
        (printed(1, figure="page.goodput_mbps"), "not comparable", math.nan),
    ],
)
def test_published_numbers_stand_beside_the_range_of_our_runs(
    published: dict[str, object], position: str, off: float
) -> None:
    ours = pages(2, 4, published=[published])
    (row,) = records(comparisons.beside_published(ours, figures(ours)))
    assert (row["position"], row["verdict"]) == (position, position)
    assert row["off"] == pytest.approx(off, nan_ok=True)


def test_engines_agree_within_the_tolerance_or_the_kernels_range() -> None:
    def beside_kernel(*kernel_s: float) -> pd.DataFrame:
        both = [figures(pages(2, 4)), figures(pages(*kernel_s, engine="kernel"))]
        found = spreads(pd.concat(both), comparisons.FIGURE).assign(comparison="pages")
        schema = TABLES["traffic_figures"]
        told = to_frame(schema, from_frame(schema, found))
        return comparisons.beside_kernel({"traffic_figures": told}).set_index("source")

    told = beside_kernel(3.2, 3.4)
    page, ping = told.loc["page"], told.loc["ping"]
    assert (page["emulator_mean"], page["kernel_mean"]) == (3, pytest.approx(3.3))
    assert not page["agrees"]  # 3 s is outside 3.2 to 3.4, and downloads have no tolerance
    assert not ping["agrees"]  # 9 % apart
    assert told["agrees"]["long"].all()
    assert beside_kernel(2.9, 9).loc["page", "agrees"]  # inside the range


def test_shares_are_of_the_throughput_of_all_endless_flows() -> None:
    def told(*rates: tuple[float, float]) -> pd.DataFrame:
        names = ("first", "second")
        runs = [
            run_of({n: {"throughput_mbps": r} for n, r in zip(names, each, strict=True)})
            for each in rates
        ]
        return comparisons.shares(compared(runs, traffic=PAIR)).set_index("flow")

    found = told((3.0, 1.0), (2.0, 2.0))
    assert found["mean"].tolist() == pytest.approx([0.625, 0.375])
    assert found["under_study"].tolist() == [True, False]
    assert found.loc["second", "jains_index"] == pytest.approx((16 / (2 * 10) + 1) / 2)
    idle = told((0.0, 0.0))
    assert idle["n"].tolist() == [0, 0] and idle["mean"].isna().all()
    assert comparisons.shares(pages(2)).empty  # a single endless flow shares nothing


def sawtooth(tops: Sequence[float], fall: float) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Ramps of twenty samples, each from `fall` times the previous top to its top."""
    parts, before = [], 10.0
    for top in tops:
        parts.append(np.linspace(before, top, 20))
        before = fall * top
    return np.concatenate([*parts, np.full(3, before)])


def test_cubics_plateau_falls_further_where_a_loss_comes_early() -> None:
    parameters = {"c": 0.4, "beta": 0.7, "fast_convergence": 1.0}
    window = sawtooth([100, 90, 80, 95], 0.7)
    time_s = np.arange(1.0, len(window) + 1)
    told = comparisons.epochs_of(time_s, window, parameters)
    # After the loss at 100: 100. 90 is below it: 90 (1 + 0.7) / 2 = 76.5. 80 is above 76.5: 80.
    assert [row["plateau_packets"] for row in told[1:]] == [100, 76.5, 80]
    assert [row["fast"] for row in told] == [False, True, False, False]
    assert [math.isnan(row["convex_from_s"]) for row in told] == [True, True, False, False]
    slow = comparisons.epochs_of(time_s, window, {**parameters, "fast_convergence": 0.0})
    assert [row["plateau_packets"] for row in slow[1:]] == [100, 90, 80]


@with_all("over_time")
def test_the_stage_writes_figures_series_and_cycles() -> None:
    window = sawtooth([100, 80, 90], 0.5).tolist()
    flows = {"flows": {"long": {"transport": "tcp"}}, "interval_s": 0.5}
    alone = TrafficFile.model_validate({"title": "Alone", **flows})
    flow = {
        **{"throughput_mbps": 1.4, "controller": "reno", "window_by_interval_packets": window},
        "rtt_by_interval_ms": [20.0] * len(window),
        "throughput_by_interval_mbps": [1.4] * len(window),
    }
    run = run_of({"long": flow}, queue_by_interval_packets=[5.0] * len(window))
    tables = analysed(MadeUp(comparisons=[compared([run], traffic=alone)]))
    of_window, queue = (
        select(tables["series"], quantity=name) for name in (over_time.WINDOW, over_time.QUEUE)
    )
    assert of_window["time_s"].tolist()[:2] == [0.5, 1.0]
    assert of_window["value"].tolist() == window
    assert set(of_window["flow"]) == {"long"}
    assert set(queue["value"]) == {5.0}
    (cycle,) = records(comparisons.cycles(tables))
    assert (cycle["epochs"], cycle["top_packets"], cycle["duration_s"]) == (2, 85, 9.5)
    assert cycle["top_kb"] == pytest.approx(85 * 1.448)


def test_a_sweep_of_a_buffer_has_a_point_a_value() -> None:
    runs = [
        run_row("reno", {"network_queue_packets": v}, 1.0, 1.0, trial=n, network="router")
        for n, v in enumerate((5, 20, 100))
    ]
    buffers = study("buffers", runs, traffic="web", networks=("router",))
    buffers = replace(buffers, runs=pages(2, 3, 5).runs.assign(trial=range(3)))
    workflow = replace(WORKFLOW, traffic={"web": TRAFFIC}, networks={"router": ROUTER})
    tables = analysed(MadeUp(studies=[buffers], workflow=workflow), "comparisons", "inventory")
    points = comparisons.network_sweep_points(tables)
    points = select(points, source="page", metric="completion_s")
    assert dict(zip(points["value"], points["mean"], strict=True)) == {5: 2, 20: 3, 100: 5}
    (told,) = records(comparisons.network_sweeps(tables))
    assert (told["study"], told["values"]) == ("buffers", 3)
    assert told["bdp_packets"] == pytest.approx(5.04e6 * 0.02 / 8 / 1504)
