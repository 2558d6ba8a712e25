"""The field's controllers: their defaults, and what they reach, against their sources."""

import json
import subprocess

import pytest

from tests.controllers.emulator import EMULATE

DEFAULTS = {
    # Brakmo & Peterson, JSAC 1995, and Linux's tcp_vegas.c.
    "vegas": {"alpha": 2, "beta": 4, "gamma": 1, "initial_window": 10, "keepalive_ms": 1000},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_published(name: str) -> None:
    listed = json.loads(subprocess.run([EMULATE, "--list"], check=True, capture_output=True).stdout)
    declared = {each["name"]: each for each in listed["controllers"]}[name]
    defaults = {each["name"]: each["default"] for each in declared["constants"]}
    assert {key: defaults[key] for key in DEFAULTS[name]} == DEFAULTS[name]
    # Everything else is an option that is off, or ours.
    others = {key: value for key, value in defaults.items() if key not in DEFAULTS[name]}
    assert all(value == 0 for key, value in others.items() if declared_flag(declared, key))


def declared_flag(declared: dict[str, list[dict[str, str]]], key: str) -> bool:
    return any(each["name"] == key and each["unit"] == "0 or 1" for each in declared["constants"])
