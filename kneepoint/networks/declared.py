"""Queues, impairments and hosts as the emulator declares them, to check networks without a build.

python -m kneepoint.networks.declared     writes declared.json from build/emulate --list
"""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

from kneepoint.common.errors import run_command_line, suggestion
from kneepoint.common.files import read_json, write_whole
from kneepoint.common.json_text import parse_json
from kneepoint.common.places import BUILT

_BOUNDS = {"packets", "bytes"}
"""Parameters that bound a queue."""

FILE = Path(__file__).with_name("declared.json")


@dataclass(frozen=True)
class Notation:
    """A kind of queue, impairment or host, and its parameters: KIND:NAME=VALUE,NAME=VALUE."""

    kind: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads the notation; raises ValueError if a parameter has no value."""
        kind, colon, rest = text.partition(":")
        pairs = [part.split("=", 1) for part in rest.split(",")] if colon else []
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"{text!r} is not KIND:NAME=VALUE,...")
        names = [name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{text!r} has {name} twice; remove one")
        return cls(kind, dict(pairs))

    def with_value(self, name: str, value: float | str) -> Self:
        """Returns a notation with one parameter set."""
        return type(self)(self.kind, {**self.parameters, name: str(value)})

    def __str__(self) -> str:
        """Returns the text that `parse` reads."""
        pairs = ",".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.kind}:{pairs}" if pairs else self.kind


@dataclass(frozen=True)
class NotationParameter:
    """A parameter of a kind.

    Its `type` is whole, real, positive (real and above 0), or times: real numbers joined by +.
    """

    name: str
    type: str
    min: float
    max: float
    default: float | None
    required: bool
    unit: str
    meaning: str
    below: str

    def check(self, text: str) -> None:
        """Raises ValueError for an invalid value."""
        is_whole, is_positive = self.type == "whole", self.type == "positive"
        pattern = r"(?a:\d+)" if is_whole else r"(?a:\d+\.?\d*|\.\d+)(e\d+)?"
        for number in text.split("+") if self.type == "times" else [text]:
            value = float(number) if re.fullmatch(pattern, number) else -1
            if not self.min <= value <= self.max or (is_positive and not value):
                wanted = "a whole number of at least" if is_whole else "at least"
                raise ValueError(
                    f"{self.name} must be {'above' if is_positive else wanted} {self.min:.15g} "
                    f"and at most {self.max:.15g}, not {text}"
                )


@dataclass(frozen=True)
class Declaration:
    """A kind of queue, impairment or host, and its parameters.

    A queue with `needs_bound` needs a limit in packets or bytes; a queue with `marks` always marks
    packets.
    """

    name: str
    meaning: str
    needs_bound: bool
    marks: bool
    parameters: Mapping[str, NotationParameter]

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> Self:
        """Takes the decoded JSON of one kind."""
        parameters = {each["name"]: NotationParameter(**each) for each in declared["parameters"]}
        return cls(**{**declared, "parameters": parameters})

    def check(self, given: Mapping[str, str]) -> None:
        """Raises ValueError, with a remedy, for invalid parameters."""
        for name, value in given.items():
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise ValueError(f"{self.name} has no parameter {name!r}; it has: {known}")
            self.parameters[name].check(value)
        required = (each.name for each in self.parameters.values() if each.required)
        if missing := [f"{name}=NUMBER" for name in required if name not in given]:
            raise ValueError(f"{self.name} needs {','.join(missing)}; add it")
        if self.needs_bound and not _BOUNDS & given.keys():
            raise ValueError(f"{self.name} needs packets=NUMBER or bytes=NUMBER; add one")
        for each in self.parameters.values():
            if each.below and float(given[each.name]) >= float(given[each.below]):
                raise ValueError(
                    f"{self.name}: {each.name} {given[each.name]} must be below {each.below} "
                    f"{given[each.below]}; lower {each.name}"
                )

    def remedy_for(self, unnamed: str) -> str:
        """Returns the remedy for a value without the name of its parameter."""
        if not self.parameters:
            return f"{self.name} has no parameters; write {self.name}"
        order = sorted(self.parameters.values(), key=lambda each: each.name not in _BOUNDS)
        likely = next((each for each in order if each.required), order[0])
        value = unnamed if re.fullmatch(r"(?a:[\d.]+)", unnamed) else "NUMBER"
        return (
            f"{unnamed!r} is not NAME=VALUE; write, for example, {self.name}:{likely.name}={value} "
            f"({self.name} has {', '.join(self.parameters)})"
        )


@cache
def declared(which: str) -> Mapping[str, Declaration]:
    """Returns the kinds of `queues`, `impairments` or `host_models` by name."""
    return {each["name"]: Declaration.of(each) for each in read_json(FILE)[which]}


def read_notation(which: str, text: str) -> Notation:
    """Parses and checks a notation of `which` (see `declared`); raises ValueError with a remedy."""
    kinds = declared(which)
    kind, colon, rest = text.partition(":")
    unnamed = next((part for part in rest.split(",") if "=" not in part), None) if colon else None
    if kind in kinds and unnamed is not None:
        raise ValueError(f"{text!r}: {kinds[kind].remedy_for(unnamed)}")
    notation = Notation.parse(text)
    if notation.kind not in kinds:
        near = suggestion(notation.kind, kinds)
        raise ValueError(f"{notation.kind!r} is not among the {which.replace('_', ' ')}; {near}")
    kinds[notation.kind].check(notation.parameters)
    return notation


def marks_packets(queue: str) -> bool:
    """Returns whether a valid queue marks packets."""
    notation = Notation.parse(queue)
    kind = declared("queues")[notation.kind]
    ecn = kind.parameters.get("ecn")
    return kind.marks or bool(ecn and float(notation.parameters.get("ecn", ecn.default or 0)))


def declaration_of(emulate: Path) -> str:
    """Returns the content of declared.json for a build of the emulator."""
    listed = parse_json(subprocess.run([emulate, "--list"], check=True, capture_output=True).stdout)
    kept = {key: listed[key] for key in ("queues", "host_models", "impairments")}
    return json.dumps(kept, indent=1) + "\n"


if __name__ == "__main__":
    run_command_line(lambda: write_whole(FILE, declaration_of(BUILT / "emulate")))
