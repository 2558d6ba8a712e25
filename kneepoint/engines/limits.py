"""The properties and limits of each engine; networks beyond them are refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kneepoint.common.errors import KneepointError
from kneepoint.networks.declared import Notation, read_notation

_Queues = Mapping[str, Mapping[str, tuple[float, float]] | None]


@dataclass(frozen=True)
class Limits:
    """The properties and limits of one engine.

    Args:
        engine: its name.
        title: its name in reports.
        lacks: unsupported keys of a scenario's or network's link, with the reason and the remedy.
        queues: supported queues, each with the parameters it requires and their bounds (None: any
            parameters); None: every queue.
        reasons: reasons and remedies for unsupported queues, by kind.
        is_real_time: runs take real time and are not reproducible, and a results folder may lack
            them.
        host_settings: keys of `real_time` in the configuration on which its runs depend.
        runs_per_core: concurrent runs per core; None: one in each of the host's slots.
        real_host: stands for the host model in a run's description, if the host is real.
        has_kernels_tcp: TCP is the kernel's own, not our controllers.
        programs: programs that it needs in the build folder, besides the emulator.
    """

    engine: str
    title: str
    lacks: Mapping[str, str] = field(default_factory=dict)
    queues: _Queues | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    is_real_time: bool = False
    host_settings: tuple[str, ...] = ()
    runs_per_core: int | None = None
    real_host: str = ""
    has_kernels_tcp: bool = False
    programs: tuple[str, ...] = ()

    def require(self, link: Mapping[str, object], where: str) -> None:
        """Raises KneepointError, which begins with `where`, unless the engine supports the link."""
        for key, reason in self.lacks.items():
            if link.get(key):
                raise KneepointError(f"{where}.{key}: {self.engine} cannot run it: {reason}")
        self.queue(str(link["queue"]), f"{where}.queue")

    def queue(self, text: str, where: str) -> Notation:
        """Parses a queue; raises KneepointError if it is invalid or the engine does not have it."""
        try:
            notation = read_notation("queues", text)
        except ValueError as error:
            raise KneepointError(f"{where}: {error}") from None
        if self.queues is not None and not _is_among(self.queues, notation):
            reason = self.reasons.get(
                notation.kind, f"it has {', '.join(self.queues)}; use one of them, or the emulator"
            )
            raise KneepointError(f"{where}: {self.engine} cannot run {text!r}: {reason}")
        return notation


def _is_among(queues: _Queues, queue: Notation) -> bool:
    if queue.kind not in queues:
        return False
    needed, given = queues[queue.kind], queue.parameters
    if needed is None:
        return True
    return needed.keys() == given.keys() and all(
        least <= float(given[name]) <= most for name, (least, most) in needed.items()
    )


_NO_CHANGE = "its delay is constant; use delay_ms, or the emulator"
EMULATOR = Limits("emulator", "virtual time")

MAHIMAHI = Limits(
    "mahimahi",
    "real mahimahi",
    lacks={
        "rate_mbps": "give the link a trace or constant_mbps, or use the emulator",
        **dict.fromkeys(("loss_period", "loss_probability"), "remove it, or use the emulator"),
        "delay_step_ms": _NO_CHANGE,
        "impairments": "its random draws are not reproducible; remove them, or use the emulator",
    },
    queues=dict.fromkeys(("infinite", "droptail", "drophead", "codel-mahimahi", "pie-mahimahi")),
    reasons={
        "codel": "its CoDel is not RFC 8289's; use codel-mahimahi, or the emulator",
        "pie": "its PIE is not RFC 8033's; use pie-mahimahi, or the emulator",
    },
    is_real_time=True,
    host_settings=("busy_us", "keep_awake"),
    real_host="real",
    has_kernels_tcp=True,
    programs=("sender", "receiver", "measure", "keep_awake"),
)

_NO_TRACE = "a trace needs mahimahi or the emulator; give the link rate_mbps"
_NO_LOSS = "its links lose packets only at full queues; use the emulator"
MAX_CLASSES = 16
KERNEL = Limits(
    "kernel",
    "the kernel's TCP",
    lacks={
        **dict.fromkeys(("trace", "trace_sha256", "constant_mbps", "synthetic"), _NO_TRACE),
        "by_packets": "HTB shapes by bytes; use the emulator",
        **dict.fromkeys(("delay_step_ms", "delay_period_s", "delay_trace"), _NO_CHANGE),
        **dict.fromkeys(("loss_period", "loss_first", "loss_probability"), _NO_LOSS),
        "impairments": "remove them, or use the emulator",
    },
    queues={
        "infinite": {},
        "droptail": {"packets": (1, 1e15)},
        "drr": {"packets": (1, 1e15), "classes": (1, MAX_CLASSES), "per_class": (1, 1)},
    },
    reasons={
        "droptail": "its limit is in packets; use droptail:packets=N, or the emulator",
        "drr": "each class has its own limit in packets, "
        f"and there are at most {MAX_CLASSES}; use drr:packets=N,classes=C,per_class=1, or the "
        "emulator",
    },
    is_real_time=True,
    host_settings=("busy_us",),
    # At 8 Mbit/s each, packets are 1 ms late (99th percentile) with 4 runs per core, 24 ms with 15.
    runs_per_core=4,
    real_host="kernel",
    has_kernels_tcp=True,
    programs=("delay_line",),
)
LIMITS = {each.engine: each for each in (EMULATOR, MAHIMAHI, KERNEL)}
"""The limits of each engine, by its name."""
