"""The example test cases of BBR's draft: docs/bbr-cases.md."""

import re
from pathlib import Path

import pytest

from tests.benchmarks.bbr_cases import CASES, outcome_of


@pytest.mark.parametrize("name", CASES)
def test_bbr_does_what_its_draft_asks_for(name: str) -> None:
    outcome = outcome_of(name)
    assert outcome.is_met, outcome.measured


def test_the_page_has_each_case() -> None:
    rows = re.findall(r"^\| ([\w-]+) \| ", Path("docs/bbr-cases.md").read_text(), re.MULTILINE)
    assert [row for row in rows if row in CASES] == list(CASES)
