"""Digests of code: what changes them, and what does not."""

import os
from pathlib import Path

import pytest

from common import code
from tests.conftest import ROOT

HELD_OUT = "experiments.planners.held_out"
SOURCE = '''"""Says what it does."""

from tools.figures import mean


def score(values: list[float]) -> float:
    """Returns a score."""
    # Twice, because of the units.
    return 2 * mean(values)
'''


class Repository:
    """A repository of two packages, and what is known of its files."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        monkeypatch.setattr(code, "ROOT", root)
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
        code._used.clear()
        for cached in (code._facts_of, code._kept_facts, code._imports_of, code._path_of):
            cached.cache_clear()
        return code.digest_of_step(step)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    return Repository(tmp_path, monkeypatch)


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


def test_locked_packages_have_a_digest_of_their_own(repository: Repository) -> None:
    before = code.digest_of_packages()
    repository.write("requirements.txt", "numpy==2.4.6 \\\n    --hash=sha256:bb\n")
    assert code.digest_of_packages() == before
    repository.write("requirements.txt", "numpy==2.4.7 \\\n    --hash=sha256:aa\n")
    assert code.digest_of_packages() != before


def test_facts_that_are_kept_are_those_of_the_files(repository: Repository) -> None:
    fresh = repository.digest()
    code.keep_facts()
    assert repository.digest() == fresh
    kept = repository.root / "build/code/modules.json"
    for damaged in ("", "[]", "{", '{"a": 1}', '{"a": [1, 2]}'):
        kept.write_text(damaged)
        assert repository.digest() == fresh


def test_note_is_written_only_when_the_digest_is_another(tmp_path: Path) -> None:
    path = code.note("step", "abc", 5 * 10**9, tmp_path)
    assert path.stat().st_mtime_ns == 5 * 10**9
    assert code.note("step", "abc", None, tmp_path).stat().st_mtime_ns == 5 * 10**9
    code.note("step", "abd", 6 * 10**9, tmp_path)
    assert path.stat().st_mtime_ns > 6 * 10**9
    assert path.read_text() == "abd\n"


def test_a_settled_note_is_as_old_as_the_files_that_changed_it(tmp_path: Path) -> None:
    made = [tmp_path / name for name in ("a", "b", "absent")]
    for second, path in enumerate(made[:2], start=3):
        path.write_text("made")
        os.utime(path, ns=(second * 10**9, second * 10**9))
    note = code.note("real", "before", 9 * 10**9, tmp_path)
    code.settle_note(note, "before", made)
    assert note.stat().st_mtime_ns == 9 * 10**9
    code.settle_note(note, "after", made)
    assert (note.read_text(), note.stat().st_mtime_ns) == ("after\n", 4 * 10**9)
    oldest_ns = min(Path(each).stat().st_mtime_ns for each in made if Path(each).is_file())
    code.settle_note(note, "all", made, is_all_made=True)
    assert (note.read_text(), note.stat().st_mtime_ns) == ("all\n", oldest_ns)
    assert oldest_ns < 4 * 10**9


CPP = """#include "network/link.hh"  // the link
#define TWICE(x) (2 * (x))
/* How long
   it waits. */
constexpr double wait_ms = 1'000.5;  // never less
const char* text = "a // b /* c */";
const auto raw = R"x(// not " a comment)x";
"""


@pytest.mark.parametrize(
    ("changed", "is_other"),
    [
        (CPP.replace("never less", "at least"), False),
        (CPP.replace("/* How long\n   it waits. */\n", ""), False),
        (CPP.replace("wait_ms = 1", "wait_ms =\n    1"), False),
        (CPP.replace("// the link", ""), False),
        (CPP.replace("1'000.5", "1'000.6"), True),
        (CPP.replace("// b", "// c"), True),
        (CPP.replace("// not", "// now"), True),
        (CPP.replace("2 * (x)", "3 * (x)"), True),
    ],
)
def test_comments_and_formatting_are_not_in_the_digest_of_cpp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str, is_other: bool
) -> None:
    monkeypatch.setattr(code, "ROOT", tmp_path)
    digests = []
    for text in (CPP, changed):
        (tmp_path / "a.cc").write_text(text)
        digests.append(code.digest_of_cpp([Path("a.cc")]))
    assert (digests[0] != digests[1]) == is_other


def test_every_step_of_the_workflow_has_what_it_computes_with() -> None:
    """Of a score, a sampler, a seed, the omniscient bound and a statistic, who computes with it."""
    wanted = {
        "search.study": {"search.objective", "search.samplers.ternary", "experiments.seeds"},
        HELD_OUT: {"networks.omniscient", "experiments.seeds", "experiments.runner"},
        "networks.prepare": {"networks.omniscient", "networks.validate"},
        "analysis.audit": {"analysis.statistics", "analysis.checks"},
        "reports.build": {"common.tables", "reports.render"},
        "reports.figures.probe": {"reports.figures.style", "analysis.labels"},
    }
    for step, modules in wanted.items():
        assert modules <= code.modules_of(step)
    assert "analysis.statistics" not in code.modules_of("search.study")
    assert all((ROOT / module.replace(".", "/")).with_suffix(".py").is_file() for module in wanted)
