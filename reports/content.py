"""What a report consists of, apart from how it looks: both renderers read this and nothing else.

Text carries three marks: `**strong**`, `` `code` `` and `{name}`, which refers to the figure, table
or section of that name ("Figure 3"). Whatever comes from data should pass `literal` first.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

_MARKS = re.compile(r"\*\*(?P<strong>.+?)\*\*|`(?P<code>[^`]+)`|\{(?P<reference>[\w-]+)\}")
_ESCAPES = {"*": "\ue000", "`": "\ue001", "{": "\ue002", "}": "\ue003"}


@dataclass(frozen=True)
class Span:
    """A piece of text in one style; a reference's text is the name of what it refers to."""

    kind: Literal["text", "strong", "code", "reference"]
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True)
class Column:
    """A column's head; neighbours of the same non-empty `group` share a head above theirs."""

    title: str
    unit: str = ""
    group: str = ""
    align: Literal["left", "right"] = "right"


@dataclass(frozen=True)
class Table:
    """A table of texts; the rows numbered in `strong` are set off, those in `muted` held back."""

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    strong: frozenset[int] = frozenset()
    muted: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        """Every row has one cell a column."""
        assert all(len(row) == len(self.columns) for row in self.rows), self.name


@dataclass(frozen=True)
class Picture:
    """A drawn figure: `stem` is its path without the ending .svg or .png."""

    name: str
    title: str
    caption: str
    stem: Path


Block: TypeAlias = Paragraph | Heading | Table | Picture


@dataclass(frozen=True)
class Section:
    """A numbered part of the report."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Highlight:
    """One main result of the first page: a figure, what it is, and how sure it is."""

    value: str
    label: str
    detail: str


@dataclass(frozen=True)
class Report:
    """A whole report."""

    title: str
    subtitle: str
    abstract: tuple[str, ...]
    highlights: tuple[Highlight, ...]
    sections: tuple[Section, ...]

    def numbers(self) -> dict[str, str]:
        """What each name is called in the text: "Section 2", "Figure 3", "Table 1"."""
        counts = {"Table": 0, "Figure": 0}
        numbers: dict[str, str] = {}

        def add(name: str, text: str) -> None:
            assert name not in numbers, f"two parts of the report are called {name}"
            numbers[name] = text

        for position, section in enumerate(self.sections, 1):
            add(section.name, f"Section {position}")
            for block in section.blocks:
                if isinstance(block, Table | Picture):
                    kind = "Table" if isinstance(block, Table) else "Figure"
                    counts[kind] += 1
                    add(block.name, f"{kind} {counts[kind]}")
        return numbers


def literal(text: object) -> str:
    """The text with every mark taken as the character that it is."""
    return "".join(_ESCAPES.get(character, character) for character in str(text))


def code(text: object) -> str:
    """The text as a name of a program, set in a fixed width."""
    return f"`{literal(text)}`"


def spans(text: str) -> Iterator[Span]:
    """The pieces of a marked text."""
    position = 0
    for match in _MARKS.finditer(text):
        if match.start() > position:
            yield Span("text", _plain(text[position : match.start()]))
        for kind in ("strong", "code", "reference"):
            if match[kind] is not None:
                yield Span(kind, _plain(match[kind]))
        position = match.end()
    if position < len(text):
        yield Span("text", _plain(text[position:]))


def _plain(text: str) -> str:
    for character, escape in _ESCAPES.items():
        text = text.replace(escape, character)
    return text
