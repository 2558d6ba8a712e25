"""The how-tos work as written: every command, file and change."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from tests.docs.conftest import set_up
from tests.docs.pages import Step, follow, steps_of
from tests.judge.build import AbsentError, fetch
from tests.reports.consistency import contradictions

pytestmark = pytest.mark.slow

DOCS = ROOT / "docs"
HOW_TO = [DOCS / "own-report.md", *sorted((DOCS / "how-to").glob("*.md"))]


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_how_to_works(page: Path, reader: Path, environment: Mapping[str, str]) -> None:
    if page.stem == "bring-a-stacks-controller":
        try:
            fetch()
        except AbsentError as error:
            pytest.skip(f"NOT TESTED: {error}")
    folder = reader.parent if page.stem == "own-report" else reader  # it needs no clone
    for step in follow(page, folder, {**environment, "PYTHONPATH": str(reader)}):
        assert not step.path.startswith("/")
    for report in reader.parent.rglob("results/report.html"):
        assert contradictions(report) == []
    if page.stem == "fit-a-path":
        fitted = yaml.safe_load((reader / "config/networks/my-path.yaml").read_text())
        assert abs(fitted["delay_ms"] - 21) <= 1, "the page says what the figures are of"
    if page.stem == "own-report":
        html = (reader.parent / "lab/results/report.html").read_text()
        assert "Windows on a train" in html
        assert "What the tables <em>do not</em> say." in html
    if page.stem == "add-a-question":
        html = (reader / "lab/results/report.html").read_text()
        assert "The cumulative distribution of the scores of all trials" in html
    if page.stem == "add-a-published-table":
        audit = pd.read_parquet(reader / "lab/results/audit.parquet")
        assert len(audit[audit["report"] == "Nguyen 2024"]) == 3


@pytest.fixture(scope="module")
def written(
    repository: Path, environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A clone with a new report, which has been made once."""
    clone = tmp_path_factory.mktemp("reader") / "kneepoint"
    subprocess.run(["git", "clone", "-q", str(repository), str(clone)], check=True)
    set_up(clone)
    for command in ("python -m kneepoint new-report lab", "make reproduce CONFIG=lab/config.yaml"):
        done = subprocess.run(
            command.split(), cwd=clone, env=dict(environment), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return clone


@pytest.fixture
def reader(written: Path, tmp_path: Path) -> Iterator[Path]:
    """This clone, restored after each page, so that no page needs the changes of another."""
    sockets = shutil.ignore_patterns("*.sock")
    shutil.copytree(written.parent, tmp_path / "before", symlinks=True, ignore=sockets)
    yield written
    shutil.rmtree(written.parent)
    (tmp_path / "before").rename(written.parent)


def test_a_block_that_says_not_what_it_is_for_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Save this as\n`a.yaml`:\n\n```yaml\na: 1\n```\n\nSo:\n\n```yaml\nb: 2\n```\n")
    steps = steps_of(page)
    assert next(steps) == Step("save", "a: 1\n", "a.yaml", 4)
    with pytest.raises(ValueError, match="line 10: says not what to do"):
        next(steps)


def test_a_step_that_fails_is_named(tmp_path: Path, environment: Mapping[str, str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nX=3\ncd /\n```\n\n```sh\n[ $PWD = / ] && [ $X = 3 ] && false\n```\n")
    with pytest.raises(AssertionError, match=r"page.md, line 6:\n\[ \$PWD"):
        list(follow(page, tmp_path, environment))


def test_a_key_that_a_file_has_already_is_not_added(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    """The file would have the key twice, which is an error."""
    (tmp_path / "a.yaml").write_text("a: 1\n")
    page = tmp_path / "page.md"
    page.write_text("Add to `a.yaml`:\n\n```yaml\nb: [2]\n```\n")
    list(follow(page, tmp_path, environment))
    assert (tmp_path / "a.yaml").read_text().split() == ["a:", "1", "b:", "[2]"]
    with pytest.raises(AssertionError, match=r"page.md, line 3: a.yaml has b already"):
        list(follow(page, tmp_path, environment))
