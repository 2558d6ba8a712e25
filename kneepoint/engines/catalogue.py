"""The controllers and their parameters, as `build/emulate --list` declares them."""

import math
import re
import subprocess
from collections.abc import Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from kneepoint.common.errors import KneepointError, require_known
from kneepoint.common.json_text import parse_json
from kneepoint.common.places import TOOL
from kneepoint.networks.declared import marks_packets


@dataclass(frozen=True)
class Parameter:
    """One parameter of a controller.

    [low, high] is the recommended search range, [min, max] the valid range.
    """

    name: str
    is_integer: bool
    default: float
    low: float
    high: float
    min: float
    max: float
    is_log: bool
    unit: str
    meaning: str

    def typed(self, value: float) -> float:
        """Returns the value, as an int if the parameter is an integer."""
        return int(value) if self.is_integer else float(value)

    def check(self, value: float, where: str) -> None:
        """Raises KneepointError if the value is invalid."""
        if not self.min <= value <= self.max:
            raise KneepointError(
                f"{where}: {self.name} = {value:g} is outside [{self.min:g}, {self.max:g}]; "
                f"the recommended range is {self.low:g} to {self.high:g}"
            )
        if self.is_integer and value != math.floor(value):
            raise KneepointError(f"{where}: {self.name} = {value:g} must be a whole number")


@dataclass(frozen=True)
class Controller:
    """One controller and its parameters by name.

    `sha256` is the digest of its shared object; `transports` are the transports that meet all its
    `needs`.
    """

    name: str
    sha256: str
    summary: str
    source: str
    parameters: Mapping[str, Parameter]
    needs: Sequence[str] = ()
    transports: Sequence[str] = ("datagrams", "tcp")

    def require(self, transport: str, where: str, *, has_ecn: bool = False) -> None:
        """Raises KneepointError if the transport does not meet all needs of the controller."""
        if transport in self.transports and "marks" in self.needs and not has_ecn:
            raise KneepointError(
                f"{where}: controller {self.name} needs marks; give its flow tcp: {{ecn: true}}"
            )
        if transport not in self.transports:
            raise KneepointError(
                f"{where}: controller {self.name} needs {', '.join(self.needs)}, which transport "
                f"{transport} lacks; it runs on {', '.join(self.transports) or 'none'} only"
            )

    def require_marks(self, queues: Iterable[str], where: str) -> None:
        """Raises KneepointError if the controller needs ECN marks, and no queue makes any."""
        if {"marks", "counted_marks"} & {*self.needs} and not any(map(marks_packets, queues)):
            raise KneepointError(
                f"{where}: controller {self.name} needs marks, which no queue makes; give "
                "the uplink a queue that marks, such as abc, or ecn=1"
            )

    def parameter(self, name: str, where: str) -> Parameter:
        """Returns a parameter; raises KneepointError if it is unknown."""
        problem = f"{where}: controller {self.name} has no parameter {name!r}"
        require_known(name, sorted(self.parameters), problem)
        return self.parameters[name]

    def complete(self, given: Mapping[str, float], where: str) -> dict[str, float]:
        """Returns the values of all parameters: the given values, once checked, and defaults."""
        for name, value in given.items():
            self.parameter(name, where).check(value, where)
        return {
            name: parameter.typed(given.get(name, parameter.default))
            for name, parameter in sorted(self.parameters.items())
        }


SOURCES = TOOL / "controllers/algorithms"
"""Folder of the controllers, one file each."""


class Catalogue:
    """All controllers of one build of the emulator."""

    def __init__(self, listing: Mapping[str, Any]) -> None:
        """Takes the decoded JSON of `emulate --list`."""
        self.controllers = {
            entry["name"]: Controller(
                **entry
                | {"parameters": {item["name"]: _parameter(item) for item in entry["parameters"]}}
            )
            for entry in listing["controllers"]
        }
        self.broken = {Path(each["path"]).stem: _reason(**each) for each in listing["broken"]}

    def controller(self, name: str, where: str) -> Controller:
        """Returns a controller; raises KneepointError if it is unknown or broken."""
        if name in self.broken:
            raise KneepointError(f"{where}: {self.broken[name]}")
        _require_controller(name, where, self.controllers)
        return self.controllers[name]

    def only(self, names: Container[str]) -> Self:
        """Returns a catalogue with these controllers only."""
        some = copy(self)
        some.controllers = {k: v for k, v in self.controllers.items() if k in names}
        return some


def require_sources(named: Mapping[str, str], own: Path) -> None:
    """Raises KneepointError if a controller has no source, or a source with an invalid name.

    Args:
        named: the file that names each controller, by controller.
        own: folder of the project's own controllers.
    """
    known = {path.stem: path for folder in (SOURCES, own) for path in sorted(folder.glob("*.cc"))}
    for name, where in named.items():
        _require_controller(name, where, known)
        require_valid_name(known[name])


def require_valid_name(source: Path) -> None:
    """Raises KneepointError if a controller's source has an invalid name."""
    if not re.fullmatch(r"(?a:[a-z0-9]\w{0,99})", source.stem):
        raise KneepointError(
            f"{source}: invalid name of a controller; use lower-case letters, digits and _ only"
        )


def load_catalogue(emulate: Path) -> Catalogue:
    """Asks the emulator for its controllers; raises KneepointError if it does not answer."""
    try:
        result = subprocess.run([emulate, "--list"], check=True, capture_output=True, timeout=60)
        return Catalogue(parse_json(result.stdout))
    except FileNotFoundError:
        raise KneepointError(f"{emulate}: not built; run `make build`") from None
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise KneepointError(f"{emulate} --list: {error}; run `make build` again") from None


def _source_listed_in(listed: Path) -> Path:
    """Returns the source of a project's own controller, the first in the list of its sources."""
    text = listed.read_text(encoding="utf-8", errors="replace")
    return Path(text.partition("\n")[0].partition("  ")[2])


def _reason(path: str, reason: str) -> str:
    """Returns why a controller was not loaded; names the source of a project's own controller."""
    listed = Path(path).with_suffix(".sources")
    return reason.replace(path, str(_source_listed_in(listed))) if listed.is_file() else reason


def _parameter(item: Mapping[str, Any]) -> Parameter:
    declared = dict(item)
    return Parameter(
        is_integer=declared.pop("type") == "integer",
        is_log=declared.pop("scale") == "log",
        min=-math.inf if (minimum := declared.pop("min")) is None else minimum,
        max=math.inf if (maximum := declared.pop("max")) is None else maximum,
        **declared,
    )


def _require_controller(name: str, where: str, known: Iterable[str]) -> None:
    require_known(name, sorted(known), f"{where}: unknown controller {name!r}")
