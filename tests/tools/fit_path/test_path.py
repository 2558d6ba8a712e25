"""Fits of a path to schemes whose figures follow from its parameters by a formula."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from kneepoint.config.study import Range
from kneepoint.engines.base import RunRecord
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from kneepoint.tools.fit_path.path import Asked, Fitted, PathDescription, Scheme, fit_path

LINK = PreparedLink(rate_mbps=10, queue="droptail:packets=100")
START = PreparedNetwork("link", LINK, LINK, 10, "event-loop", 0)
SPACE = {
    "network.rate_mbps": Range(low=1, high=100, log=True),
    "network.delay_ms": Range(low=1, high=200, log=True),
    "network.queue.packets": Range(low=5, high=500, log=True),
}
NOISE = 0.01


def answer(scheme: Scheme, network: PreparedNetwork, random: np.random.Generator) -> RunRecord:
    """Returns the metrics of a window that fills a queue, by Little's law, with noise."""
    rate, delay_ms = network.uplink.rate_mbps, network.uplink.delay_ms
    packets = int(network.uplink.queue.rpartition("=")[2])
    window, per_ms = scheme.parameters["window"], rate / 12.032
    queued = min(max(window - 2 * delay_ms * per_ms, 0.2), packets)
    noisy = np.exp(NOISE * random.standard_normal(2))
    throughput = min(rate, window / (2 * delay_ms) * 12.032) * noisy[0]
    delay = (queued / per_ms + delay_ms) * noisy[1]
    return RunRecord("", "ok", throughput_mbps=throughput, signal_delay_p95_ms=delay)


def run(asked: Sequence[Asked]) -> list[RunRecord]:
    return [answer(each, network, np.random.default_rng(seed)) for each, network, seed in asked]


def described(network: PreparedNetwork, windows: Sequence[float], seed: int) -> PathDescription:
    random = np.random.default_rng(seed)
    schemes = []
    for window in windows:
        scheme = Scheme(
            controller="fixed_window", parameters={"window": window}, measured={"loss": 0}
        )
        record = answer(scheme, network, random)
        measured = {
            name: getattr(record, name) for name in ("throughput_mbps", "signal_delay_p95_ms")
        }
        schemes.append(scheme.model_copy(update={"measured": measured}))
    return PathDescription(title="A path", network="link", space=SPACE, schemes=tuple(schemes))


def fitted(truth: dict[str, float], windows: Sequence[float], seed: int = 1) -> Fitted:
    network = START
    for name, value in truth.items():
        network = network.with_value(name.removeprefix("network."), value)
    return fit_path(described(network, windows, seed), START, run, seed)


TRUTH = {"network.rate_mbps": 20.0, "network.delay_ms": 30.0, "network.queue.packets": 60}


def test_intervals_contain_the_truth_and_are_narrow() -> None:
    hits = dict.fromkeys(TRUTH, 0)
    for seed in range(5):
        found = fitted(TRUTH, (20, 110, 400), seed).parameters
        for name, value in TRUTH.items():
            hits[name] += found[name].low <= value <= found[name].high
            assert found[name].high / found[name].low < 2
    assert min(hits.values()) >= 4


def test_what_no_figure_depends_on_may_be_anywhere() -> None:
    """Windows below the bandwidth-delay product see neither the rate nor the queue."""
    found = fitted(TRUTH, (5, 10, 20)).parameters
    assert found["network.delay_ms"].low <= 30 <= found["network.delay_ms"].high
    packets = found["network.queue.packets"]
    assert packets.high / packets.low > 5


def test_schemes_that_contradict_each_other_are_named() -> None:
    assert fitted(TRUTH, (20, 110, 400, 200)).misfit_p > 0.01
    path = described(START, (20, 110, 400, 200), 1)
    wrong = {name: 2 * value for name, value in path.schemes[1].measured.items()}
    schemes = list(path.schemes)
    schemes[1] = schemes[1].model_copy(update={"measured": wrong, "controller": "second"})
    found = fit_path(path.model_copy(update={"schemes": tuple(schemes)}), START, run, 1)
    assert found.misfit_p < 1e-6
    assert found.worst == "second"


def test_an_interval_is_open_where_no_figure_rejects_a_parameter() -> None:
    """A window that just fits determines only the minimum size of the queue."""
    found = [fitted(TRUTH, (20, 110, 140), s).parameters["network.queue.packets"] for s in range(5)]
    assert all(each.low <= 40 < 500 == each.high for each in found)
    assert sorted(each.low for each in found)[2] > 10


def test_the_same_seed_gives_the_same_fit() -> None:
    assert fitted(TRUTH, (20, 110, 400)) == fitted(TRUTH, (20, 110, 400))


SCHEME = {"controller": "fixed_window", "measured": {"throughput_mbps": 1, "loss": 0}}
GOOD: dict[str, Any] = {
    "title": "A path",
    "network": "link",
    "space": {"network.rate_mbps": {"low": 1, "high": 10}},
    "schemes": [SCHEME, SCHEME],
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schemes": [SCHEME]}, "at least 2"),
        ({"schemes": [SCHEME, {**SCHEME, "measured": {"speed": 1}}]}, "speed"),
        ({"schemes": [SCHEME, {**SCHEME, "measured": {"loss": -1}}]}, "loss is -1"),
        ({"schemes": [SCHEME, {**SCHEME, "measured": {"loss": 2.5}}]}, "loss is 2.5"),
        ({"schemes": [SCHEME, {**SCHEME, "measured": {"loss": math.nan}}]}, "finite"),
        ({"space": {"rate_mbps": {"low": 1, "high": 10}}}, "rate_mbps"),
        ({"space": {"network.rate_mbps": {"values": [1, 2]}}}, "low and high"),
        (
            {"space": {f"network.queue.{k}": {"low": 1, "high": 10} for k in range(4)}},
            "4 figures cannot fit 4 parameters",
        ),
    ],
)
def test_a_path_that_cannot_be_fitted_is_refused(changes: dict[str, Any], message: str) -> None:
    PathDescription.model_validate(GOOD)
    with pytest.raises(ValidationError, match=message):
        PathDescription.model_validate({**GOOD, **changes})
