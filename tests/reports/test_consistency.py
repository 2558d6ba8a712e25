"""The checker of reports finds planted contradictions, and no others."""

from pathlib import Path

import pytest

from tests.reports.consistency import contradictions

PAGE = """<p>Power rose by +3.9 % (+1.0 to +6.8).</p>
<figure id="audit-counts"><table><thead><tr><th>Table</th><th>Rows</th><th>Reproduced</th>
<th>Contradicted</th></tr></thead><tbody>
<tr><td>one</td><td>3</td><td>2</td><td>1</td></tr>
<tr><td>two</td><td>1</td><td>1</td><td></td></tr>
<tr><td>all</td><td>4</td><td>3</td><td>1</td></tr></tbody></table></figure>
<figure id="rows-two"><table><thead>
<tr><th colspan="1"></th><th colspan="3">Power</th><th></th></tr>
<tr><th>Row</th><th>published</th><th>ours</th><th>%</th><th>Verdict</th></tr></thead><tbody>
<tr><td>1</td><td>12.84</td><td>12.82</td><td>\N{MINUS SIGN}0.2</td><td>reproduced</td></tr>
</tbody></table></figure>
<figure id="searches"><table><thead><tr><th>Search</th><th>Best parameters</th>
<th>Throughput<br>Mbit/s</th><th>Signal delay<br>ms</th><th>Power<br>Mbit/s/s</th>
<th>Published<br>Mbit/s/s</th><th>Gain<br>%</th></tr></thead><tbody>
<tr><td>tuned</td><td>window 12</td><td>2.25</td><td>176</td><td>12.82 ± 0.01</td>
<td>11.79 ± 0.20</td><td>+8.7 ± 0.2</td></tr></tbody></table></figure>
<figure id="sweeps"><table><thead><tr><th>Best</th><th>Power<br>Mbit/s/s</th></tr></thead><tbody>
<tr><td>window 12 packets</td><td>12.83 ± 0.01</td></tr></tbody></table></figure>
<figure id="parameters-tune"><table><thead><tr><th>Parameter</th><th>Best</th></tr></thead><tbody>
<tr><td>Window</td><td>12</td></tr></tbody></table></figure>
<figure id="best-trials-tune"><table><thead><tr><th>Trial</th><th>Window</th><th>Value</th></tr>
</thead><tbody><tr><td>7</td><td>12</td><td>12.8</td></tr></tbody></table></figure>
"""


def contradictions_in(text: str, folder: Path) -> list[str]:
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return contradictions(path)


def test_a_sound_page_has_none(tmp_path: Path) -> None:
    assert contradictions_in(PAGE, tmp_path) == []


@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        ("+8.7 ± 0.2", "+9.7 ± 0.2", "searches"),
        ("\N{MINUS SIGN}0.2", "+0.2", "rows-two"),
        ("+3.9 % (", "+9.3 % (", "outside"),
        ("<td>all</td><td>4", "<td>all</td><td>5", "5"),
        ("<td>3</td><td>2</td>", "<td>3</td><td>1</td>", "one"),
        ("<td>reproduced", "<td>contradicted", "rows-two"),
        ("<td>176</td>", "<td>155</td>", "power"),
        ("12.83 ± 0.01", "12.93 ± 0.01", "window 12"),
        ("<td>7</td><td>12</td>", "<td>7</td><td>13</td>", "parameters-tune"),
    ],
)
def test_a_planted_contradiction_is_found(
    tmp_path: Path, right: str, wrong: str, named: str
) -> None:
    assert right in PAGE
    found = contradictions_in(PAGE.replace(right, wrong), tmp_path)
    assert any(named in line for line in found)
