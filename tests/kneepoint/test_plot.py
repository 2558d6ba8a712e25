"""`kneepoint plot`: figures from made-up tables, and its errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.analysis import synthetic
from tests.experiments.wire import NETWORK, STUDY
from tests.experiments.wire import write as write_yaml
from tests.kneepoint.conftest import ENVIRONMENT, answer, ask, refused


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration whose results are the analysed tables of made-up runs."""
    folder = tmp_path_factory.mktemp("plots")
    write_yaml(folder / "config/config.yaml", {"seed": 1, "studies": ["windows"]})
    write_yaml(folder / "config/networks/wire.yaml", NETWORK)
    write_yaml(folder / "config/studies/windows.yaml", STUDY)
    (folder / "results").mkdir()
    synthetic.write_tables(folder / "results")
    return folder


def test_all_figures_are_listed(folder: Path) -> None:
    names = answer(folder, "plot")
    assert {"plane-contest", "at-a-glance-all", "held-out-gain-all"} < set(names)
    assert ask(folder, "plot").stdout.split() == names


DRAW_AGAIN = """
import sys
from kneepoint.cli import kneepoint

for path in sys.argv[1:]:
    kneepoint.main(["plot", "plane", "--out", path], standalone_mode=False)
"""


def test_figure_is_drawn_and_in_another_process_the_same(folder: Path, tmp_path: Path) -> None:
    """In SVG and PDF, identifiers and dates could differ."""
    first, second = ([tmp_path / f"{n}.{kind}" for kind in ("svg", "png", "pdf")] for n in (1, 2))
    for path in first:
        assert answer(folder, "plot", "plane", "--out", str(path))["file"] == str(path)
    environment = {**os.environ, **ENVIRONMENT}
    subprocess.run(
        [sys.executable, "-c", DRAW_AGAIN, *second[::2]], cwd=folder, env=environment, check=True
    )
    assert first[1].read_bytes().startswith(b"\x89PNG")
    for one, other in zip(first[::2], second[::2], strict=True):
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nothing"], "there is no figure 'nothing'; known: "),
        (["power-curv"], "there is no figure 'power-curv'; did you mean 'power-curve'?"),
        (["plane-moon"], "there is no figure plane-moon; figures of this kind: plane-contest"),
        (["plane", "--out", "x.jpg"], "x.jpg: unknown figure format; use .png, .svg or .pdf"),
    ],
)
def test_what_cannot_be_drawn_is_refused(folder: Path, words: list[str], complaint: str) -> None:
    assert complaint in refused(folder, "plot", *words)


def test_missing_table_is_named(folder: Path) -> None:
    table = folder / "results/held_out_power.parquet"
    table.rename(table.with_suffix(".away"))
    error = refused(folder, "plot", "plane")
    table.with_suffix(".away").rename(table)
    assert "results/held_out_power.parquet" in error and "`kneepoint report`" in error
