"""The parameters of an entry are searched like the parameters of any controller."""

import json
from pathlib import Path

import pytest
import yaml

from kneepoint.common.errors import KneepointError
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.collect import submission_at, take
from kneepoint.entries.config import EntryFile
from kneepoint.entries.entries import EntryBuilder
from kneepoint.entries.tree import recognize
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.pipeline import Outcome, follow
from kneepoint.runs.runner import Runner
from kneepoint.search.study import search
from kneepoint.tools.contest.tune import plan_tuning, tuned_text
from tests.controllers.emulator import EMULATE
from tests.entries.building import link
from tests.entries.trees import edit, kit

MACRO = "{macro: WINDOW, default: 50, range: [1, 60], integer: true, log: true}"
VARIABLE = "{environment: WINDOW, default: 50, range: [1, 60], integer: true, log: true}"


def entry(tree: Path, parameter: str) -> Path:
    """Writes the kit's sender, which declares its window as a macro or a variable."""
    kit(tree)
    (tree / "kneepoint.yaml").write_text(f"parameters:\n  window: {parameter}\n")
    if parameter == VARIABLE:
        controller = tree / "datagrump/controller.cc"
        edit(controller, "return WINDOW;", 'return std::atoi(std::getenv("WINDOW"));')
        edit(controller, "#include <iostream>", "#include <cstdlib>\n#include <iostream>")
    return tree


def tuned(tree: Path, folder: Path, builder: EntryBuilder, trials: int) -> tuple[Outcome, str]:
    take(submission_at(tree), folder / "taken", builder.compiler.confined)
    found = recognize(folder / "taken")
    engine = EmulatorSettings.of(EMULATE)
    network = link(folder, "link", 3)
    plan = plan_tuning("anna", found, builder, [network], engine, trials=trials, seed=1)
    with RunJournal(folder / "study/runs.jsonl") as journal:
        runner = Runner(journal, lambda _: LocalExecutor(engine), lambda _: None)
        outcome, best = follow(search(folder / "study", plan), runner)
        runner.close()
    assert best
    return outcome, tuned_text(found.declared.parameters, best.parameters)


@pytest.mark.slow
def test_a_variable_and_a_macro_give_the_same_search(tmp_path: Path, builder: EntryBuilder) -> None:
    results = []
    for way, parameter in (("macro", MACRO), ("variable", VARIABLE)):
        folder = tmp_path / way
        outcome, words = tuned(entry(folder / "anna", parameter), folder, builder, 5)
        summary = outcome.summaries["study.json"]
        results.append((summary["best"]["searched"], summary["best"]["value"]))
        assert summary["n_trials"] == 5
        first = outcome.tables["trials.parquet"].to_pylist()[0]
        assert first["parameter_window"] == 50, "it begins with the declared default"
        assert summary["best"]["value"] > first["value"]
        printed = EntryFile(**yaml.safe_load(words)).parameters["window"]
        assert printed.default == summary["best"]["parameters"]["window"]
        assert (printed.range, printed.integer, printed.log) == ((1, 60), True, True)
        json.dumps(summary)
    assert results[0] == results[1]


def test_an_entry_without_parameters_is_refused(tmp_path: Path, builder: EntryBuilder) -> None:
    with pytest.raises(KneepointError, match=r"declares no parameters; name some in kneepoint"):
        tuned(kit(tmp_path / "anna"), tmp_path, builder, 5)


def test_a_macro_without_effect_is_refused(tmp_path: Path, builder: EntryBuilder) -> None:
    tree = entry(tmp_path / "anna", MACRO)
    edit(tree / "datagrump/controller.cc", "#ifndef WINDOW", "#undef WINDOW\n#ifndef WINDOW")
    with pytest.raises(
        KneepointError,
        match=r"kneepoint\.yaml: parameters\.window: .*WINDOW has no .*#ifndef WINDOW",
    ):
        tuned(tree, tmp_path, builder, 5)
