"""The sandbox and the builder of entries, for commands that run senders of other people."""

import platform
from collections.abc import Collection
from pathlib import Path

import click

from kneepoint.cli.runs import make_what_is_missing
from kneepoint.common.files import sha256_of
from kneepoint.common.places import BUILT, STATE
from kneepoint.engines.entry import PYTHON_RUNNER
from kneepoint.entries.build import Compiler
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder

CONFINE, RUNNER = BUILT / "confine", BUILT / "entry"
REAL_TIME = [BUILT / name for name in ("entry-sender", "receiver", "measure")]
PYTHON = tuple(BUILT / name for name in PYTHON_RUNNER)
KEPT = STATE / "entries"
"""The folder of built entries, which are named by the digests of their inputs."""

trust_option = click.option(
    "--trust-entries",
    is_flag=True,
    help="Build and run entries without a sandbox, on a host without one.",
)


def open_builder(
    config: Path,
    networks: Collection[str],
    baselines: Collection[str] = (),
    *,
    is_trusting: bool,
    is_real_time: bool = False,
    where: str = "the command line",
) -> EntryBuilder:
    """Makes missing networks, baselines and programs; returns the builder of entries.

    Raises:
        KneepointError: a network or baseline in `where` is unknown, a program or network cannot be
            made, or this host has no sandbox.
    """
    programs = [RUNNER, *PYTHON, *([] if is_trusting else [CONFINE])]
    programs += REAL_TIME if is_real_time else []
    make_what_is_missing(config, networks, baselines, programs, where=where)
    confined = Confined(None if is_trusting else CONFINE.resolve())
    confined.check()
    compiler = Compiler(KEPT.resolve(), confined)
    runner = REAL_TIME[0] if is_real_time else RUNNER
    return EntryBuilder(compiler, sha256_of(runner.read_bytes()), python_digest(), is_trusting)


def python_digest() -> str:
    """Returns the digest of the runner of Python entries, with the interpreter's version."""
    parts = [each.read_bytes() for each in PYTHON]
    return sha256_of(b"".join([*parts, platform.python_version().encode()]))
