"""The emulator of all tests in this folder."""

import pytest

from tests.controllers.emulator import EMULATE


@pytest.fixture(scope="session", autouse=True)
def _emulator_is_built() -> None:
    assert EMULATE.exists(), "build/emulate is missing: run `make build`"
