"""Figures within a page: matplotlib's SVG, a fraction of its size, with text that is text.

matplotlib draws each letter as an outline, gives every element an id, and writes coordinates to a
millionth of a point. In a page, text should be searchable, copyable and readable aloud, and what
several figures share needs to be there only once.
"""

import html
import re
from collections.abc import Iterator
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, TreeBuilder, XMLParser

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_DROPPED = {f"{_SVG}{name}" for name in ("metadata", "style", "title")}
_GROUP, _USE, _DEFS, _VALUE = (f"{_SVG}{name}" for name in ("g", "use", "defs", "circle"))
_WORDS = (f"{_SVG}text", f"{_SVG}title")
_PLACE = re.compile(r"(?P<place>.*?)\s*scale\((?P<scale>[\d.]+) -[\d.]+\)")
_NUMBER = re.compile(r"(?<![\w#.])-?\d+\.\d+")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_MEASURED = ("d", "x", "y", "transform", "points", "width", "height")
_START = re.compile(r"translate\(([\d.]+) [\d.-]+\)")
_LINES = re.compile(r"M-?[\d.]+ -?[\d.]+(?:L-?[\d.]+ -?[\d.]+)+")
_CIRCLE = re.compile(r"\s*M 0(?:\.0)? ([\d.]+)\s*(?:C[-\d.e ]+){8}z?\s*", re.IGNORECASE)
_FILL = re.compile(r"fill: ?(#[0-9a-f]{6})")
_FEWEST_DOTS = 3
_LAST = 50
"""About the width of the last letter: of its outline, only the start is known."""
_EM = 100
"""The height of matplotlib's outlines of letters, in their units."""


