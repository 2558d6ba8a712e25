"""Seeds: SHA-256 derives the seed of every random stream from the root seed."""

import hashlib


def derive_seed(*parts: int | str) -> int:
    """Returns an integer of 53 bits (exact as a float) that depends on all parts."""
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 11
