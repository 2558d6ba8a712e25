"""Seeds: SHA-256 derives every random stream from the root seed; no two share one."""

import hashlib


def derive_seed(*parts: int | str) -> int:
    """Returns an integer of 53 bits (exact as a float) that depends on all parts."""
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 11


def study_seed(root_seed: int, study: str) -> int:
    """Returns the seed of a study or a repeat."""
    return derive_seed(root_seed, study)


def run_seed(seed: int, trial: int, run: int) -> int:
    """Returns the seed of a run; `run` counts all runs of a trial, over rows and networks."""
    return derive_seed(seed, trial, run)