class Inliner:
    """Makes the figures of one page; a definition that several share is in the first of them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._defined: set[str] = set()
        self._radii: dict[str, float] = {}

    def inline(self, svg: bytes, label: str) -> str:
        """Returns an `<svg>` element.

        Args:
            svg: what matplotlib wrote.
            label: what the figure shows, for those who do not see it.
        """
        parser = XMLParser(target=TreeBuilder(insert_comments=True))  # noqa: S314, our own figures
        parser.feed(svg)
        root: Element = parser.close()
        for name in ("width", "height", "version"):
            root.attrib.pop(name, None)
        root.attrib |= {"role": "img", "aria-label": label}
        _write_letters_as_text(root)
        used = set(_referenced(root))
        self._share(root, used)
        _merge_clipped(root)
        _gather_alike(root)
        _draw_dots(root, self._radii)
        for element in root.iter():
            self._rename(element)
            for name in _MEASURED:
                if name in element.attrib:
                    element.set(name, _shortened(element.attrib[name]))
            element.text = element.text if element.tag in _WORDS else None
            element.tail = None
            element.tag = element.tag.removeprefix(_SVG)  # a page needs no namespaces
        return ElementTree.tostring(root, encoding="unicode")

    def _share(self, parent: Element, used: set[str]) -> None:
        """Removes the invisible: comments, unused ids, definitions that the page already has."""
        for child in list(parent):
            name = child.get("id")
            is_again = name in used and name in self._defined
            is_dropped = child.tag in _DROPPED and parent.tag != _VALUE
            if _is_comment(child) or is_dropped or is_again:
                parent.remove(child)
                continue
            if name in used:
                self._defined.add(str(name))
            elif name is not None:
                del child.attrib["id"]
            self._share(child, used)
            if child.tag in (_DEFS, _GROUP) and not len(child):
                parent.remove(child)

    def _rename(self, element: Element) -> None:
        if "id" in element.attrib:
            element.set("id", self._short(element.attrib["id"]))
        target = element.attrib.pop(_HREF, None)
        if target is not None:  # another is an image, of points too many for a vector each
            is_here = target.startswith("#")
            element.set("href", "#" + self._short(target[1:]) if is_here else target)
        for name, value in element.attrib.items():
            if "url(#" in value:
                names = _REFERENCE.findall(value)
                element.set(name, "".join(f"url(#{self._short(each)})" for each in names))
        if "style" in element.attrib:
            element.set("style", element.attrib["style"].replace("; ", ";").replace(": ", ":"))

    def _short(self, name: str) -> str:
        return self._names.setdefault(name, f"s{len(self._names):x}")


def _is_comment(element: Element) -> bool:
    return callable(element.tag)


def _referenced(root: Element) -> Iterator[str]:
    for element in root.iter():
        if element.get(_HREF, "").startswith("#"):
            yield element.attrib[_HREF][1:]
        for value in element.attrib.values():
            yield from _REFERENCE.findall(value)


def _write_letters_as_text(parent: Element) -> None:
    """Replaces the outlines that follow a comment, which has their text."""
    children = list(parent)
    for before, outlines in pairwise(children):
        place = _PLACE.fullmatch(outlines.get("transform", ""))
        if not _is_comment(before) or outlines.tag != _GROUP or place is None:
            continue
        scale = float(place["scale"])
        text = Element(f"{_SVG}text", {"transform": place["place"]})
        size = f"font-size:{scale * _EM:g}px"
        text.set("style", ";".join(filter(None, [outlines.get("style", ""), size])))
        text.text = html.unescape(before.text or "").strip()
        # The reader's font may be wider than ours.
        starts = [_START.findall(use.get("transform", "")) for use in outlines.iter(_USE)]
        if len(text.text) > 1:
            width = (max(float(found[0]) for found in starts if found) + _LAST) * scale
            text.attrib |= {"textLength": f"{width:.1f}", "lengthAdjust": "spacingAndGlyphs"}
        parent[list(parent).index(outlines)] = text
    for child in parent:
        _write_letters_as_text(child)


def _merge_clipped(parent: Element) -> None:
    """Gathers neighbours with the same clipping, such as the points of a scatter plot."""
    last: Element | None = None
    for child in list(parent):
        _merge_clipped(child)
        is_clipped = child.tag == _GROUP and set(child.attrib) == {"clip-path"}
        if is_clipped and last is not None and last.attrib == child.attrib:
            last.extend(list(child))
            parent.remove(child)
        else:
            last = child if is_clipped else None


def _gather_alike(parent: Element) -> None:
    """Gathers neighbouring points of one style, which is then written once."""
    group: Element | None = None
    for child in list(parent):
        _gather_alike(child)
        style = child.get("style") if child.tag == _USE else None
        if style is None:
            group = None
            continue
        if group is None or group.get("style") != style:
            group = Element(_GROUP, {"style": style})
            parent.insert(list(parent).index(child), group)
        del child.attrib["style"]
        parent.remove(child)
        group.append(child)


def _draw_dots(root: Element, radii: dict[str, float]) -> None:
    """Draws many equal filled circles as one path of dots: a round cap is a circle.

    Args:
        root: of a figure.
        radii: of the circles that the page has defined; those of this figure are added.
    """
    for path in root.iter(f"{_SVG}path"):
        found = _CIRCLE.fullmatch(path.get("d", "").replace("\n", ""))
        if found and path.get("id"):
            radii[f"#{path.get('id')}"] = float(found[1])
    for group in list(root.iter(_GROUP)):
        fill = _FILL.fullmatch(group.get("style", ""))
        targets = {use.get(_HREF, "") for use in group}
        if fill is None or len(group) < _FEWEST_DOTS or not targets <= set(radii):
            continue
        size = radii[targets.pop()]
        if targets:
            continue
        dots = "".join(f"M {use.get('x')} {use.get('y')} h0" for use in group)
        style = f"fill:none;stroke:{fill[1]};stroke-width:{2 * size:.3g};stroke-linecap:round"
        for use in list(group):
            group.remove(use)
        del group.attrib["style"]
        group.append(Element(f"{_SVG}path", {"d": dots, "style": style}))


def _along_axes(path: str) -> str:
    """Straight lines from point to point: those along an axis need one coordinate."""

    def lines(match: "re.Match[str]") -> str:
        points = [tuple(point.split()) for point in match[0][1:].split("L")]
        text = [f"M{points[0][0]} {points[0][1]}"]
        for (x0, y0), (x, y) in pairwise(points):
            if (x, y) != (x0, y0):
                text.append(f"V{y}" if x == x0 else f"H{x}" if y == y0 else f"L{x} {y}")
        return "".join(text) if len(text) > 1 else match[0]

    return _LINES.sub(lines, path)


def _shortened(value: str) -> str:
    """Coordinates to a tenth of a point, without needless blanks."""

    def rounded(match: "re.Match[str]") -> str:
        return f"{float(match[0]):.1f}".removesuffix(".0")

    text = _NUMBER.sub(rounded, value)
    return _along_axes(re.sub(r"\s*([MLQCZHVh])\s*", r"\1", text).strip())
