"""From the log of a sender to the rule that it behaves like."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.replay import NoSenderError, Replay
from kneepoint.entries.behaviour import describe
from kneepoint.search.behaviour import (
    Family,
    Likeness,
    identify,
    known_families,
    log_runs,
    require_ran,
)
from kneepoint.search.language import parse
from tests.controllers.emulator import EMULATE
from tests.entries.building import link

THRESHOLD = {"rtt_threshold_ms": 70.5, "beta": 4.0, "keepalive_ms": 120}


def logs_of(folder: Path, controller: str, parameters: Mapping[str, float]) -> list[Path]:
    """The logs of a sender on a fast and a slow link."""
    engine = EmulatorSettings.of(EMULATE)
    known = load_catalogue(EMULATE).controller(controller, "test")
    specs = [
        RunSpec.on(engine, known, known.complete(parameters, "test"), network, seed=1)
        for network in (link(folder, "fast", 2, 300), link(folder, "slow", 6, 200))
    ]
    return log_runs(engine, specs, folder)


def found(logs: Sequence[Path], *names: str) -> list[Likeness]:
    catalogue = load_catalogue(EMULATE)
    return identify(logs, [(catalogue.controller(each, "test"), None) for each in names], seed=1)


@pytest.mark.slow
def test_a_rule_is_found_with_its_parameters(tmp_path: Path) -> None:
    logs = logs_of(tmp_path, "delay_threshold", THRESHOLD)
    names = ("aimd_timeout", "delay_threshold")
    nearest, other = found(logs, *names)
    assert nearest.distance < other.distance
    assert nearest.is_near and not other.is_near
    assert nearest.family.name == "delay_threshold"
    parameters = nearest.parameters
    assert 70 < parameters["rtt_threshold_ms"] <= 71  # RTTs are whole milliseconds
    assert abs(parameters["beta"] / 4 - 1) < 0.05 and abs(parameters["alpha"] - 1) < 0.05
    assert (parameters["keepalive_ms"], parameters["initial_window"]) == (120, 10)
    assert re.search(
        r"delay_threshold with alpha .* packets/RTT, .*keepalive_ms 120", nearest.words
    )
    assert found(logs, *names)[0] == nearest


@pytest.mark.slow
def test_of_families_that_contain_each_other_the_smaller_is_named(tmp_path: Path) -> None:
    logs = logs_of(tmp_path, "delay_threshold", THRESHOLD)
    nearest, other = found(logs, "delay_band", "delay_threshold")
    assert (nearest.family.name, other.family.name) == ("delay_threshold", "delay_band")


@pytest.mark.parametrize(
    "family", ["fixed_window", pytest.param("delay_threshold", marks=pytest.mark.slow)]
)
def test_a_sender_of_another_kind_has_no_name(tmp_path: Path, family: str) -> None:
    (likeness,) = found(logs_of(tmp_path, "copa", {}), family)
    assert not likeness.is_near


@pytest.mark.slow
def test_the_numbers_of_a_rule_are_found(tmp_path: Path) -> None:
    own = parse("w = w + 0.1 if rtt < 30 else w - 0.5").parameters
    logs = logs_of(tmp_path, "rule", own)
    guess = parse("w = w + 0.2 if rtt < 45 else w - 0.8")
    controller = load_catalogue(EMULATE).controller("rule", "test")
    (nearest,) = identify(logs, [(controller, guess)], seed=1)
    assert nearest.is_near
    assert all(abs(nearest.parameters[name] / own[name] - 1) < 0.06 for name in own)
    assert parse(nearest.words).code == guess.code


def test_the_first_family_that_is_near_names_a_sender() -> None:
    catalogue = load_catalogue(EMULATE)

    def likeness(name: str, distance: float, explained: float) -> Likeness:
        controller = catalogue.controller(name, "test")
        family = Family.of(controller, None, {"started": 1, "shortest_ms": 0})
        return Likeness(family, [], controller.complete({}, "test"), distance, explained)

    far = likeness("aimd_timeout", 0.01, explained=0.5)
    near = likeness("fixed_window", 0.02, explained=0.99)
    assert describe([far, near])["behaves_like"] == near.words
    assert describe([far])["behaves_like"] is None


def test_the_families_are_the_rules_of_the_reports() -> None:
    assert len(known_families(load_catalogue(EMULATE))) == 11


def test_a_sender_has_no_distance_from_itself(tmp_path: Path) -> None:
    logs = logs_of(tmp_path, "delay_threshold", THRESHOLD)
    with Replay(logs, 100_000) as replay:
        own = replay.compare("delay_threshold", THRESHOLD)
        other = replay.compare("delay_threshold", {**THRESHOLD, "alpha": 2})
        late = replay.compare("delay_threshold", {**THRESHOLD, "keepalive_ms": 500})
        assert replay.compare("delay_threshold", {"gamma": 1})["status"] == "failed"
    assert own["distance"] < 0.002 and own["explained"] > 0.99
    assert (own["started"], own["shortest_ms"] // 1) == (10, 120)
    assert other["distance"] > 0.05
    assert late["distance"] > own["distance"] + 0.3 and late["explained"] == own["explained"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 0 sent 0\n", "flow 0 has no acknowledgment"),
        ("0 0 sent 0\n5 0 ack 1 5 2\n", "'5 0 ack 1 5 2' is no event that may follow"),
        ("0 0 sent 0\n0 0 sent 2\n", "is no event that may follow"),
        ("0 0 sent 0\n5 0 ack 0 -5 2\n", "is no event that may follow"),
        ("99999999999999 0 sent 0\n", "is no event that may follow"),
        ("\x00\n", "is no event that may follow"),
        (None, "cannot be read"),
    ],
)
def test_damaged_logs_are_refused(tmp_path: Path, text: str | None, reason: str) -> None:
    log = tmp_path / "one.log"
    if text is not None:
        log.write_text(text)
    with pytest.raises(KneepointError, match=reason):
        found([log], "fixed_window")


def test_a_fault_of_the_machine_is_not_the_senders() -> None:
    require_ran(RunRecord("", "ok"), "anna")
    with pytest.raises(NoSenderError, match="anna: it crashed"):
        require_ran(RunRecord("", "failed", "it crashed"), "anna")
    with pytest.raises(KneepointError, match="anna: no memory") as caught:
        require_ran(RunRecord("", "fault", "no memory"), "anna")
    assert not isinstance(caught.value, NoSenderError)
