"""The queues of mm-link, by their names in networks."""

from common.errors import KneepointError

_KINDS = {
    "infinite": "infinite",
    "droptail": "droptail",
    "drophead": "drophead",
    "codel-mahimahi": "codel",
    "pie-mahimahi": "pie",
}
_OTHERS = {
    "codel": "mahimahi's CoDel is not RFC 8289's; use codel-mahimahi, or the emulator",
    "pie": "mahimahi's PIE is not RFC 8033's; use pie-mahimahi, or the emulator",
}


def queue_of(described: str, where: str) -> tuple[str, str]:
    """Returns mm-link's name of a queue such as codel-mahimahi:target=5, and its arguments.

    Raises:
        KneepointError: mm-link has no such queue.
    """
    kind, _, arguments = described.partition(":")
    if kind in _KINDS:
        return _KINDS[kind], arguments
    reason = _OTHERS.get(kind, f"mahimahi has none; it has {', '.join(_KINDS)}")
    raise KneepointError(f"{where}: queue {described} cannot run on engine mahimahi: {reason}")
