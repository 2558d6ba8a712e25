"""Configuration models: repositories of entries, and the declaration of an entry."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from kneepoint.common.config_file import ConfigModel, matching, read_config
from kneepoint.common.errors import KneepointError, suggestion
from kneepoint.networks.config import NAMES, Name

ENTRY_FILE = "kneepoint.yaml"
"""File of an entry's tree that declares its author, arguments and parameters."""
REPOSITORIES = "entries.yaml"
"""Entries of a folder that are git repositories elsewhere."""

ENTRY_NAMES = "letters, digits, blanks and . , ' @ - _ & + ! ( )"
_SIGNS = frozenset(" .,'@-_&+!()")
_MAX_LETTERS = 100


def is_of_entry_name(sign: str) -> bool:
    """Returns whether a name may have a character; many scripts write vowels as combining marks."""
    return sign in _SIGNS or sign.isalnum() or unicodedata.category(sign)[0] == "M"


def is_entry_name(text: str) -> bool:
    """Returns whether a text is a valid name of an entry or an author."""
    return (
        0 < len(text) <= _MAX_LETTERS
        and (text[0].isalnum() or text[0] == "_")
        and all(map(is_of_entry_name, text))
    )


def _check_entry_name(text: str) -> str:
    if not is_entry_name(text):
        raise ValueError(f"it must be {ENTRY_NAMES} only")
    return text


EntryName = Annotated[str, AfterValidator(_check_entry_name)]
Text = Annotated[str, Field(max_length=200)]
Arguments = tuple[Text, ...]
CName = Annotated[str, matching(r"(?a:[A-Za-z_]\w{0,99})", "a name in C: letters, digits and _")]


class Repository(ConfigModel):
    """An entry in a git repository on this machine."""

    git: str = Field(min_length=1, description="path of the repository, or its file:// address")
    branch: str | None = Field(default=None, description="branch or tag; null: the current branch")
    commit: Annotated[str, matching(r"[0-9a-f]{4,40}", "digits of a commit")] | None = Field(
        default=None, description="commit, instead of a branch"
    )

    @model_validator(mode="after")
    def _has_one_revision(self) -> Self:
        if self.branch is not None and self.commit is not None:
            raise ValueError("has both branch and commit; give only one of them")
        if self.branch is not None and self.branch.startswith("-"):
            raise ValueError(f"branch {self.branch!r}: invalid name; correct it")
        return self


class Repositories(ConfigModel):
    """entries.yaml in a folder of entries."""

    entries: Mapping[EntryName, Repository] = Field(description="repositories by entry")


class EntryParameter(ConfigModel):
    """A parameter that an entry declares: its range, and how its value reaches the code."""

    macro: CName | None = Field(default=None, description="macro that sets it in the source")
    environment: CName | None = Field(default=None, description="environment variable that sets it")
    default: float = Field(description="its value in the contest")
    range: tuple[float, float] = Field(description="bounds of a search")
    integer: bool = Field(default=False, description="whether it must be a whole number")
    log: bool = Field(default=False, description="whether a search samples it logarithmically")
    unit: str = Field(default="1", description="its unit")
    meaning: str = Field(default="", description="its meaning")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if (self.macro is None) == (self.environment is None):
            raise ValueError("needs exactly one of macro and environment; give one")
        low, high = self.range
        if not low < high or (self.log and low <= 0):
            raise ValueError(f"range [{low:g}, {high:g}] must rise, above 0 if log; correct it")
        if not low <= self.default <= high:
            raise ValueError(f"default {self.default:g} is outside range [{low:g}, {high:g}]")
        if self.integer and any(value % 1 for value in (low, high, self.default)):
            raise ValueError("range and default of an integer must be whole")
        return self

    def text(self, value: float) -> str:
        """Returns a value as text for the code."""
        return str(int(value)) if self.integer else repr(float(value))


class EntryFile(ConfigModel):
    """kneepoint.yaml in an entry's tree."""

    author: EntryName | None = Field(
        default=None,
        description="author, for information: contests take the author of the submission's name",
    )
    arguments: Arguments = Field(
        default=(), max_length=20, description="arguments of the sender, after host and port"
    )
    parameters: Mapping[Name, EntryParameter] = Field(
        default={}, description=f"parameters that can be searched; names: {NAMES}"
    )

    def check(self, values: Mapping[str, float]) -> None:
        """Raises KneepointError unless it declares these parameters, with the values in range."""
        for name, value in values.items():
            if name not in self.parameters:
                near = suggestion(name, self.parameters) if self.parameters else "it declares none"
                raise KneepointError(f"has no parameter {name!r}; {near}")
            low, high = self.parameters[name].range
            if not low <= value <= high or (self.parameters[name].integer and value % 1):
                raise KneepointError(
                    f"{name} = {value:g} is not in its range, {low:g} to {high:g}"
                    f"{', whole numbers' if self.parameters[name].integer else ''}; correct it"
                )

    def macros(self, values: Mapping[str, float]) -> dict[str, str]:
        """Returns the macros and their values; parameters without a value have their defaults."""
        return self._texts("macro", values)

    def environment(self, values: Mapping[str, float]) -> dict[str, str]:
        """Returns the environment variables of the sender and their values (see `macros`)."""
        return self._texts("environment", values)

    def _texts(self, way: str, values: Mapping[str, float]) -> dict[str, str]:
        return {
            getattr(parameter, way): parameter.text(values.get(name, parameter.default))
            for name, parameter in self.parameters.items()
            if getattr(parameter, way) is not None
        }


def load_entry_file(folder: Path) -> EntryFile:
    """Reads an entry's kneepoint.yaml, if it exists.

    Raises:
        KneepointError: the file is malformed.
    """
    path = folder / ENTRY_FILE
    return read_config(path, EntryFile) if path.is_file() else EntryFile()
