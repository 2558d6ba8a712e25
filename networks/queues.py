"""The settings of the emulator's queues, to refuse invalid ones before anything is built.

controllers/queues implements the queues; a test compares this table with them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from common.errors import suggestion
from networks.notation import Notation


@dataclass(frozen=True)
class _Setting:
    """A number in (0, most], or a whole one in [least, most]."""

    most: float
    least: int | None = None

    def check(self, name: str, text: str) -> None:
        if self.least is None:
            wanted = f"above 0 and at most {self.most:g}"
            is_right = re.fullmatch(r"(?a:\d+\.?\d*|\.\d+)(e\d+)?", text) is not None
            is_right = is_right and 0 < float(text) <= self.most
        else:
            to_most = "" if self.most == _MOST else f" and at most {self.most:.0f}"
            wanted = f"a whole number of at least {self.least}{to_most}"
            is_right = re.fullmatch(r"(?a:\d+)", text) is not None
            is_right = is_right and self.least <= int(text) <= self.most
        if not is_right:
            raise ValueError(f"{name} must be {wanted}, not {text}")


_MOST = 2**64 - 1
_COUNT = _Setting(_MOST, least=1)
_TIME_MS = _Setting(86_400_000, least=1)
_FLAG = _Setting(1, least=0)
_CODEL = {"target": _TIME_MS, "interval": _TIME_MS}
_PIE = {"qdelay_ref": _TIME_MS, "max_burst": _TIME_MS}
_BOUND = {"packets": _COUNT, "bytes": _COUNT}


@dataclass(frozen=True)
class _Queue:
    required: Mapping[str, _Setting] = field(default_factory=dict)
    optional: Mapping[str, _Setting] = field(default_factory=dict)
    needs_bound: bool = False

    @property
    def settings(self) -> Mapping[str, _Setting]:
        return {**self.required, **self.optional}


QUEUES: Mapping[str, _Queue] = {
    "infinite": _Queue(),
    "droptail": _Queue({}, _BOUND, needs_bound=True),
    "drophead": _Queue({}, _BOUND, needs_bound=True),
    "codel": _Queue(_CODEL, {"ecn": _FLAG, **_BOUND}),
    "pie": _Queue(_PIE, {"ecn": _FLAG, "mark_ecnth": _Setting(1), **_BOUND}),
    "codel-mahimahi": _Queue(_CODEL, _BOUND, needs_bound=True),
    "pie-mahimahi": _Queue(_PIE, _BOUND, needs_bound=True),
    "red": _Queue(
        {"min": _Setting(1e6), "max": _Setting(1e6)},
        {
            "max_p": _Setting(1),
            "weight": _Setting(0.5),
            "rate_mbps": _Setting(100_000),
            "gentle": _FLAG,
            "ecn": _FLAG,
            **_BOUND,
        },
    ),
    "drr": _Queue(
        {},
        {"quantum": _COUNT, "classes": _Setting(1000, least=1), "per_class": _FLAG, **_BOUND},
        needs_bound=True,
    ),
    "fq_codel": _Queue(
        _CODEL,
        {"quantum": _COUNT, "flows": _Setting(65_536, least=1), "ecn": _FLAG, **_BOUND},
    ),
}
"""By kind, as the emulator registers them."""


def check_queue(text: str) -> str:
    """Returns the notation of a queue; raises ValueError, with a remedy, for an invalid one."""
    notation = Notation.parse(text)
    queue = QUEUES.get(notation.kind)
    if queue is None:
        near = suggestion(notation.kind, QUEUES)
        raise ValueError(f"{notation.kind!r} is not a queue discipline; {near}")
    for name, value in notation.parameters.items():
        if name not in queue.settings:
            known = ", ".join(queue.settings) or "none"
            raise ValueError(f"{notation.kind} has no setting {name!r}; it has: {known}")
        queue.settings[name].check(name, value)
    missing = [name for name in queue.required if name not in notation.parameters]
    if missing:
        given = ",".join(f"{name}=NUMBER" for name in missing)
        raise ValueError(f"{notation.kind} needs {given}; add it")
    if queue.needs_bound and not _BOUND.keys() & notation.parameters.keys():
        raise ValueError(f"{notation.kind} needs packets=NUMBER or bytes=NUMBER; add one")
    if notation.kind == "red":
        least, most = (float(notation.parameters[name]) for name in ("min", "max"))
        if least >= most:
            raise ValueError(f"red: min {least:g} must be below max {most:g}; lower min")
    return text


def is_whole(setting: str) -> bool:
    """Returns whether the queues that have this setting need whole numbers for it."""
    return any(
        queue.settings[setting].least is not None
        for queue in QUEUES.values()
        if setting in queue.settings
    )
