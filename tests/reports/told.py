"""What a report says, read back from its document."""

from dataclasses import dataclass

from analysis.results import Results
from common.tables import Tables
from experiments.published import Reference
from reports import document, draw, words
from reports.document import Json
from reports.provenance import Provenance
from tests.analysis import synthetic

PROVENANCE = Provenance(
    commit="0" * 40,
    committed="2026-11-21",
    changed_files=("analysis/audit.py", "config/studies/mine.yaml"),
    command="make reproduce CONFIG=config/config.yaml",
    config="config/config.yaml",
    config_sha256="1" * 64,
    inputs_sha256={"config/studies/tune.yaml": "5" * 64},
    references=(Reference(title="A report", authors=("A. Author", "B. Author"), year=2017),),
    seed=2017,
    versions={"python": "3.11"},
    binary_sha256="2" * 64,
    controllers_sha256={"build/controllers/fixed_window.so": "4" * 64},
    real_programs_sha256={"build/sender": "3" * 64},
    networks=(),
    results=(),
    host={"cores": "2"},
    wall_times=(),
)
MARKS = {
    "strong": "**{text}**",
    "code": "`{text}`",
    "reference": "{{{target}}}",
    "run": "{text}",
    "text": "{text}",
}


def plain(pieces: list[Json]) -> str:
    """A text with its marks: **strong**, `code`, {what it refers to}."""
    return "".join(MARKS[piece["kind"]].format(**piece) for piece in pieces)


@dataclass(frozen=True)
class Told:
    """A document, and what it says where."""

    document: Json

    @property
    def names(self) -> list[str]:
        return [section["name"] for section in self.document["sections"]]

    @property
    def abstract(self) -> str:
        return " ".join(plain(block["text"]) for block in self.document["abstract"])

    def blocks(self, kind: str, section: str | None = None) -> list[Json]:
        opening = {"name": "", "blocks": self.document["opening"]}
        return [
            block
            for each in (opening, *self.document["sections"])
            if section in (None, each["name"])
            for block in each["blocks"]
            if block["kind"] == kind
        ]

    def text(self, section: str | None = None) -> str:
        return " ".join(plain(block["text"]) for block in self.blocks("paragraph", section))

    def block(self, name: str) -> Json:
        (found,) = (
            block
            for kind in ("table", "figure")
            for block in self.blocks(kind)
            if block["name"] == name
        )
        return found

    def rows(self, table: str) -> list[tuple[str, ...]]:
        return [tuple(plain(cell) for cell in row) for row in self.block(table)["rows"]]

    def caption(self, name: str) -> str:
        return plain(self.block(name)["caption"])

    def figures(self, section: str | None = None) -> list[str]:
        return [block["name"] for block in self.blocks("figure", section)]


def told(results: Results) -> Told:
    """What the report says of results."""
    return told_by(synthetic.analysed(results))


def told_by(tables: Tables) -> Told:
    """What the report says of tables, with every figure that they have data for."""
    xml = words.compose(tables, PROVENANCE, draw.available(tables))
    return Told(document.document(xml, "v"))
