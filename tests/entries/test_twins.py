"""Our controllers as whole senders of the kit have the metrics of the built-in controllers."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kneepoint.common.files import sha256_of
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.collect import submission_at
from kneepoint.entries.entries import EntryBuilder
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from tests.controllers.emulator import EMULATE, Link
from tests.entries.trees import TWINS, twin

SEEDS = range(1, 9)


@pytest.mark.long
@pytest.mark.parametrize("name", TWINS)
def test_a_twin_gives_the_same_figures(
    name: str, contest: Link, tmp_path: Path, builder: EntryBuilder
) -> None:
    controller = load_catalogue(EMULATE).controller(name, "test")
    parameters = controller.complete({}, "test")
    compiler = replace(builder.compiler, standards=["-std=gnu++20"])
    tree = twin(tmp_path / name, name, parameters)
    made = replace(builder, compiler=compiler).make(submission_at(tree))
    assert made.built is not None, made.reason
    settings = EmulatorSettings.of(EMULATE)
    network = _contest(contest)
    with closing(settings.open()) as engine:
        for seed in SEEDS:
            entry = engine.run(RunSpec.on(settings, made.built, {}, network, seed))
            built_in = engine.run(RunSpec.on(settings, controller, parameters, network, seed))
            assert _figures(entry) == _figures(built_in), seed


def _contest(link: Link) -> PreparedNetwork:
    uplink, downlink = (
        PreparedLink(str(path), sha256_of(path.read_bytes()))
        for path in (link.uplink, link.downlink)
    )
    return PreparedNetwork("contest", uplink, downlink, None, "event-loop", 600)


def _figures(run: RunRecord) -> dict[str, float]:
    assert run.status == "ok", run.reason
    return {
        name: getattr(run, name)
        for name in ("throughput_mbps", "queueing_delay_p95_ms", "signal_delay_p95_ms", "power")
    }
