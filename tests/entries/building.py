"""Builds entries of the tests' own, and runs them."""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.controllers.emulator import EMULATE, Link, emulate

NO_NAMESPACES = (
    *("unshare", "--user", "--map-root-user", "sh", "-c"),
    *('echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"),
)
"""In front of a command: the kernel then refuses it namespaces."""
SOURCES = Path(__file__).parent / "sources"
ENTRY = EMULATE.parent / "entry"


def build_entry(source: Path, into: Path, *flags: str) -> Path:
    """Builds a source into a shared object, as the contest builds entries."""
    built = into / f"{source.stem}.so"
    command = ["g++", "-O1", "-fPIC", "-shared", *flags, "-o", str(built), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return built


def scenario_of(
    link: Link, entry: Path, environment: dict[str, str] | None = None, **settings: Any
) -> dict[str, Any]:
    """Returns a scenario in which one entry sends; settings are the scenario's."""
    return {
        "uplink": {"trace": str(link.uplink)},
        "downlink": {"trace": str(link.downlink)},
        "flows": [{"entry": {"object": str(entry), "environment": environment or {}}}],
        **settings,
    }


def check_twins(
    link: Link, rule: str, constants: dict[str, float], scenario: Callable[..., dict[str, Any]]
) -> None:
    """Fails unless an entry's runs are those of a controller, to the last digit.

    Args:
        link: the links of both.
        rule: the controller, with these constants.
        scenario: makes the entry's scenario with further settings.
    """
    seeds = range(8)
    entries = run_batch([scenario(seed=seed, host_latency_us=600) for seed in seeds])
    assert entries == [
        emulate(link, rule, constants, "--seed", str(seed), "--host-latency-us", "600")
        for seed in seeds
    ]


def can_refuse_namespaces() -> bool:
    """Returns whether NO_NAMESPACES works on this host."""
    return (
        subprocess.run([*NO_NAMESPACES, "true"], capture_output=True, check=False).returncode == 0
    )


def run_batch(
    scenarios: list[dict[str, Any]],
    environment: dict[str, str] | None = None,
    prefix: Sequence[str] = (),
    **request: Any,
) -> list[dict[str, Any]]:
    """Returns the answers of one emulator, behind a prefix, to one scenario after another."""
    lines = "".join(json.dumps({"scenario": each, **request}) + "\n" for each in scenarios)
    result = subprocess.run(
        [*prefix, str(EMULATE), "--batch"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(environment or {})},
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


def address_of(symbol: str) -> int:
    """Returns where a variable of the program entry stands, from the beginning of its image."""
    listed = subprocess.run(["nm", "-C", ENTRY], check=True, capture_output=True, text=True).stdout
    found = re.search(rf"^([0-9a-f]+) . {re.escape(symbol)}$", listed, re.MULTILINE)
    assert found, f"no {symbol} in {ENTRY}"
    return int(found[1], 16)


def are_running(word: str) -> bool:
    """Returns whether a process has this word, a test's own, among its own."""
    lines = (path / "cmdline" for path in Path("/proc").glob("[0-9]*"))
    return any(word.encode() in _content(line).split(b"\0") for line in lines)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


def wait_until(condition: Callable[[], bool]) -> None:
    """Fails if a condition does not come true."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
