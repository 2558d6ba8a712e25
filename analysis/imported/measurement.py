"""What a file of any tool says: one form for all formats."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from common.errors import KneepointError


@dataclass(frozen=True)
class Measurement:
    """One run, as far as its file tells.

    `metrics` are fields of `engines.base.RunRecord`; what is missing stands in `absent`. `flows`
    have the name, the controller and FLOW_METRICS. `series` is that of `analysis.over_time`.
    `controller`, `network` and `number`, the run's, are "" or None where the file says nothing.
    """

    path: Path
    format: str
    duration_s: float
    metrics: Mapping[str, float]
    flows: tuple[Mapping[str, object], ...]
    series: pd.DataFrame
    absent: tuple[str, ...] = ()
    controller: str = ""
    network: str = ""
    number: int | None = field(default=None)


@dataclass(frozen=True)
class Format:
    """A format: how it is recognised, from the first bytes, and read.

    `read` takes the path, for messages and files beside it, and the unpacked content; it raises
    KneepointError if the file is cut off or says nothing.
    """

    name: str
    recognises: Callable[[bytes], bool]
    read: Callable[[Path, bytes], list[Measurement]]

    def refuse(self, path: Path, why: str) -> KneepointError:
        """The error for a file of this format that cannot be used."""
        return KneepointError(f"{path}: {self.name}, but {why}")
