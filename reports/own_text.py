"""A report's own words: Markdown as the XML of `reports.document`.

What Markdown does not mark up is text: the signs of HTML and Typst mean nothing.
"""

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from markupsafe import Markup

from reports.templating import NO_XML

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")
_MARKS = {"strong": "b", "em": "i", "code_inline": "code"}
_BLOCKS = {"paragraph": "p", "heading": "h", "blockquote": "quote", "list_item": "item"}
_LISTS = {"bullet_list": "", "ordered_list": "yes"}


def to_xml(markdown: str) -> Markup:
    """Returns the blocks of a text.

    Args:
        markdown: CommonMark, of which images and HTML are text.
    """
    text = NO_XML.sub("\ufffd", markdown)
    return Markup("").join(_blocks(SyntaxTreeNode(_MARKDOWN.parse(text))))


def _blocks(node: SyntaxTreeNode) -> Iterator[Markup]:
    for child in node.children:
        if child.type in _LISTS:
            items = Markup("").join(_blocks(child))
            yield Markup('<list numbered="{}">{}</list>').format(_LISTS[child.type], items)
        elif child.type in _BLOCKS:
            tag = _BLOCKS[child.type]
            inner = _inline if child.type in ("paragraph", "heading") else _blocks
            yield _element(tag, Markup("").join(inner(child)))
        elif child.content:  # a block of code
            yield _element("pre", Markup("{}").format(child.content.rstrip("\n")))


def _inline(node: SyntaxTreeNode, mark: str = "", target: str = "") -> Iterator[Markup]:
    """Each piece of a text, in its innermost mark: the document does not nest them."""
    for child in node.children:
        if child.type in ("softbreak", "hardbreak"):
            yield Markup(" ")
        elif child.type == "link":
            yield from _inline(child, mark, str(child.attrGet("href")))
        elif child.children:  # marks, and the text of a block
            yield from _inline(child, _MARKS.get(child.type, mark), target)
        elif target:
            yield Markup('<a href="{}">{}</a>').format(target, child.content)
        else:
            yield _element(_MARKS.get(child.type, mark), Markup("{}").format(child.content))


def _element(tag: str, content: Markup) -> Markup:
    return Markup("<{0}>{1}</{0}>").format(tag, content) if tag else content
