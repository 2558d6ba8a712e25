"""Properties of the declarations of all installed questions."""

import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.places import SHIPPED
from kneepoint.runs import question, registry
from kneepoint.runs.load import load_workflow
from kneepoint.runs.question import FOLDER, PACKAGE, questions, stages

QUESTIONS = questions()


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_has_what_it_declares(name: str) -> None:
    declared = QUESTIONS[name]
    assert declared.sections
    for section in declared.sections:
        text = (FOLDER / name / "section.md.jinja").read_text()
        assert f"{{% macro {section.says}() %}}" in text
    if declared.figures:
        assert set(import_module(f"{PACKAGE}.{name}.figures").FIGURES) == set(declared.figures)


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


STAGE = 'Stage(tables=("scores",))'


@pytest.mark.parametrize(
    ("declared", "complaint"),
    [
        ("", r"declares no QUESTION; add it"),
        (f"QUESTION = Question(stages=({STAGE},))", "the table 'scores'.* first;"),
        ('QUESTION = Question(figures=("slope",))', "the figure 'slope'.* first;"),
        ('QUESTION = Question(folders=("lab",))', "the folder of results 'lab'.* first;"),
        (
            "QUESTION = Question(settings=create_model('S', __base__=ConfigModel, slope=(int, 1)))",
            "the key 'slope'.* first;",
        ),
        (
            "QUESTION = Question(stages=(Stage(('x',), (), {'first': ('score',)}),))",
            "first makes no table 'score'; did you mean 'scores'?",
        ),
    ],
)
def test_a_wrong_declaration_is_named(
    declared: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = (
        f"QUESTION = Question(stages=({STAGE},), figures=('slope',), folders=('lab',), order=1,"
        " settings=create_model('S', __base__=ConfigModel, slope=(int, 0)))"
    )
    with pytest.raises(KneepointError, match=rf"second/__init__\.py: .*{complaint}"):
        _declared(tmp_path, monkeypatch, first=first, second=declared)


def test_tables_of_a_question_that_is_not_there_are_no_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = "QUESTION = Question(stages=(Stage(('x',), (), {'gone': ('scores',)}),))"
    assert list(_declared(tmp_path, monkeypatch, reader=reader)) == ["reader"]


def test_stages_in_a_circle_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = {
        name: f"QUESTION = Question(stages=(Stage(('{name}',), (), {{'{other}': ('{other}',)}}),))"
        for name, other in (("egg", "hen"), ("hen", "egg"))
    }
    found = _declared(tmp_path, monkeypatch, **declared)
    monkeypatch.setattr(question, "questions", lambda: found)
    with pytest.raises(KneepointError, match=r"cycle, .*(egg, hen|hen, egg)"):
        stages.__wrapped__()


def _declared(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **declarations: str
) -> Mapping[str, question.Question]:
    """Returns the questions of a package with these declarations."""
    package = f"questions_{folder.name}"
    for name, declaration in declarations.items():
        (folder / package / name).mkdir(parents=True)
        (folder / package / name / "__init__.py").write_text(
            "from pydantic import create_model\n"
            "from kneepoint.common.config_file import ConfigModel\n"
            f"from kneepoint.runs.question import Question, Stage\n{declaration}\n"
        )
    (folder / package / "__init__.py").touch()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(question, "PACKAGE", package)
    return question.questions.__wrapped__()
