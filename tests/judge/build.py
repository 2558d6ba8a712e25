"""Builds public QUIC stacks' controllers into build/judge, one shared object each.

python -m tests.judge.build
"""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

from kneepoint.common.errors import KneepointError, run_command_line

CRATE = Path(__file__).parent
BUILT = CRATE.parent.parent / "build/judge"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", BUILT / "cargo"))

# src/random.rs replaces the system's random numbers.
RUST_FLAGS = f'{os.environ.get("RUSTFLAGS", "")} --cfg getrandom_backend="custom"'


class AbsentError(KneepointError):
    """This machine lacks a requirement of the build."""


def controllers() -> list[str]:
    """Returns the controllers' names."""
    manifest = tomllib.loads((CRATE / "Cargo.toml").read_text())
    return [example["name"] for example in manifest["example"]]


def fetch() -> None:
    """Fetches the stacks' sources.

    Raises:
        AbsentError: cargo is missing or old, or the sources cannot be reached.
    """
    least = tomllib.loads((CRATE / "Cargo.toml").read_text())["package"]["rust-version"]
    if not shutil.which("cargo"):
        raise AbsentError(f"cargo not found; install Rust {least} or later")
    found = re.search(r"\d+\.\d+", _cargo("--version").stdout)
    if found is None or _numbers(found[0]) < _numbers(least):
        version = found[0] if found else "unknown"
        raise AbsentError(f"cargo is version {version}; install Rust {least} or later")
    if (done := _cargo("fetch", "--quiet")).returncode:
        raise AbsentError(f"the QUIC stacks' sources cannot be fetched: {done.stderr}")


def build() -> None:
    """Builds all controllers; raises AbsentError as fetch does, KneepointError if one fails."""
    fetch()
    if (done := _cargo("build", "--release", "--examples", "--offline")).returncode:
        raise KneepointError(f"{CRATE / 'Cargo.toml'} does not build: {done.stderr[-1000:]}")
    for name in controllers():
        # Processes that have the old file open keep it.
        new = BUILT / f"{name}.so.{os.getpid()}"
        shutil.copyfile(TARGET / f"release/examples/lib{name}.so", new)
        new.rename(BUILT / f"{name}.so")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _cargo(*words: str) -> "subprocess.CompletedProcess[str]":
    BUILT.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        ["cargo", *words],
        cwd=CRATE,
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET), "RUSTFLAGS": RUST_FLAGS},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )


def main() -> None:
    """Builds all controllers, and prints their names."""
    build()
    print(f"In {BUILT.relative_to(Path.cwd())}:", *(f"{name}.so" for name in controllers()))


if __name__ == "__main__":
    run_command_line(main)
