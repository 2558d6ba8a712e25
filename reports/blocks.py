"""Figures and tables of a report as HTML, with captions whose numbers `document` writes.

A template calls `table` or `figure` with a block, which holds the caption; the block of a table
also adds the rows:

    {% call(row) table("fits", "Fits") %}
    Near: other trials with at most twice the misfit of the best.
    {% for each in fits %}
    {{ row({"Fit": each.title, "Delay (ms)": each.delay_ms, "Host: Misfit": each.misfit}) }}
    {% endfor %}
    {% endcall %}

A row names its columns, `Group: Title (unit)`; columns of one group share a head. A table without
rows, a column without values, and a figure that was not drawn are left out.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from markupsafe import Markup

from kneepoint.analysis.labels import DASH
from kneepoint.reports.templating import content, element

MAX_ROWS = 60
"""Number of a table's rows that the page shows until the reader asks for all rows."""

SUPPLEMENT = "supplement"
"""Class of a figure or table that only the page has."""

_HEAD = re.compile(r"(?:(?P<group>.*): )?(?P<title>.*?)(?: \((?P<unit>.*)\))?")


class Column(NamedTuple):
    """The head of a column; columns of one group share a further head above."""

    title: str
    unit: str = ""
    group: str = ""


Cells = Mapping[Any, object]
"""Values of a row by columns, or by the text that names a column; None is a missing value."""


@dataclass
class _Row:
    cells: dict[Column, Markup]
    kind: str
    name: str


class Rows:
    """The rows of a table, which its block adds by calls."""

    def __init__(self) -> None:
        self.added: list[_Row] = []

    def __call__(
        self, cells: Cells, *, strong: bool = False, muted: bool = False, name: str = ""
    ) -> str:
        """Adds a row, with an id if links point to the row."""
        self.added.append(_Row({}, "strong" if strong else "muted" if muted else "", name))
        return self.more(cells)

    def more(self, cells: Cells) -> str:
        """Adds columns to the last row."""
        row = self.added[-1].cells
        for head, value in cells.items():
            column = head if isinstance(head, Column) else _column(head)
            assert column not in row, f"two columns are called {column.title}"
            row[column] = content(DASH if value is None else value)
        return ""


def _column(head: str) -> Column:
    match = _HEAD.fullmatch(head)
    return Column(**match.groupdict(default="")) if match else Column(head)


def table(
    name: str,
    title: str,
    *,
    shares: Mapping[str, int] | None = None,
    first: int = MAX_ROWS,
    on_paper: bool = True,
    caller: Callable[[Rows], Markup],
) -> Markup:
    """Returns a table with a caption above, in a frame that scrolls sideways.

    Args:
        name: name of the table.
        title: title before the caption.
        shares: shares of the page's width on paper (%), by titles of columns; other columns are
            as wide as their content.
        first: number of rows that the page shows until the reader asks for all rows.
        on_paper: False: only the page has the table.
        caller: the template's block.
    """
    rows = Rows()
    caption = caller(rows)
    columns = list(rows.added[0].cells) if rows.added else []
    for row in rows.added:
        heads = [column.title for column in columns]
        assert list(row.cells) == columns, f"{name}: {[*row.cells]} in a table of {heads}"
    columns = [column for column in columns if _has_value(_texts(rows, column))]
    if not columns:
        return Markup("")
    sides = {column: "left" if _is_text(_texts(rows, column)) else "" for column in columns}
    head = [_head(column, sides[column], (shares or {}).get(column.title)) for column in columns]
    body = [
        element(
            "tr",
            *(element("td", row.cells[each], class_=sides[each]) for each in columns),
            class_=row.kind,
            id=row.name,
        )
        for row in rows.added
    ]
    written = element(
        "table",
        element("thead", _groups(columns), element("tr", *head)),
        element("tbody", *body),
    )
    given = {"data-first": str(first) if len(body) > first else ""}
    kind = "table" if on_paper else f"table {SUPPLEMENT}"
    return _block(name, kind, _caption(title, caption), _frame(written), **given)


def figure(
    drawn: Container[str],
    tall: Container[str],
    name: str,
    title: str,
    *,
    on_paper: bool = True,
    caller: Callable[[], Markup],
) -> Markup:
    """Returns a figure with a caption below; see `table`.

    Args:
        drawn: names of the figures that were drawn.
        tall: names of figures that are taller than a page of paper, which only the page has.
        name: name of the figure.
        title: title before the caption.
        on_paper: False: only the page has the figure.
        caller: the template's block.
    """
    if name not in drawn:
        return Markup("")
    image = _frame(Markup('<img src="{}" alt="{}"/>').format(name, content(title)))
    kind = SUPPLEMENT if name in tall or not on_paper else ""
    return _block(name, kind, image, _caption(title, caller()))


def functions(drawn: Container[str] = (), tall: Container[str] = ()) -> dict[str, Any]:
    """Returns the functions by which a template writes figures and tables."""
    return {"table": table, "column": Column, "figure": partial(figure, drawn, tall)}


def _block(name: str, kind: str, *contents: Markup, **attributes: str) -> Markup:
    """Returns a figure between blank lines, which end a block of HTML in Markdown."""
    written = element("figure", *contents, class_=kind, id=name, **attributes)
    return Markup("\n\n{}\n\n").format(written)


def _caption(title: str, caption: Markup) -> Markup:
    number = Markup('<span class="number"></span> ')
    text = Markup(" ").join([element("strong", f"{title}."), *caption.split()])
    return element("figcaption", number, text)


def _frame(content: Markup) -> Markup:
    """Returns a region that scrolls sideways, also by keys, if its content is too wide."""
    return Markup('<div class="scroll" tabindex="0" role="region">{}</div>').format(content)


def _texts(rows: Rows, column: Column) -> list[str]:
    return [row.cells[column].striptags() for row in rows.added]


def _has_value(texts: Sequence[str]) -> bool:
    return not {*texts} <= {"", DASH}


def _is_text(texts: Sequence[str]) -> bool:
    """Returns whether letters outnumber digits in most cells; such a column is aligned left."""
    known = [text for text in texts if text not in ("", DASH)]
    worded = [sum(map(str.isalpha, text)) > sum(map(str.isdigit, text)) for text in known]
    return 2 * sum(worded) > len(worded)


def _groups(columns: Sequence[Column]) -> Markup:
    """Returns the row of heads that neighbouring columns share, if there are any."""
    if not any(column.group for column in columns):
        return Markup("")
    heads = [
        element("th", element("span", group), colspan=str(width), scope="colgroup")
        if group
        else element("td", colspan=str(width))
        for group, width in (
            (group, len(list(alike))) for group, alike in groupby(columns, lambda each: each.group)
        )
    ]
    return element("tr", *heads, class_="groups")


def _head(column: Column, side: str, share: int | None) -> Markup:
    unit = (Markup("<br/>"), element("small", column.unit)) if column.unit else ()
    given = {"data-share": str(share) if share else ""}
    return element("th", column.title, *unit, class_=side, scope="col", **given)
