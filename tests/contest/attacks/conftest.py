"""The small link of the emulator's tests."""

from tests.controllers.conftest import small_link

__all__ = ["small_link"]
