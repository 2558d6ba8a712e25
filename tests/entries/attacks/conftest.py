"""The small link of the emulator's tests, and the attacking entries."""

from tests.entries.conftest import objects, small_link

__all__ = ["objects", "small_link"]
