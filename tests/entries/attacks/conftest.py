"""The small link of the emulator's tests, and what was built to attack on it."""

from tests.entries.conftest import objects, small_link

__all__ = ["objects", "small_link"]
