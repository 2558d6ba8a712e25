"""A run's bytes depend on its seed alone: not on compiler, C library, processor or batch order."""

import json
import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from kneepoint.engines.catalogue import load_catalogue
from kneepoint.search.language import parse
from tests.controllers.emulator import EMULATE, Link
from tests.search.test_rules import LAW

MANY = ("cubic", "timely")
"""Controllers that run with every host model and queue."""

AARCH64_LIBRARIES = "/usr/aarch64-linux-gnu"
AARCH64_PACKAGES = "g++-aarch64-linux-gnu qemu-user"


@dataclass(frozen=True)
class Other:
    """A build by another compiler, and the program that runs it.

    Args:
        compiler: the compiler and its options.
        programs: the required programs.
        remedy: the command that installs them.
    """

    compiler: str
    emulator: tuple[str, ...]
    programs: tuple[str, ...]
    remedy: str

    @property
    def missing(self) -> list[str]:
        """Programs that are not installed."""
        return [each for each in self.programs if not shutil.which(each)]


QEMU = ("qemu-aarch64", "-L", AARCH64_LIBRARIES)
CLANG = Other("clang++", (), ("clang++",), "apt-get install clang")
AARCH64 = Other(
    "aarch64-linux-gnu-g++",
    QEMU,
    ("aarch64-linux-gnu-g++", "qemu-aarch64"),
    f"apt-get install {AARCH64_PACKAGES}",
)
BOTH = Other(
    "clang++ --target=aarch64-linux-gnu",
    QEMU,
    (*CLANG.programs, *AARCH64.programs),
    f"{CLANG.remedy} {AARCH64_PACKAGES}",
)
# A static program could not load controllers.
MUSL = Other(
    "python-zig c++ -target x86_64-linux-musl -dynamic",
    (),
    ("python-zig", "/lib/ld-musl-x86_64.so.1"),
    "make musl-tools",
)
# One build by another compiler for another processor takes half the time of two builds.
OTHERS = (
    {"clang": CLANG, "aarch64": AARCH64}
    if CLANG.missing or AARCH64.missing
    else {"clang-aarch64": BOTH}
)
CASES = [
    *(pytest.param(other, id=name, marks=pytest.mark.slow) for name, other in OTHERS.items()),
    pytest.param(MUSL, id="musl", marks=pytest.mark.long),
]


def lines_of(link: Link, folder: Path) -> list[str]:
    """Returns a batch: host models, queues with random draws, single and many flows."""
    traces = f"--uplink {link.uplink} --downlink {link.downlink} --duration-s 6"
    lines = [
        f"--controller {controller} {traces} --seed {seed}"
        f" --host-model {host} --uplink-queue {queue}"
        for controller in MANY
        for seed, (host, queue) in enumerate(
            (
                ("ideal", "infinite"),
                ("event-loop:wake_spread=0.5", "droptail:packets=20"),
                ("event-loop:delays_us=8+53+97+205+900", "pie:qdelay_ref=20,max_burst=100"),
                ("event-loop", "codel:target=5,interval=100"),
            )
        )
    ]
    for seed, queue in enumerate(("drr:packets=30", "fq_codel:target=5,interval=100")):
        file = folder / f"scenario-{seed}.json"
        scenario = {
            "uplink": {"trace": str(link.uplink), "queue": queue, "loss_probability": 0.01},
            "downlink": {"rate_mbps": 10, "delay_ms": 20},
            "flows": [
                {"controller": "cubic", "transport": "tcp"},
                {"controller": "cubic", "start_s": 0.5},
                {"controller": "timely", "transport": "tcp", "start_s": 1},
            ],
            "probes": [{"interval_ms": 100}],
            "duration_s": 6,
            "interval_s": 1,
            "seed": seed,
        }
        file.write_text(json.dumps(scenario))
        lines.append(f"--scenario {file} --flow-log {folder}/flow-{seed}.log")
    lines.append(f"{lines[1]} --flow-log {folder}/flow.log --uplink-log {folder}/uplink.log")
    return [*lines, *lines_of_all(link, folder)]


def lines_of_all(link: Link, folder: Path) -> list[str]:
    """Returns runs of every controller over each transport that meets its needs, with logs."""
    lines = []
    for controller in load_catalogue(EMULATE).controllers.values():
        marks = "counted_marks" in controller.needs
        for transport in controller.transports:
            name = f"{controller.name}-{transport}"
            scenario = {
                "uplink": {
                    "trace": str(link.uplink),
                    "queue": "codel:target=5,interval=100,ecn=1"
                    if marks
                    else "droptail:packets=40",
                    "loss_probability": 0.002,
                },
                "downlink": {"rate_mbps": 10, "delay_ms": 20},
                "flows": [
                    {
                        "controller": controller.name,
                        "parameters": parse(LAW).parameters if controller.name == "rule" else {},
                        "transport": transport,
                        **({"tcp": {"ecn": True}} if marks and transport == "tcp" else {}),
                    }
                ],
                "duration_s": 3,
                "interval_s": 0.5,
                "seed": 1,
            }
            file = folder / f"{name}.json"
            file.write_text(json.dumps(scenario))
            lines.append(f"--scenario {file} --flow-log {folder}/{name}.log")
    return lines


def run(command: tuple[str, ...], lines: list[str], folder: Path) -> list[bytes]:
    """Returns a batch's answers and logs."""
    result = subprocess.run(
        [*command, "--batch"], input="\n".join(lines).encode(), check=True, capture_output=True
    )
    logs = sorted(folder.glob("*.log"))
    return [*result.stdout.splitlines(), *(log.read_bytes() for log in logs)]


def build(other: Other, folder: Path) -> Path:
    """Returns the emulator built by another compiler, with its controllers beside it."""
    configure = ["cmake", "-S", "controllers", "-B", str(folder), "-G", "Ninja"]
    # Fewer optimizations compile faster, and must not change results.
    release = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG -w"]
    targets = ["emulate", "controllers"]
    environment = {**os.environ, "CXX": other.compiler}
    for command in (
        [*configure, *release],
        ["cmake", "--build", str(folder), "--target", *targets],
    ):
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert result.returncode == 0, result.stdout + result.stderr
    return folder / "emulate"


@pytest.mark.parametrize("other", CASES)
def test_builds_agree(other: Other, small_link: Link, tmp_path: Path) -> None:
    if other.missing:
        pytest.skip(f"NOT TESTED without {other.missing[0]}: {other.remedy}")
    emulate = build(other, tmp_path / "build")
    lines = lines_of(small_link, tmp_path)
    expected = run((str(EMULATE),), lines, tmp_path)
    assert all(b'"status":"ok"' in answer for answer in expected[: len(lines)])
    assert run((*other.emulator, str(emulate)), lines, tmp_path) == expected


def test_order_in_a_batch_does_not_matter(small_link: Link, tmp_path: Path) -> None:
    lines = lines_of(small_link, tmp_path)
    answers = run((str(EMULATE),), lines, tmp_path)
    order = list(range(len(lines)))
    random.Random(1).shuffle(order)
    shuffled = run((str(EMULATE),), [lines[i] for i in order], tmp_path)
    assert shuffled[: len(lines)] == [answers[i] for i in order]
    assert shuffled[len(lines) :] == answers[len(lines) :]
