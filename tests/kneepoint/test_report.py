"""`kneepoint report` ends with the findings of the first page."""

from kneepoint.cli.report import findings_in

PAGE = """
<ul><li>no finding</li></ul>
<ul class="findings">
<li><strong>Three rows</strong> are
 contradicted (<a href="#t">Table 2</a>).</li>
<li>Power 5 &gt; 4</li>
</ul>
<ul><li>none either</li></ul>
"""


def test_the_findings_of_the_first_page_are_lines() -> None:
    assert findings_in(PAGE) == ["- Three rows are contradicted (Table 2).", "- Power 5 > 4"]
    assert findings_in("<p>A report without runs.</p>") == []
