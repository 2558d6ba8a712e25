"""Builds and runs entries of the tests; short links."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from kneepoint.common.files import sha256_of
from kneepoint.entries.tree import KIT
from kneepoint.networks.omniscient import omniscient_bound
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from tests.controllers.emulator import EMULATE, Link, emulate

NO_NAMESPACES = (
    *("unshare", "--user", "--map-root-user", "sh", "-c"),
    *('echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"),
)
"""Prefix of a command, to which the kernel then refuses namespaces."""
SOURCES = Path(__file__).parent / "sources"
ENTRY = EMULATE.parent / "entry"
SECONDS = 4


def link(folder: Path, name: str, gap_ms: int, pause_ms: int = 100) -> PreparedNetwork:
    """A link that delivers a packet every gap_ms, with a pause in each second."""
    times = [t for t in range(1, SECONDS * 1000 + 1) if t % gap_ms == 0 and t % 1000 >= pause_ms]
    trace = folder / f"{name}.trace"
    trace.write_text("".join(f"{time}\n" for time in times))
    side = PreparedLink(str(trace), sha256_of(trace.read_bytes()))
    bound = omniscient_bound(times, times[-1])
    return PreparedNetwork(name, side, side, None, "event-loop", 600, bound)


def build_entry(source: Path, into: Path, *words: str | Path) -> Path:
    """Builds a source into a shared object, as the contest builds entries."""
    built = into / f"{source.stem}.so"
    command = ["g++", "-O1", "-fPIC", "-shared", "-o", built, source, *words]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return built


def build_sender(into: Path, *flags: str) -> Path:
    """Builds the kit's sender, whose controller follows a rule that the environment names."""
    datagrump = KIT / "datagrump"
    parts = [datagrump / "sender.cc", datagrump / "contest_message.cc", *(KIT / "src").glob("*.cc")]
    includes = (f"-I{datagrump}", f"-I{KIT / 'src'}")
    return build_entry(SOURCES / "rules.cc", into, *parts, *includes, *flags)


def scenario_of(
    link: Link, entry: Path, environment: dict[str, str] | None = None, **settings: Any
) -> dict[str, Any]:
    """Returns a scenario with one entry and 1 s of CPU time; settings are further keys."""
    return {
        "uplink": {"trace": str(link.uplink)},
        "downlink": {"trace": str(link.downlink)},
        "flows": [{"entry": {"object": str(entry), "environment": environment or {}, "cpu_s": 1}}],
        **settings,
    }


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
    """Returns the answers of one emulator, started with a prefix, to scenarios in sequence."""
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


def require_lost(
    expected: Mapping[str, str],
    hostile: Callable[[str, Path], dict[str, Any]],
    honest: dict[str, Any],
    folder: Path,
    prefix: Sequence[str] = (),
) -> None:
    """Fails unless each attack loses its own run, and nothing else.

    Args:
        expected: patterns of the reasons, by the attacks' names.
        hostile: the scenario of an attack, given the path of a secret.
        honest: a scenario whose answer no attack may change.
        folder: of the secret; attacks leave it as it is.
        prefix: in front of the emulator's command.
    """
    secret = folder / "secret"
    secret.write_text("the secret\n")
    there = sorted(folder.iterdir())
    attacks = [hostile(attack, secret) for attack in expected]
    before, *lost, after = run_batch([honest, *attacks, honest], prefix=prefix)
    assert before["status"] == "ok", before
    assert after == before
    reasons = (f"{each['status']}: {each.get('reason')}" for each in lost)
    won = {
        name: reason
        for name, reason in zip(expected, reasons, strict=True)
        if not re.search(f"^failed: .*({expected[name]})", reason) or "the secret" in reason
    }
    assert won == {}
    assert secret.read_text() == "the secret\n"
    assert sorted(folder.iterdir()) == there


_SEEDS = range(3)


def require_twins(
    link: Link,
    scenario: dict[str, Any],
    rule: str,
    parameters: dict[str, float],
) -> None:
    """Fails unless an entry's runs equal the runs of the built-in controller, seed by seed."""
    scenario = {**scenario, "host_latency_us": 600}
    entries = run_batch([{**scenario, "seed": seed} for seed in _SEEDS])
    options = [("--seed", str(seed), "--host-latency-us", "600") for seed in _SEEDS]
    assert entries == [emulate(link, rule, parameters, *each) for each in options]


def require_same_bytes(scenario: dict[str, Any], folder: Path, **request: Any) -> None:
    """Fails unless a run and its log are independent of the entry's lookahead."""
    answers, logs = [], []
    for lookahead_us in (1000, 130, 0):
        log = folder / f"{lookahead_us}.log"
        other = {**scenario, "entry_lookahead_us": lookahead_us}
        answers += run_batch([other], flow_log=str(log), **request)
        logs.append(log.read_bytes())
    assert answers[0]["status"] == "ok"
    assert answers[0] == answers[1] == answers[2]
    assert logs[0] == logs[1] == logs[2]


def address_of(symbol: str) -> int:
    """Returns the address of a variable of the program entry, relative to its image."""
    listed = subprocess.run(["nm", "-C", ENTRY], check=True, capture_output=True, text=True).stdout
    found = re.search(rf"^([0-9a-f]+) . {re.escape(symbol)}$", listed, re.MULTILINE)
    assert found, f"no {symbol} in {ENTRY}"
    return int(found[1], 16)


def are_running(word: str) -> bool:
    """Returns whether a process has this word, which is unique to a test, in its command line."""
    lines = (process.info["cmdline"] for process in psutil.process_iter(["cmdline"]))
    return any(word in (line or ()) for line in lines)
