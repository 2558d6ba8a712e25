"""The secret seed of a contest's final networks, and the disguised networks."""

import re
import secrets
from dataclasses import replace
from pathlib import Path

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import LOCK_PATIENCE_S, hold_lock, read_text, sha256_of, write_whole
from kneepoint.networks.disguise import disguise
from kneepoint.networks.omniscient import bound_of_traces
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from kneepoint.networks.traces import format_trace, times_of

SEED_FILE = "secret.txt"
"""File of the seed in a contest's folder, known only to the organiser until the end. Its SHA-256 is
published as the digest of the seed."""
FINAL = "final"
"""Folder of the disguised traces in the contest's folder."""
_SEED = re.compile(r"[0-9a-f]{32}\n?")


def seed_of(folder: Path, given: Path | None, pinned: str | None, where: str) -> str:
    """Returns a contest's secret seed: from its folder, else from a given file, else a new seed.

    Args:
        folder: of the contest, where the seed is kept.
        given: a file with the seed, such as a file published after a contest; None: no file.
        pinned: the seed's digest in the contest's configuration; None: no digest.
        where: path of that configuration, for messages.

    Raises:
        KneepointError: a file has no seed, two seeds differ, or the digest does not match.
    """
    kept = folder / SEED_FILE
    own = _read(kept) if kept.exists() else None
    other = _read(given) if given is not None else None
    if own and other and own != other:
        raise KneepointError(
            f"{given}: has another secret seed than {kept}; remove one of the files"
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
    """Returns the secret in a file; writes a missing file with `given` or 128 random bits.

    An interrupted contest resumes with the same secret, and concurrent contests share the secret of
    the first. Only the owner can read the file.
    """
    if not path.exists():
        with hold_lock(path.with_name(f".{path.name}.lock"), LOCK_PATIENCE_S):
            if not path.exists():
                write_whole(path, f"{given or secrets.token_hex(16)}\n", mode=0o600)
    return read_text(path, 100).strip()


def digest_of(seed: str) -> str:
    """Returns the SHA-256 of the seed's file, as `sha256sum` prints it."""
    return sha256_of(f"{seed}\n".encode())


def disguised(network: PreparedNetwork, seed: str, folder: Path, where: str) -> PreparedNetwork:
    """Returns a network with a disguised recording, whose traces are written to `folder`.

    Raises:
        KneepointError: a network in `where` has no recording or a recording that is too short, or
        the folder has traces that differ from the traces of seed and recording.
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
            f"{where}: final: {network.name}: {error}; use a longer recording, or set disguise: "
            "false"
        ) from None

    def written(direction: str, link: PreparedLink, times_ms: list[int]) -> PreparedLink:
        path = folder / FINAL / network.name / f"{direction}.trace"
        content = format_trace(times_ms)
        if path.exists() and path.read_bytes() != content:
            raise KneepointError(
                f"{path}: differs from the trace that {folder / SEED_FILE} and {link.trace} make; "
                f"restore the changed file, or remove {folder / FINAL} to start anew"
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
