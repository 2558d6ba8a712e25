"""The search for rules: the bred rules, the results, and their dependence on the seed alone."""

import random
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.pipeline import follow
from kneepoint.runs.runner import Runner
from kneepoint.search.language import Rule, parse, with_numbers
from kneepoint.tools.evolve.breeding import MAX_OPERATORS, breed, random_rule
from kneepoint.tools.evolve.evolve import Evolution, EvolutionEffort, evolve
from tests.controllers.emulator import EMULATE
from tests.entries.building import link
from tests.wasm.module import needs_module
from tests.wasm.test_rules import broken, require_same

LAW = parse(
    "q = ewma(owd, 0.5); t = 10 * exp(clip(log(rate(1) / rate(9)), -1, 1)); e = (t - q) / t; "
    "w = w + w ** -0.5 if e > 0 else w - 0.5 * (1 + min(-e, 8)); window = w if q < t else 0.9 * w"
)
SMALL = EvolutionEffort(rounds=2, trials=16, tuned=1, longer=2)


def test_children_are_rules_like_their_parents_and_new() -> None:
    rng = random.Random(1)
    parents = [LAW, *(random_rule(rng) for _ in range(9))]
    known = {rule.text for rule in parents}
    structures = set()
    for _ in range(200):
        child = breed(parents, rng, known)
        assert child.text not in known and child.operators <= MAX_OPERATORS
        assert parse(child.text).parameters == child.parameters
        structures.add(tuple(child.code.items()))
        known.add(child.text)
    assert 60 < len(structures) < 180  # the other rules differ only in their literals


@needs_module
def test_the_playground_takes_what_is_bred() -> None:
    rng = random.Random(1)
    rules = [LAW, *(random_rule(rng) for _ in range(20))]
    known = {rule.text for rule in rules}
    while len(rules) < 200:
        rules.append(breed(rules[-60:], rng, known))
        known.add(rules[-1].text)
    texts = [rule.text for rule in rules]
    assert require_same(texts) == len(texts)
    require_same([broken(text, rng) for text in texts])


def test_numbers_go_where_they_came_from() -> None:
    assert with_numbers(LAW, LAW.numbers).text == LAW.text
    numbers = [value + 0.25 for value in LAW.numbers]
    changed = with_numbers(LAW, numbers)
    assert (changed.numbers, changed.code) == (numbers, LAW.code)


def test_the_front_has_no_rule_that_a_shorter_one_beats() -> None:
    found = Evolution({"w = w + 1": (6, 4), "w = w + 2": (3, 1), "w = w + 1 + 1": (3, 2)})
    found.found |= {"w = w * 2 / 1": (3, 9), "w = w - (1 + 1) - 1": (3, 8)}
    front = [(each["operators"], each["value"], each["rule"]) for each in found.front()]
    assert front == [(1, 4, "w = w + 1"), (2, 9, "w = w * 2 / 1")]


def test_length_costs() -> None:
    found = Evolution({"w = w + 1": (3, 10), "w = w + 1 + 1": (3, 10.05)})
    for penalty, best in ((0, "w = w + 1 + 1"), (0.01, "w = w + 1")):
        assert found.best(EvolutionEffort(penalty=penalty), 1)[0].text == best


def test_the_best_differ_in_length() -> None:
    found = Evolution({"w = w + 1": (3, 8), "w = w - 2": (3, 9), "w = w + 1 + 1": (3, 7)})
    best = [each.text for each in found.best(EvolutionEffort(), 3)]
    assert best == ["w = w - 2", "w = w + 1 + 1"]


def searched(
    folder: Path,
    workers: int = 1,
    seed: int = 1,
    first: Sequence[Rule] = (),
    settings: EvolutionEffort = SMALL,
) -> Any:
    folder.mkdir(exist_ok=True)
    network = link(folder, "wire", 3)
    engine = EmulatorSettings.of(EMULATE)
    controller = load_catalogue(EMULATE).controller("rule", "test")
    with RunJournal(folder / "runs.jsonl") as journal:
        runner = Runner(journal, lambda _: LocalExecutor(engine, workers), lambda _: None)
        with closing(runner):
            return follow(evolve(settings, controller, [network], engine, seed, first), runner)


def test_a_search_depends_on_its_seed_alone_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = searched(tmp_path / "one")
    assert searched(tmp_path / "two", workers=3) == found
    assert searched(tmp_path / "other", seed=2)["rule"] != found["rule"]
    lines = (tmp_path / "one/runs.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "one/runs.jsonl").write_text("".join(lines[: len(lines) // 2]))
    made: list[RunSpec] = []
    execute = LocalExecutor.execute

    def counted(self: LocalExecutor, specs: Sequence[RunSpec]) -> Any:
        made.extend(specs)
        return execute(self, specs)

    monkeypatch.setattr(LocalExecutor, "execute", counted)
    assert searched(tmp_path / "one") == found
    assert len(made) == len(lines) - len(lines) // 2


@pytest.mark.slow
def test_a_search_with_more_rounds_goes_on(tmp_path: Path) -> None:
    def runs(rounds: int) -> int:
        searched(tmp_path, settings=EvolutionEffort(rounds=rounds, trials=24, tuned=1, longer=1))
        return len((tmp_path / "runs.jsonl").read_text().splitlines())

    fewer = runs(10)
    assert runs(14) - fewer < 0.6 * fewer


def test_what_is_found_is_no_worse_than_what_it_begins_with(tmp_path: Path) -> None:
    poor = [parse("window = flight"), parse("window = 20")]  # without numbers, or kinds
    found = searched(tmp_path, first=[LAW, *poor])
    values = [value for _, value in found["curve"]]
    assert values == sorted(values) and found["curve"][-1][0] <= found["runs"]
    lengths = [each["operators"] for each in found["front"]]
    assert all(a < b for a, b in pairwise(lengths))
    network, engine = link(tmp_path, "wire", 3), EmulatorSettings.of(EMULATE)
    controller = load_catalogue(EMULATE).controller("rule", "test")

    def power(rule: Rule) -> float:
        parameters = controller.complete(rule.parameters, "test")
        with closing(engine.open()) as opened:
            runs: list[RunRecord] = [
                opened.run(RunSpec.on(engine, controller, parameters, network, seed))
                for seed in range(8)
            ]
        return sum(run.power or 0 for run in runs) / 8

    assert power(parse(found["rule"])) >= 0.98 * power(LAW)
    assert found["fresh"]["low"] <= power(parse(found["rule"])) * 1.02
