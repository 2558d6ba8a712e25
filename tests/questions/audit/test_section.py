"""The report's section on the audit."""

from typing import Any

import pytest

from kneepoint.analysis.frames import Record
from kneepoint.analysis.labels import DASH, MINUS
from kneepoint.analysis.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from kneepoint.analysis.schema import TABLES
from kneepoint.reports import blocks, compose
from kneepoint.reports.document import document
from tests.analysis import synthetic
from tests.reports.told import Told, told


def test_audit_counts_add_up_and_the_evidence_is_listed() -> None:
    report = told(synthetic.results())
    counts = [int(cell.replace(DASH, "0")) for cell in report.rows("audit-counts")[-1][1:-1]]
    rows, _, *verdicts = counts
    assert rows == 71 == sum(verdicts)
    lines = report.rows("audit-contradicted")
    assert [line[0] for line in lines if line[0]] == ["001 fixed window 40"]
    assert lines[0][1] == "Signal delay" and "neighbours" in lines[0][5]


PLACE = {"comparison": "reports", "table": "001-windows", "row": 4}
LINE = {**PLACE, "name": "001 window 40", "runs": 5} | {
    f"{name}_{metric}": value
    for metric, *values in (
        (THROUGHPUT, 4.32, 4.5, 0.0417),
        (SIGNAL_DELAY, 190.0, 171.0, -0.1),
        (POWER, 22.26, 26.3, 0.18),
    )
    for name, value in zip(("published", "ours", "relative"), values, strict=True)
}


@pytest.mark.parametrize(
    ("piece", "cells"),
    [
        (
            {"kind": "arithmetic", "metric": POWER, "low": 22.65, "high": 22.82, "remark": "any"},
            ("Power", "22.26", "26.30", "18.0 %", "22.65 to 22.82", "any"),
        ),
        (
            {"kind": "conflict", "metric": POWER, "other_published": 24.0}
            | {"other_table": "004 & more", "other_row": 0},
            ("Power", "22.26", "26.30", "18.0 %", "24.0", "004 & more row 1"),
        ),
        (
            {"kind": "replay", "metric": SIGNAL_DELAY, "p": 0.0042},
            ("Signal delay", "190", "171", "-10.0 %", DASH, "p 0.0042"),
        ),
        (
            {"kind": "selected", "metric": SIGNAL_DELAY, "low": 2, "high": 30, "remark": "best"},
            ("Signal delay", "190", "171", "-10.0 %", "2 to 30 runs", "best"),
        ),
        ({"kind": "lost", "share": 0.932}, (DASH, DASH, DASH, DASH, "93.2 % of the packets", "")),
        ({"kind": "no run"}, (DASH, DASH, DASH, DASH, DASH, "")),
    ],
)
def test_evidence_is_a_row_of_numbers(piece: Record, cells: tuple[str, ...]) -> None:
    nothing = dict.fromkeys(column.name for column in TABLES["audit_evidence"].columns)
    tables = {"audit_evidence": [{**nothing, "parameters": (), **PLACE, **piece}]}
    template = compose.environment().get_template("questions/audit/section.md.jinja")
    of = {
        **blocks.functions(),
        "rows": lambda name: tables.get(name, []),
        "printed_in": lambda *place: place[-1],
    }
    module: Any = template.make_module(of)
    said = Told(document(str(module.evidence("x", "X", "", [LINE])), "T"))
    (found,) = said.records("audit-x")
    there = [found.get(each, DASH) for each in ("Metric", "Published", "Ours", "Difference")]
    stated = [found.get("That is", DASH), found.get("Note", "")]
    assert found["Row"] == "001 window 40" and found["Evidence"]
    signs = str.maketrans({MINUS: "-", "\N{NO-BREAK SPACE}": " ", "+": None})
    assert tuple(each.translate(signs) for each in (*there, *stated)) == cells
