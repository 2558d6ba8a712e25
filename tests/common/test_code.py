"""Digests of code: changes that count, and changes that do not."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kneepoint.common import code
from kneepoint.common.made_by import RUNNER, current_commit
from tests.conftest import ROOT

HELD_OUT = "kneepoint.questions.held_out.plan"
SOURCE = '''"""Says what it does."""

from tools.figures import mean


def score(values: list[float]) -> float:
    """Returns a score."""
    # Twice, because of the units.
    return 2 * mean(values)
'''


class Repository:
    """A repository of two packages, and the cached facts of its files."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        monkeypatch.setattr(code, "ROOT", root)
        monkeypatch.setattr(code, "TOOL", root)
        self.write("requirements.txt", "numpy==2.4.6 \\\n    --hash=sha256:aa\n")
        self.write("tools/__init__.py", "")
        self.write("tools/figures.py", "def mean(values):\n    return sum(values) / len(values)\n")
        self.write("tools/unused.py", "x = 1\n")
        self.write("study/__init__.py", "")
        self.write("study/score.py", SOURCE)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def digest(self, step: str = "study.score") -> str:
        forget()
        return code.digest_of_step(step)


def forget() -> None:
    """Clears the cached facts, so that files are read again."""
    for cached in (code._facts_of, code._imports_of, code._path_of, code.digest_of_packages):
        cached.cache_clear()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    yield Repository(tmp_path, monkeypatch)
    forget()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("study/score.py", SOURCE.replace("2 *", "3 *")),
        ("study/score.py", SOURCE.replace("def score", "def rate")),
        ("study/score.py", SOURCE + "\nLEAST = 0.1\n"),
        ("study/__init__.py", "import warnings\n"),
        ("tools/figures.py", "def mean(values):\n    return max(values)\n"),
        ("tools/__init__.py", "x = 1\n"),
        ("requirements.txt", "numpy==2.4.7 \\\n    --hash=sha256:aa\n"),
    ],
)
def test_code_that_computes_otherwise_has_another_digest(
    repository: Repository, path: str, text: str
) -> None:
    before = repository.digest()
    repository.write(path, text)
    assert repository.digest() != before


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("study/score.py", SOURCE.replace("Returns a score.", "Returns the score of values.")),
        ("study/score.py", SOURCE.replace('"""Says what it does."""\n', "")),
        ("study/score.py", SOURCE.replace("    # Twice, because of the units.\n", "")),
        (
            "study/score.py",
            SOURCE.replace("2 * mean(values)", "(\n        2 * mean(values)\n    )"),
        ),
        ("tools/unused.py", "x = 2\n"),
        ("requirements.txt", "# by uv\nnumpy==2.4.6 \\\n    --hash=sha256:bb\n"),
    ],
)
def test_what_computes_nothing_is_not_in_a_digest(
    repository: Repository, path: str, text: str
) -> None:
    before = repository.digest()
    repository.write(path, text)
    assert repository.digest() == before


def test_what_is_imported_in_a_function_counts_and_what_is_for_type_checkers_does_not(
    repository: Repository,
) -> None:
    lazy = "def f():\n    import tools.unused\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tools.unused\n"
    for text, counts in ((lazy, True), (typed, False)):
        repository.write("study/score.py", text)
        before = repository.digest()
        repository.write("tools/unused.py", f"y = {len(text)}\n")
        assert (repository.digest() != before) == counts


def test_every_step_of_the_workflow_has_what_it_computes_with() -> None:
    """The steps that use a score, a sampler, a seed, the omniscient bound or a statistic."""
    wanted = {
        RUNNER: {"kneepoint.runs.registry", "kneepoint.runs.pipeline", "kneepoint.runs.load"},
        "kneepoint.search.study": {
            "kneepoint.search.objective",
            "kneepoint.search.samplers.ternary",
            "kneepoint.runs.seeds",
        },
        HELD_OUT: {
            "kneepoint.networks.omniscient",
            "kneepoint.runs.seeds",
            "kneepoint.runs.runner",
        },
        "kneepoint.networks.prepare": {
            "kneepoint.networks.omniscient",
            "kneepoint.networks.traces",
        },
        "kneepoint.questions.audit.tables": {
            "kneepoint.analysis.statistics",
            "kneepoint.questions.audit.checks",
        },
        "kneepoint.reports.build": {"kneepoint.common.tables", "kneepoint.reports.render"},
        "kneepoint.questions.searches.figures": {
            "kneepoint.reports.figures.style",
            "kneepoint.analysis.labels",
        },
    }
    for step, modules in wanted.items():
        assert modules <= code.modules_of(step)
    assert "kneepoint.analysis.statistics" not in code.modules_of("kneepoint.search.study")
    asked = {module for module in code.modules_of(RUNNER) if ".questions." in module}
    assert asked == set(), "a question's change would rerun all others' experiments"
    assert all((ROOT / module.replace(".", "/")).with_suffix(".py").is_file() for module in wanted)


def test_changed_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert current_commit(tmp_path).changed_files == ()
    subprocess.run(["git", "init", "--quiet"], check=True)
    (tmp_path / "a file.txt").touch()
    assert current_commit(tmp_path).changed_files == ("a file.txt",)
