"""Networks of trials: traces made from parameters, the same every time."""

from pathlib import Path

import pytest

from kneepoint.common.files import sha256_of
from kneepoint.networks.config import SYNTHETIC_PARAMETERS, Network, Synthetic
from kneepoint.networks.omniscient import omniscient_bound
from kneepoint.networks.prepare import prepare_network
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.networks.searched import SearchedNetworks
from tests.conftest import ROOT

BUILD = ROOT / "build"
DESCRIBED = Network.model_validate(
    {
        "title": "Two seconds",
        "uplink": {
            "synthetic": {"seed": 1, "duration_s": 2, "start_rate_mbps": 4, "max_rate_mbps": 8}
        },
        "downlink": {"constant_mbps": 12},
        "uplink_queue": "droptail:packets=100",
        "duration_s": 2,
    }
)
FASTER = {
    **{"synthetic.max_rate_mbps": 20.0, "synthetic.seed": 3, "queue.packets": 7},
    **{"delay_ms": 5, "delay_step_ms": 3, "delay_period_s": 0.7},
}


@pytest.fixture
def prepared(tmp_path: Path) -> PreparedNetwork:
    prepare_network("two", DESCRIBED, Path("two.yaml"), tmp_path / "two", BUILD)
    return PreparedNetwork.load(tmp_path / "two/network.json")


def test_trace_is_made_from_the_parameters(tmp_path: Path, prepared: PreparedNetwork) -> None:
    searched = SearchedNetworks({"two": DESCRIBED}, BUILD, tmp_path / "searched")
    found = searched.with_value(prepared, FASTER)
    content = Path(found.uplink.trace).read_bytes()
    assert found.uplink.trace_sha256 == sha256_of(content) == Path(found.uplink.trace).stem
    assert found.uplink.trace_sha256 != prepared.uplink.trace_sha256
    assert (found.uplink.queue, found.uplink.delay_ms) == ("droptail:packets=7", 5)
    assert (found.downlink.trace, found.downlink.delay_ms) == (prepared.downlink.trace, 5)
    for link in (found.uplink, found.downlink):
        assert (link.delay_step_ms, link.delay_period_s) == (3, 0.7)
    times_ms = [int(line) for line in content.split()]
    assert found.omniscient == omniscient_bound(times_ms, 2000, repeats=True)
    again = SearchedNetworks({"two": DESCRIBED}, BUILD, tmp_path / "elsewhere")
    assert again.with_value(prepared, FASTER).uplink.trace_sha256 == found.uplink.trace_sha256


def test_forgotten_trace_is_made_again(tmp_path: Path, prepared: PreparedNetwork) -> None:
    searched = SearchedNetworks({"two": DESCRIBED}, BUILD, tmp_path / "searched")
    kept = searched.with_value(prepared, FASTER)
    lost = searched.with_value(prepared, {"synthetic.seed": 2})
    searched.forget_all_but([kept])
    assert [path.stem for path in searched.folder.iterdir()] == [kept.uplink.trace_sha256]
    assert searched.with_value(prepared, {"synthetic.seed": 2}) == lost
    assert Path(lost.uplink.trace).exists()


def test_every_parameter_of_a_trace_but_its_length_can_be_searched() -> None:
    fields = [f"synthetic.{name}" for name in Synthetic.model_fields]
    assert sorted(SYNTHETIC_PARAMETERS) == sorted(set(fields) - {"synthetic.duration_s"})
