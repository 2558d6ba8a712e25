"""The first page: the findings of any set of results."""

import re
from typing import Any

from tests.analysis import synthetic
from tests.reports.told import Told, plain, told, told_by

MAX_WORDS = 170
"""The number of words that are read aloud in a minute."""


def said(report: Told) -> list[str]:
    """Returns the lines of findings."""
    (listed,) = (each for each in report.blocks("ul") if each.get("class") == "findings")
    return [" ".join(plain(line).split()) for line in listed]


def spoken(report: Told) -> str:
    return report.text("glance")


def test_the_first_page_says_what_was_reproduced_and_what_holds_elsewhere() -> None:
    report = told(synthetic.results())
    lines = said(report)
    audited = synthetic.analysed(synthetic.results())["audit"]
    audited = audited[audited["comparison"] == "reports"]
    counts = audited["verdict"].value_counts()
    first = counts.get("reproduced", 0) + counts.get("close", 0)
    assert lines[0].startswith(f"**{first} of {len(audited)} ")
    assert ("fitted to its table" in lines[0]) == (counts.get("fitted", 0) > 0)
    assert lines[1].startswith("**1 row is") and "001 fixed window 40" in lines[1]
    assert any("unknown link" in line for line in lines)
    assert all("{" in line for line in lines), "each links to what it is made of"
    assert "throughput over the 95th percentile" in spoken(report)
    assert 4 <= len(lines) <= 5
    assert len(re.findall(r"\S+", spoken(report))) <= MAX_WORDS


def test_without_an_audit_or_other_networks_the_page_claims_neither() -> None:
    tables: Any = synthetic.analysed(synthetic.results())
    empty = {
        name: tables[name].iloc[:0]
        for name in tables
        if name.startswith(("audit", "held_out", "repeatability", "recovery"))
    }
    lines = said(told_by({**tables, **empty}))
    assert not any(word in line for line in lines for word in ("rows", "row is", "unknown link"))
    assert any("No other network" in line or "Best" in line for line in lines)
