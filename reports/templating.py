"""The Jinja environment of all templates: Markdown, with the elements of `document`."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import jinja2
from markupsafe import Markup

from kneepoint.analysis import labels

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = re.compile(
    r"(?P<known>\??)(?P<left><?)(?:(?P<group>.*): )?(?P<title>.*?)(?: \((?P<unit>.*)\))?"
)
_SIGNS = str.maketrans({sign: f"&#{ord(sign)};" for sign in "&<>\"'`*_[]\\~|#!"})
"""Characters that HTML or Markdown would take for markup."""


def literal(value: object) -> object:
    """Escapes markup in a text; Markup and values of other types are returned unchanged."""
    if type(value) is not str:
        return value
    return Markup(" ".join(_NO_XML.sub("\ufffd", value).splitlines()).translate(_SIGNS))  # noqa: S704


def plain_text(html: object) -> str:
    """Returns the text of HTML without elements, such as a value set by a template."""
    return str(Markup(html).unescape())  # noqa: S704


def element(tag: str, *content: object, **attributes: object) -> Markup:
    """Returns an element with the attributes that have a value; `class_` is `class`."""
    given = {name.rstrip("_"): literal(value) for name, value in attributes.items() if value}
    written = Markup("").join(Markup(' {}="{}"').format(*each) for each in given.items())
    inner = Markup("").join(Markup("{}").format(literal(each)) for each in content)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, inner)


def joined(items: Iterable[object]) -> Markup:
    """A list in prose: "a", "a and b", "a, b and c"."""
    texts = [Markup("{}").format(literal(item)) for item in items if item]
    return Markup(" and ").join(filter(None, [Markup(", ").join(texts[:-1]), *texts[-1:]]))


def templates_in(folder: Path) -> jinja2.Environment:
    """Returns an environment whose values are escaped, and whose unknown names are errors."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=literal,
    )
    environment.filters |= {
        "count": labels.count,
        "agree": labels.agree,
        "number": labels.number,
        "joined": joined,
        "code": lambda text: element("code", text),
    }
    environment.globals |= {"row": _row, "column": _column, "columns": _columns, "table": _table}
    environment.globals["ref"] = lambda to: element("ref", to=to)
    return environment


def _table(
    name: str,
    title: str,
    caption: str,
    rows: Iterable[object],
    *heads: object,
    only: str = "",
    caller: Callable[[object], Markup],
) -> Markup:
    """Returns a table whose rows a call block writes, one for each element of `rows`.

    Args:
        name: of the table.
        title: above the table.
        caption: after the title; none if empty.
        rows: arguments of the block, one by one.
        heads: see `_columns`.
        only: "html" for a table that only the page has.
        caller: the block.
    """
    about = [element("title", title), *([element("caption", caption)] if caption else [])]
    written = [*about, _columns(*heads), *map(caller, rows)]
    return element("table", Markup("\n").join(written), name=name, only=only)


def _row(*cells: object, strong: bool = False, muted: bool = False, name: str = "") -> Markup:
    """Returns a row of a table, with an id if links point to it; missing values become a dash.

    A list among the cells stands for several cells.
    """
    kind = "strong" if strong else "muted" if muted else ""
    written = (element("td", labels.DASH if cell is None else cell) for cell in _flat(cells))
    return element("tr", *written, class_=kind, id=name)


def _column(
    title: str,
    unit: str = "",
    group: str = "",
    left: bool = False,
    share: int = 0,
    known: bool = False,
) -> Markup:
    """Returns the head of a column.

    Args:
        title: its text.
        unit: below the title.
        group: head shared with neighbouring columns.
        left: whether the column is left-aligned.
        share: of the page's width on paper (%).
        known: whether the column is left out if it has no value in any row.
    """
    given = {"data-share": str(share) if share else "", "if": "known" if known else ""}
    kind = "left" if left else ""
    return element("column", title, unit=unit, group=group, class_=kind, **given)


def _columns(*heads: object) -> Markup:
    """Returns the heads of columns: `Group: Title (unit)` each, results of `_column`, or lists.

    The prefix < aligns a column left; ? leaves it out if it has no value in any row.
    """
    return Markup("").join(map(_parsed, _flat(heads)))


def _flat(items: Iterable[object]) -> Iterator[object]:
    return chain.from_iterable(item if isinstance(item, list) else [item] for item in items)


def _parsed(head: object) -> Markup:
    match = _HEAD.fullmatch(head) if type(head) is str else None
    if match is None:
        return Markup("{}").format(head)
    each = match.groupdict()
    given = {"left": bool(each["left"]), "known": bool(each["known"])}
    return _column(each["title"], each["unit"] or "", each["group"] or "", **given)
