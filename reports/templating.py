"""The Jinja environment of all templates, which write Markdown and HTML (see `document`)."""

import re
from collections.abc import Iterable
from pathlib import Path
from types import CodeType

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from kneepoint.analysis import labels

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SIGNS = str.maketrans({sign: f"&#{ord(sign)};" for sign in "&<>\"'`*_[]\\~|#!"})
"""Characters that HTML or Markdown would take for markup."""


def literal(value: object) -> object:
    """Escapes markup in a text; Markup and values of other types are returned unchanged."""
    if type(value) is not str:
        return value
    return Markup(" ".join(_NO_XML.sub("\ufffd", value).splitlines()).translate(_SIGNS))  # noqa: S704


def content(value: object) -> Markup:
    """Returns a value as the content of an element."""
    return escape(literal(value))


def plain_text(html: object) -> str:
    """Returns the text of HTML without elements, such as a value set by a template."""
    return str(Markup(html).unescape())  # noqa: S704


def element(tag: str, *contents: object, **attributes: object) -> Markup:
    """Returns an element with the attributes that have a value; `class_` is `class`."""
    given = {name.rstrip("_"): content(value) for name, value in attributes.items() if value}
    written = "".join(f' {name}="{value}"' for name, value in given.items())
    inner = "".join(map(content, contents))
    return Markup(f"<{tag}{written}>{inner}</{tag}>")  # noqa: S704, all parts are escaped


def joined(items: Iterable[object]) -> Markup:
    """Returns a list in prose: "a", "a and b", "a, b and c"."""
    texts = [content(item) for item in items if item]
    return Markup(" and ").join(filter(None, [Markup(", ").join(texts[:-1]), *texts[-1:]]))


class _Compiled(jinja2.BytecodeCache):
    """The compiled templates of this process: a contest writes a page for each entry."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code:
            self._codes[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


def templates_in(folder: Path) -> jinja2.Environment:
    """Returns an environment whose values are escaped, and whose unknown names are errors."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=literal,
        bytecode_cache=_COMPILED,
    )
    environment.filters |= {
        "count": labels.count,
        "agree": labels.agree,
        "number": labels.number,
        "joined": joined,
        "code": lambda text: element("code", text),
        "strong": lambda text: element("strong", text),
    }
    environment.globals["ref"] = lambda name: Markup('<a class="label" href="#{}"></a>').format(
        name
    )
    return environment
