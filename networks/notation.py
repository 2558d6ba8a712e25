"""The notation KIND:NAME=VALUE,NAME=VALUE of queues and host models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True)
class Notation:
    """A kind and its parameters."""

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

    def having(self, name: str, value: float | str) -> Self:
        """Returns the notation with one more parameter, or another value."""
        return type(self)(self.kind, {**self.parameters, name: str(value)})

    def __str__(self) -> str:
        """Returns the text that `parse` reads."""
        pairs = ",".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.kind}:{pairs}" if pairs else self.kind
