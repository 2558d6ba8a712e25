"""The secret seed of a contest's final links, and the links that it makes."""

import re
import secrets
from dataclasses import replace
from pathlib import Path

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import (
    LOCK_PATIENCE_S,
    hold_lock,
    read_text,
    sha256_of,
    write_whole,
)
from kneepoint.networks.disguise import disguise
from kneepoint.networks.omniscient import bound_of_traces
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from kneepoint.networks.traces import format_trace, times_of

SEED_FILE = "secret.txt"
"""In a contest's folder: the organiser's alone until the end. Its SHA-256 is the seed's digest."""
FINAL = "final"
"""Folder of the final links' traces in the contest's folder."""
_SEED = re.compile(r"[0-9a-f]{32}\n?")


def seed_of(folder: Path, given: Path | None, pinned: str | None, where: str) -> str:
    """Returns a contest's secret seed: that of its folder, else the given file's, else a new one.

    Args:
        folder: of the contest, in which the seed stays.
        given: a file with the seed, such as one published after a contest; None: there is none.
        pinned: the digest that the contest's file states; None: it states none.
        where: that file, for messages.

    Raises:
        KneepointError: a file has no seed, two differ, or the digest is another's.
    """
    kept = folder / SEED_FILE
    own = _read(kept) if kept.exists() else None
    other = _read(given) if given is not None else None
    if own and other and own != other:
        raise KneepointError(
            f"{given}: another secret seed than that of {kept}; remove one of the files"
        )
    seed = own or other
    if seed is None and pinned is not None:
        raise KneepointError(
            f"{where}: secret_sha256 belongs to a seed that is not in {kept}; put that file there, "
            "give it by --secret, or remove secret_sha256"
        )
    if seed is not None and pinned not in (None, digest_of(seed)):
        raise KneepointError(
            f"{where}: secret_sha256 is {pinned}, but the seed's SHA-256 is {digest_of(seed)}; "
            f"correct one of {kept if own else given} and secret_sha256"
        )
    return kept_secret(kept, seed)


def kept_secret(path: Path, given: str | None = None) -> str:
    """Returns the secret in a file; a missing file gets the given one, or one of 128 random bits.

    An interrupted contest goes on with the same, and of two that begin at once both have the first
    one's. The file is its owner's alone.
    """
    if not path.exists():
        with hold_lock(path.with_name(f".{path.name}.lock"), LOCK_PATIENCE_S):
            if not path.exists():
                write_whole(path, f"{given or secrets.token_hex(16)}\n", mode=0o600)
    return read_text(path, 100).strip()


def digest_of(seed: str) -> str:
    """Returns what `sha256sum` says of the seed's file."""
    return sha256_of(f"{seed}\n".encode())


def disguised(network: PreparedNetwork, seed: str, folder: Path, where: str) -> PreparedNetwork:
    """Returns a network whose recording is disguised; its traces are in the contest's `folder`.

    Raises:
        KneepointError: `where` names a network that has no recording, or too short a recording, or
            the folder has other traces than seed and recording make.
    """
    if not (network.uplink.trace and network.downlink.trace):
        raise KneepointError(
            f"{where}: final: {network.name} has no trace to disguise; "
            "move it to practice, or set disguise: false"
        )
    try:
        uplink_ms, downlink_ms = disguise(
            _times(network.uplink), _times(network.downlink), f"{seed} {network.name}"
        )
    except ValueError as error:
        raise KneepointError(
            f"{where}: final: {network.name}: {error}; take a longer one, or set disguise: false"
        ) from None

    def written(direction: str, link: PreparedLink, times_ms: list[int]) -> PreparedLink:
        path = folder / FINAL / network.name / f"{direction}.trace"
        content = format_trace(times_ms)
        if path.exists() and path.read_bytes() != content:
            raise KneepointError(
                f"{path}: another link than {folder / SEED_FILE} and {link.trace} make; restore "
                f"the file that has changed, or remove {folder / FINAL} to begin anew"
            )
        if not path.exists():
            (folder / FINAL).mkdir(0o700, parents=True, exist_ok=True)
            write_whole(path, content, mode=0o600)
        return replace(link, trace=str(path), trace_sha256=sha256_of(content))

    return replace(
        network,
        uplink=written("uplink", network.uplink, uplink_ms),
        downlink=written("downlink", network.downlink, downlink_ms),
        omniscient=bound_of_traces(uplink_ms, downlink_ms, network.duration_s),
    )


def _times(link: PreparedLink) -> list[int]:
    return times_of(Path(link.trace).read_bytes())


def _read(path: Path) -> str:
    text = read_text(path, 100)
    if not _SEED.fullmatch(text):
        raise KneepointError(f"{path}: has no secret seed, 32 digits 0 to 9 and a to f; correct it")
    return text.strip()
