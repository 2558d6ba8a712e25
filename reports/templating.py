"""The environment of all templates: Markdown with jinja, and a few elements of reports.document."""

import re
from collections.abc import Iterable
from pathlib import Path

import jinja2
from markupsafe import Markup

from analysis import labels

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = re.compile(r"(?P<left><?)(?:(?P<group>.*): )?(?P<title>.*?)(?: \((?P<unit>.*)\))?")
_SIGNS = str.maketrans({sign: f"&#{ord(sign)};" for sign in "&<>\"'`*_[]\\~|#!"})
"""What HTML or Markdown takes for markup."""


def literal(value: object) -> object:
    """A value as text in which no sign is markup; Markup and other types stay as they are."""
    if type(value) is not str:
        return value
    return Markup(" ".join(_NO_XML.sub("\ufffd", value).splitlines()).translate(_SIGNS))  # noqa: S704


def plain_text(html: object) -> str:
    """The text of HTML without elements, such as a value that a template has set."""
    return str(Markup(html).unescape())  # noqa: S704


def element(tag: str, *content: object, **attributes: object) -> Markup:
    """An element with those attributes that have a value; `class_` is `class`."""
    given = {name.rstrip("_"): literal(value) for name, value in attributes.items() if value}
    written = Markup("").join(Markup(' {}="{}"').format(*each) for each in given.items())
    inner = Markup("").join(Markup("{}").format(literal(each)) for each in content)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, inner)


def joined(items: Iterable[object]) -> Markup:
    """A list in prose: "a", "a and b", "a, b and c"."""
    texts = [Markup("{}").format(literal(item)) for item in items if item]
    return Markup(" and ").join(filter(None, [Markup(", ").join(texts[:-1]), *texts[-1:]]))


def templates_in(folder: Path) -> jinja2.Environment:
    """Templates whose values are text, and whose unknown names are errors."""
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
    environment.globals |= {"row": _row, "column": _column, "columns": _columns}
    environment.globals["ref"] = lambda to: element("ref", to=to)
    return environment


def _row(*cells: object, strong: bool = False, muted: bool = False, name: str = "") -> Markup:
    """A row of a table, with a name if links point to it; a dash for what is missing."""
    kind = "strong" if strong else "muted" if muted else ""
    written = (element("td", labels.DASH if cell is None else cell) for cell in cells)
    return element("tr", *written, class_=kind, id=name)


def _column(
    title: str, unit: str = "", group: str = "", left: bool = False, share: int = 0
) -> Markup:
    """The head of a column; share: of the width of the page on paper, in per cent."""
    kind = "left" if left else ""
    given = {"data-share": str(share) if share else ""}
    return element("column", title, unit=unit, group=group, class_=kind, **given)


def _columns(*heads: str) -> Markup:
    """The heads of columns, each `Group: Title (unit)`; < before one aligns its column left."""
    found = [match.groupdict() for head in heads if (match := _HEAD.fullmatch(head))]
    return Markup("").join(
        _column(each["title"], each["unit"], each["group"], left=bool(each["left"]))
        for each in found
    )
