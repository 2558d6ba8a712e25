"""Gathers the pages of the site: the README as first page, docs/, and the reference.

Every link is checked, and becomes a link of the site; a link to a file that is not on the site
becomes the file's name.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from kneepoint.common.code import ROOT
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import write_whole
from kneepoint.tools import declared

DOCS = ROOT / "docs"
CONTENTS: Mapping[str, tuple[str, ...]] = {
    "First hour": ("install", "tutorial", "own-report"),
    "How to": ("how-to/*",),
    "Reference": ("glossary", "reference", "controllers", "field", "bbr-cases"),
    "Explanation": (
        *("emulator", "entries", "limits", "networks", "searches", "statistics"),
        *(page for pages in declared("PAGES").values() for page in pages if "/" not in page),
        *("real-runs", "kernel-tcp", "many-machines", "workflow", "decisions/index"),
    ),
}
"""The site's contents: pages of docs/, without their suffixes."""

_SPHINX_OWN = {"search", "genindex", "index"}
"""Pages that the site's generator makes, and whose names no other page may have."""
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_AS_TEXT = re.compile(r"^```(mermaid|csv)$", re.MULTILINE)
"""Languages that the site's highlighter does not know."""


def gather(
    into: Path, reference: Mapping[str, str], parameters: Mapping[str, str] | None = None
) -> list[Path]:
    """Writes the pages of the site into an empty folder; returns them.

    Args:
        into: folder, which is emptied first.
        reference: the text of each page of the reference, by its name.
        parameters: by controller, the text at the end of its section on the page about the field.

    Raises:
        KneepointError: a link leads nowhere, or a page has the name of a page of the generator.
    """
    shutil.rmtree(into, ignore_errors=True)
    for folder in ("images", "notebooks"):
        shutil.copytree(DOCS / folder, into / folder)
    pages = {page.relative_to(DOCS): page for page in sorted(DOCS.rglob("*.md"))}
    for place, page in pages.items():
        if str(place.with_suffix("")) in _SPHINX_OWN:
            raise KneepointError(f"{page}: Sphinx has a page of that name; rename this one")
    texts = {place: converted(page) for place, page in pages.items()}
    field = Path("field.md")
    if field in texts:
        texts[field] = with_ends(texts[field], parameters or {})
    texts[Path("index.md")] = converted(ROOT / "README.md") + "".join(
        _toctree(names, title) for title, names in CONTENTS.items()
    )
    why = "The reasons for the design. Missing numbers belong to decisions that no longer hold."
    texts[Path("decisions/index.md")] = f"# Decisions\n\n{why}\n{_toctree(['0*'])}"
    texts[Path("reference.md")] += _toctree([f"reference/{name}" for name in reference])
    texts |= {Path(f"reference/{name}.md"): text for name, text in reference.items()}
    for place, text in texts.items():
        write_whole(into / place, text)
    return [into / place for place in texts]


def with_ends(text: str, ends: Mapping[str, str]) -> str:
    """Returns a page with the texts of `ends` at the end of sections, by their titles."""
    first, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    for number, section in enumerate(sections):
        title, _, _ = section.partition("\n")
        if title in ends:
            sections[number] = f"{section.rstrip()}\n\n{ends[title].rstrip()}\n\n"
    return "## ".join([first, *sections])


def converted(page: Path) -> str:
    """Returns a page of the repository as it appears on the site.

    Raises:
        KneepointError: a link leads nowhere.
    """
    text = page.read_text(encoding="utf-8")
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_LINK.sub(lambda link: _link(link, page), text[end : code.start()]), code[0]]
        end = code.end()
    parts.append(_LINK.sub(lambda link: _link(link, page), text[end:]))
    return _AS_TEXT.sub("```text", "".join(parts))


def _link(link: "re.Match[str]", page: Path) -> str:
    mark, words, target = link.groups()
    path, _, anchor = target.partition("#")
    if "://" in target or not path:
        return link[0]
    words = _LINK.sub(lambda picture: _link(picture, page), words)  # that is a link itself
    found = (page.parent / path).resolve()
    if not found.exists():
        raise KneepointError(
            f"{page.relative_to(ROOT)}: the link {target} leads nowhere; correct it"
        )
    if not found.is_relative_to(DOCS):
        return words
    place = found / "index.md" if found.is_dir() else found
    here = DOCS if page == ROOT / "README.md" else page.parent
    to = Path(*[".."] * len(here.relative_to(DOCS).parts)) / place.relative_to(DOCS)
    return f"{mark}[{words}]({to}{f'#{anchor}' if anchor else ''})"


def _toctree(names: "list[str] | tuple[str, ...]", title: str = "") -> str:
    options = [":glob:", ":maxdepth: 1", *([f":caption: {title}", ":hidden:"] if title else [])]
    return "\n```{toctree}\n" + "\n".join([*options, "", *names]) + "\n```\n"
