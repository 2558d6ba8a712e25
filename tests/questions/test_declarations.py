"""What holds of every question, whichever there are."""

import subprocess
import sys
from importlib import import_module

import pytest

from kneepoint.common.places import SHIPPED
from kneepoint.runs import registry
from kneepoint.runs.load import load_workflow
from kneepoint.runs.question import FOLDER, PACKAGE, questions, stages

QUESTIONS = questions()


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_has_what_it_declares(name: str) -> None:
    question = QUESTIONS[name]
    assert question.sections
    for section in question.sections:
        text = (FOLDER / name / "section.md.jinja").read_text()
        assert f"{{% macro {section.says}() %}}" in text
    if question.figures:
        assert set(import_module(f"{PACKAGE}.{name}.figures").FIGURES) == set(question.figures)


@pytest.mark.parametrize("name", stages())
def test_a_stage_has_the_schemas_of_its_tables(name: str) -> None:
    stage = stages()[name]
    assert [table.name for table in import_module(stage.module).TABLES] == list(stage.tables)


def test_without_its_questions_a_configuration_has_its_studies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workflow = load_workflow(SHIPPED / "config.yaml")
    every = registry.experiments_of(workflow)
    monkeypatch.setattr(registry, "questions", dict)
    found = registry.experiments_of(workflow)
    assert set(found) == set(workflow.studies) < set(every)
    assert {need for each in found.values() for need in each.needs} <= set(found)


def test_declarations_import_no_slow_package() -> None:
    slow = "{'pandas', 'matplotlib', 'optuna', 'scipy', 'pyarrow', 'ray'}"
    program = (
        "import sys; from kneepoint.runs.question import questions; questions();"
        f"print(*sorted({slow} & {{*sys.modules}}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
