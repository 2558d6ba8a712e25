"""The links of the emulator's tests."""

from tests.controllers.conftest import contest, small_link

__all__ = ["contest", "small_link"]
