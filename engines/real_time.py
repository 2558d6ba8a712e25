"""What the engines in real time share: a run that a busy host has disturbed does not count."""

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from common.errors import KneepointError
from engines.base import EngineSettings, MachineFaultError, RunRecord

_EARLIER = ("earlier try", "earlier tries")
_ATTEMPTS = 3
"""Attempts at a run on a busy host."""


@dataclass(frozen=True)
class RealTimeSettings(EngineSettings):
    """Settings of an engine in real time.

    Args:
        build: the folder of its programs.
        busy_us: the scheduling delay (99th percentile, see RunRecord) above which a run is spoiled.
    """

    build: Path
    busy_us: float

    def spoils(self, record: RunRecord) -> bool:
        """Whether the host was too busy for a run that finished."""
        delay_us = record.scheduling_delay_p99_us
        return record.status == "ok" and delay_us is not None and delay_us > self.busy_us

    def require_programs(self, sha256: str) -> None:
        """Raises KneepointError unless this is still the digest of the engine's programs."""
        if sha256 != self.sha256:
            raise KneepointError(f"{self.build}: rebuilt during the study; run the command again")

    def taking_all(self) -> Self:
        """Returns the same with no run repeated."""
        return replace(self, busy_us=math.inf)


def digest_of(programs: Iterable[Path], beside: str = "") -> str:
    """Returns a digest of programs, and of a text.

    Raises:
        KneepointError: one is not there.
    """
    digest = hashlib.sha256(beside.encode())
    for program in programs:
        try:
            digest.update(hashlib.sha256(program.read_bytes()).digest())
        except OSError as error:
            raise KneepointError(f"{program}: {error.strerror}; build it: make build") from None
    return digest.hexdigest()


def run_undisturbed(settings: RealTimeSettings, run: Callable[[], RunRecord]) -> RunRecord:
    """Returns the record of a run, which is repeated while the host is too busy for it.

    The earlier tries are the reason in the record of the run that finally counts.

    Raises:
        MachineFaultError: the host was too busy every time.
    """
    spoilt: list[float] = []
    for _ in range(_ATTEMPTS):
        record = run()
        if not settings.spoils(record):
            return replace(record, reason=record.reason or _mark(spoilt, *_EARLIER))
        spoilt.append(record.scheduling_delay_p99_us or 0)
    raise MachineFaultError(
        f"{_mark(spoilt, 'try', 'tries')}; use fewer slots or reduce other load", is_final=True
    )


def _mark(spoilt: list[float], one: str, many: str) -> str:
    if not spoilt:
        return ""
    delays = ", ".join(f"{delay_us / 1000:.1f}" for delay_us in spoilt)
    tries = f"{len(spoilt)} {one if len(spoilt) == 1 else many}"
    return f"the host was too busy in {tries} (scheduling delay {delays} ms)"
