"""Configuration models of a report's title, authors, texts, and sections in text/NAME.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from kneepoint.common.config_file import ConfigModel, names_in
from kneepoint.common.errors import KneepointError, require_known
from kneepoint.common.files import read_text
from kneepoint.networks.config import Name

_MAX_BYTES = 2**20


class Report(ConfigModel):
    """Title, authors and texts of a report; texts of several lines are Markdown."""

    title: str = Field(min_length=1, description="title of the report")
    subtitle: str = Field(
        default="", description="line below the title; by default the subject of the runs"
    )
    authors: tuple[str, ...] = Field(default=(), description="names of the authors")
    abstract: str = Field(
        default="", description="Markdown; the generated abstract follows without its introduction"
    )
    sections: tuple[Name, ...] = Field(
        default=(), description="files of text/ (NAME.md): sections before the generated sections"
    )
    closing: tuple[Name, ...] = Field(
        default=(), description="files of text/: sections after the results, before the references"
    )
    playground: bool = Field(
        default=False,
        description="points and runs of the page open in the playground, which `make wasm` builds; "
        "adds half a megabyte",
    )
    names: Mapping[str, Annotated[str, Field(min_length=1)]] = Field(
        default={}, description="printed names of parameters and controllers, without units"
    )

    @model_validator(mode="after")
    def _files_differ(self) -> Self:
        for name in self.files:
            if self.files.count(name) > 1:
                raise ValueError(f"text {name!r} appears twice; remove one")
        return self

    @property
    def files(self) -> tuple[str, ...]:
        """The names of all text files."""
        return (*self.sections, *self.closing)


@dataclass(frozen=True)
class Section:
    """A section of text/NAME.md: its title, and its text in Markdown."""

    title: str
    text: str


def load_section(config: Path, name: str) -> Section:
    """Reads text/`name`.md beside the configuration file `config`.

    Raises:
        KneepointError: the file is missing, or does not begin with a title.
    """
    path = config.parent / "text" / f"{name}.md"
    problem = f"{config}: report names {name!r}, but {path} does not exist"
    require_known(name, names_in(path.parent, ".md"), problem)
    title, _, text = read_text(path, _MAX_BYTES).lstrip().partition("\n")
    if not title.startswith("# ") or not title[2:].strip():
        raise KneepointError(f"{path}: has no title; begin it with a line such as `# Introduction`")
    return Section(title[2:].strip(), text)
