"""The committed held-out networks follow their rule, and use no part of the training trace."""

import pytest

from kneepoint.networks.config import Cut, Network, load_network, load_trace_catalogue
from kneepoint.networks.fetch import TraceCache, cache_folder_of
from kneepoint.networks.traces import parse_trace
from tests.conftest import ROOT

CONFIG = ROOT / "config" / "config.yaml"
PARTS_S = {
    "Verizon-LTE-short": ("Verizon-LTE-driving", Cut(start_s=860, end_s=1000)),
    "TMobile-LTE-short": ("TMobile-LTE-driving", Cut(start_s=325, end_s=465)),
}
CONTEST = load_network(CONFIG, "contest")
USERS_CACHE = cache_folder_of(None)  # read here: each test has a cache of its own


def cached(trace: str) -> list[int]:
    """Returns a trace's opportunities (ms), or skips the test, loudly."""
    content = TraceCache(USERS_CACHE, load_trace_catalogue(CONFIG)).get(trace)
    if content is None:
        pytest.skip(f"NOT TESTED: {trace} is not in the cache; run `make reproduce`")
    return parse_trace(content, trace)


def held_out() -> dict[str, Network]:
    names = [path.stem for path in sorted((CONFIG.parent / "networks").glob("*.yaml"))]
    names = [
        name for name in names if not name.startswith(("abc-", "sprout-"))
    ]  # published tables'
    networks = {name: load_network(CONFIG, name) for name in names}
    return {name: n for name, n in networks.items() if n.trace_names != CONTEST.trace_names}


def test_held_out_networks_are_all_the_other_traces_of_the_package() -> None:
    traces = {trace for network in held_out().values() for trace in network.trace_names}
    assert traces == set(load_trace_catalogue(CONFIG)) - set(CONTEST.trace_names)


def test_cuts_are_the_middle_of_the_first_and_the_last_third() -> None:
    cuts: dict[str, list[float]] = {}
    for network in held_out().values():
        if network.uplink.cut and network.uplink.trace:
            assert network.uplink.cut.end_s - network.uplink.cut.start_s == 120
            trace = network.uplink.trace.removesuffix(".down")
            cuts.setdefault(trace, []).append(network.uplink.cut.start_s)
    assert len(cuts) == 5
    for trace, starts in cuts.items():
        ends_ms = [cached(f"{trace}.{side}")[-1] for side in ("down", "up")]
        due = [(min(ends_ms) // 1000 * k // 6 - 60) // 10 * 10 for k in (1, 5)]
        # The package has the last third of this recording as a separate trace.
        assert starts == (due[:1] if trace == "TMobile-LTE-driving" else due)


def test_no_cut_touches_what_another_network_has() -> None:
    for network in held_out().values():
        cut = network.uplink.cut
        for whole, part in PARTS_S.values():
            if cut and network.uplink.trace == f"{whole}.down":
                assert cut.end_s <= part.start_s or cut.start_s >= part.end_s
