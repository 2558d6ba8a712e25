"""Inline figures of a page: matplotlib's SVG, reduced in size."""

import re
from collections.abc import Container, Mapping
from html import escape

_DROPPED = re.compile(
    r"<style.*?</style>|<!--.*?-->|(?<=>)\s+(?=<)|xlink:(?=href)"
    r"|(?<=<svg) [^>]*?(?=viewBox)| version=\"[^\"]*\"| transform=\"rotate\(-0 [^\"]*\""
    r"|font-family: [^;\"]*; |(?<=[:;]) (?=[^<>]*>)",
    re.DOTALL,
)
_REFERENCE = re.compile(r'(?<=href="#)[^"]+|(?<=url\(#)[^)]+')
_KIND = re.compile(r' id="(cells|colours)"')  # of a figure: see report.css
_PAPER = re.compile(r'(<path [^>]*style="[^"]*?)(fill|stroke):#ffffff')
_INK = re.compile(r'(<text [^>]*style="[^"]*?)fill:(#1b1f24)')
_ID = re.compile(r' id="([^"]+)"')
_RUN = re.compile(r' data-run="([^"]+)"')
_MEASURES = re.compile(r' (?:d|x|y|transform|points|width|height)="[^"]*"')
_NUMBER = re.compile(r"-?\d+\.\d+")
_BLANK = re.compile(r"\s*([MLHVCQz])\s*")
_COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_CLIPPED = re.compile(r'(<g clip-path="[^"]*">)<use [^>]*/></g>(?:\1<use [^>]*/></g>)+')
_ALIKE = re.compile(
    r'<use (href="#([^"]*)") [^>]* style="([^"]*)"/>(?:<use \1 [^>]* style="\3"/>)+'
)
_DOT = re.compile(r'<path id="([^"]+)" d="M0 ([\d.]+)(?:C[^CZz"]+){8}[Zz]?"')
_STYLE = re.compile(r'style="([^"]*)"')
_FILL = re.compile(r"fill:(#\w{6})(?:;stroke:\1)?")
_PLACE = re.compile(r'x="([^"]*)" y="([^"]*)"')


class Inliner:
    """Makes the inline figures of one page, with distinct ids.

    Args:
        rows: ids of the rows on the page; points link to the rows of their runs.
    """

    def __init__(self, rows: Container[str] = ()) -> None:
        self._rows = rows
        self._figures = 0

    def inline(self, svg: bytes, label: str) -> str:
        """Returns an `<svg>` element.

        Args:
            svg: matplotlib's output.
            label: description of the figure for screen readers.
        """
        self._figures += 1
        text = svg.decode()
        text = _DROPPED.sub("", text[text.index("<svg") :])
        used = set(_REFERENCE.findall(text))
        names = {name: f"f{self._figures}-{at:x}" for at, name in enumerate(sorted(used))}
        text = _REFERENCE.sub(lambda found: names[found[0]], text)
        text = _KIND.sub(r' class="\1"', text)
        text = _ID.sub(lambda found: f' id="{names[found[1]]}"' if found[1] in used else "", text)
        if 'class="cells"' in text:  # the page's own paper and ink around the cells' colours
            text = _PAPER.sub(r"\1\2:var(--figure-paper,#fff)", text)
            text = _INK.sub(r"\1fill:var(--figure-ink,\2)", text)
        text = _RUN.sub(lambda found: found[0] if f"run-{found[1]}" in self._rows else "", text)
        text = _MEASURES.sub(lambda found: _shortened(found[0]), text)
        text = _CLIPPED.sub(_once, text)
        radii = dict(_DOT.findall(text))
        text = _ALIKE.sub(lambda found: _gathered(found, radii), text)
        text, rules = _with_classes(text, f"f{self._figures}-")
        head = f'<svg role="img" aria-label="{escape(label)}" '
        return text.replace("<svg", head, 1).replace(">", f"><style>{rules}</style>", 1).rstrip()


def _with_classes(text: str, prefix: str) -> tuple[str, str]:
    """Returns the text with a class in place of each style, and the rules of these classes."""
    classes: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return f'class="{classes.setdefault(found[1], prefix + str(len(classes)))}"'

    text = _STYLE.sub(name, text)
    return text, "".join(f".{each}{{{style}}}" for style, each in classes.items())


def _once(clipped: "re.Match[str]") -> str:
    """Puts neighbours with the same clipping, such as points of a scatter plot, into one group."""
    return clipped[1] + clipped[0].replace(clipped[1], "").replace("</g>", "") + "</g>"


def _gathered(points: "re.Match[str]", radii: Mapping[str, str]) -> str:
    """Writes the style of neighbouring points once; dots become round caps of one path."""
    _, name, style = points.groups()
    fill = _FILL.fullmatch(style)
    if fill is None or name not in radii:
        once = f' style="{style}"'
        return f"<g{once}>{points[0].replace(once, '')}</g>"
    dots = "".join(f"M{x} {y}h0" for x, y in _PLACE.findall(points[0]))
    width = f"stroke-width:{2 * float(radii[name]):.3g};stroke-linecap:round"
    return f'<path d="{dots}" style="fill:none;stroke:{fill[1]};{width}"/>'


def _shortened(attribute: str) -> str:
    """Rounds coordinates to a tenth of a point, and removes needless blanks."""
    rounded = _NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), attribute)
    if not attribute.startswith(" d="):
        return rounded
    head, path, tail = _BLANK.sub(r"\1", rounded).split('"')
    return f'{head}"{_with_steps(path)}"{tail}'


def _with_steps(path: str) -> str:
    """Writes lines parallel to an axis, as of a step plot, with one coordinate (H, V)."""
    made, at = [], ["", ""]
    for command, words in _COMMAND.findall(path):
        place = words.split()
        if command == "L" and place[1] == at[1]:
            made.append(f"H{place[0]}")
        elif command == "L" and place[0] == at[0]:
            made.append(f"V{place[1]}")
        else:
            made.append(command + words)
        at = place if command in "ML" else ["", ""]
    return "".join(made)
