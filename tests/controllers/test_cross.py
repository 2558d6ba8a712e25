"""Builds for an older C library, another processor and macOS, by the Python package ziglang."""

import os
import re
import shutil
import subprocess
from itertools import chain
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.controllers.emulator import EMULATE, Link
from tests.controllers.test_same_bytes import QEMU, lines_of, run

LIBC = "2.28"
"""The C library of manylinux_2_28, the newest that a wheel may need."""

LIBRARIES = re.compile(r"lib(c|m|dl|pthread)[.]so[.]\d|ld-linux-[a-z0-9-]+[.]so[.]\d")
"""Libraries that every system has."""

TARGETS = {"x86_64": (), "aarch64": QEMU}
PROCESSORS = {"x86_64": 0x01000007, "aarch64": 0x0100000C}
"""Mach-O's numbers of processors."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not shutil.which("python-zig"), reason="NOT TESTED without python-zig: make cross"
    ),
]


def build(target: str, *targets: str) -> Path:
    """Returns the folder of a target's build, which is kept for further runs."""
    options = [
        # Fewer optimizations compile faster, and must not change results.
        "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
        # ccache caches objects only if their precompiled header has no timestamp.
        "-DCMAKE_CXX_FLAGS=-Xclang -fno-pch-timestamp",
        f"-DCMAKE_CXX_COMPILER_LAUNCHER={'ccache' if shutil.which('ccache') else ''}",
    ]
    environment = {"KNEEPOINT_TARGET": target, "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
    result = subprocess.run(
        ["controllers/build.sh", *options, "--", *targets],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return ROOT / f"build/target-{target}"


def programs_in(folder: Path) -> list[Path]:
    files = (path for path in folder.iterdir() if path.is_file())
    return [path for path in files if path.read_bytes()[:4] == b"\x7fELF"]


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


@pytest.mark.parametrize("processor", TARGETS)
def test_linux_programs_need_an_old_libc_alone(
    processor: str, small_link: Link, tmp_path: Path
) -> None:
    folder = build(f"{processor}-linux-gnu.{LIBC}", "programs", "controllers")
    files = [*programs_in(folder), *programs_in(folder / "controllers")]
    ours = {path.name for path in programs_in(EMULATE.parent)} - {"controller_tests"}
    assert {path.name for path in files} >= ours
    for path in files:
        said = subprocess.run(
            ["readelf", "-W", "--dynamic", "--dyn-syms", str(path)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
        assert all(map(LIBRARIES.fullmatch, needed)), (path.name, needed)
        versions = re.findall(r"@GLIBC_([\d.]+)", said)
        assert max(map(version, versions)) <= version(LIBC), (path.name, versions)
        # Exported symbols that would replace symbols of an entry's own C++ library.
        exported = re.findall(
            r" (?:GLOBAL|WEAK) +DEFAULT +\d+ (_Z[nd]\S+|__cxa\S+|_Unwind\S+)", said
        )
        assert not exported, (path.name, exported)
    lines = lines_of(small_link, tmp_path)
    command = TARGETS[processor]
    if command and not shutil.which(command[0]):
        pytest.skip(f"NOT RUN without {command[0]}")
    expected = run((str(EMULATE),), lines, tmp_path)
    assert run((*command, str(folder / "emulate")), lines, tmp_path) == expected


@pytest.mark.parametrize("processor", PROCESSORS)
def test_core_links_for_macos(processor: str) -> None:
    folder = build(f"{processor}-macos", "core")
    magic, executable, library = 0xFEEDFACF, 2, 6
    controllers = list(folder.glob("controllers/*.so"))
    assert {path.stem for path in controllers} >= {"cubic", "timely"}
    kinds = chain([(folder / "emulate", executable)], ((each, library) for each in controllers))
    for path, kind in kinds:
        words = [int.from_bytes(path.read_bytes()[at : at + 4], "little") for at in (0, 4, 12)]
        assert words == [magic, PROCESSORS[processor], kind], path.name
