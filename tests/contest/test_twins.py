"""Our controllers as whole senders of the kit give what the built-in ones give."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

import pytest

from common.files import sha256_of
from contest.collect import submission_at
from contest.contenders import Workshop
from engines.base import RunRecord, RunSpec
from engines.catalogue import load_catalogue
from engines.emulator import EmulatorSettings
from networks.scenario import PreparedLink, PreparedNetwork
from tests.contest.conftest import EMULATE
from tests.contest.trees import TWINS, twin
from tests.controllers.emulator import Link

SEEDS = range(1, 9)
WITHIN = 0.005


@pytest.mark.long
@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("figure", ["throughput_mbps", "signal_delay_p95_ms"])
def test_a_twin_gives_the_same_figures(
    name: str, figure: str, contest: Link, tmp_path: Path, workshop: Workshop
) -> None:
    """Within half a percent, or three standard errors of eight runs where those are more."""
    controller = load_catalogue(EMULATE).controller(name, "test")
    constants = controller.complete({}, "test")
    made = workshop.make(submission_at(twin(tmp_path / name, name, constants)))
    assert made.entry is not None, made.reason
    settings = EmulatorSettings.of(EMULATE)
    network = _contest(contest)
    engine = settings.open()
    try:
        entry, built_in = (
            [engine.run(spec) for spec in specs]
            for specs in (
                [RunSpec.of_entry(settings, made.entry, network, seed) for seed in SEEDS],
                [RunSpec.on(settings, controller, constants, network, seed) for seed in SEEDS],
            )
        )
    finally:
        engine.close()
    ours, theirs = ([getattr(run, figure) for run in _good(runs)] for runs in (built_in, entry))
    noise = 3 * ((stdev(ours) ** 2 + stdev(theirs) ** 2) / len(SEEDS)) ** 0.5
    assert mean(theirs) == pytest.approx(mean(ours), abs=max(WITHIN * mean(ours), noise))


def _contest(link: Link) -> PreparedNetwork:
    uplink, downlink = (
        PreparedLink(str(path), sha256_of(path.read_bytes()))
        for path in (link.uplink, link.downlink)
    )
    return PreparedNetwork("contest", uplink, downlink, None, "event-loop", 600)


def _good(runs: Sequence[RunRecord]) -> Sequence[RunRecord]:
    assert all(run.status == "ok" for run in runs), [run.reason for run in runs]
    return runs
