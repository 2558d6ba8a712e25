"""Paths with special characters of a shell are only paths."""

from pathlib import Path

import pytest

from tests.workflow.conftest import make_checkout

pytestmark = pytest.mark.slow

SIGNS = "$(touch injected) `touch injected`;touch injected & 'ü\" *"


def test_paths_with_signs_of_a_shell_are_only_paths(tmp_path: Path) -> None:
    """Paths of the checkout, of the configuration and of the results."""
    folder = tmp_path / f"my chëckout {SIGNS}"
    folder.mkdir()
    checkout = make_checkout(folder)
    (folder / "config").rename(folder / f"c {SIGNS}")

    checkout.write(
        f"c {SIGNS}/a {SIGNS}.yaml",
        {
            "seed": 5,
            "results": f"r {SIGNS}",
            "studies": ["grid"],
            "repeats": ["again"],
            "showcase": {"controller": "timely", "network": "mini"},
        },
    )
    checkout.run("--cores", "2", "--configfile", f"c {SIGNS}/a {SIGNS}.yaml")
    assert (folder / f"c {SIGNS}" / f"r {SIGNS}" / "report.pdf").read_bytes().startswith(b"%PDF")
    assert not [*tmp_path.rglob("injected")]
