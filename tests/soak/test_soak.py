"""A short soak, as CI runs it by `make soak ROUNDS=3`; `make soak ROUNDS=20` is a long one."""

from pathlib import Path

import pytest

from tests.soak.study import soak

pytestmark = pytest.mark.long


def test_study_that_is_killed_thrice_has_the_same_tables(tmp_path: Path) -> None:
    tally = soak(tmp_path, rounds=3, seed=2017)
    assert sum(tally.kills.values()) == 3
