"""Runs Snakemake."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from common.errors import KneepointError


def make(
    config: Path,
    targets: Sequence[str | Path],
    cores: str = "all",
    quiet: bool = False,
    *,
    keep_going: bool = False,
) -> None:
    """Makes files of the workflow with Snakemake.

    Args:
    config: configuration file of the workflow.
    targets: files or rules; empty: everything.
    cores: value of Snakemake's --cores.
    quiet: print only what Snakemake says of an error, and that on stderr.
    keep_going: make whatever does not depend on what fails.

    Raises:
    KneepointError: Snakemake failed and has printed the reason.
    """
    command = [sys.executable, "-m", "snakemake", "--cores", cores, "--configfile", str(config)]
    command += ["--quiet", "all"] if quiet else []
    command += ["--keep-going"] if keep_going else []
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        [*command, "--", *map(str, targets)],
        env={**os.environ, "PATH": path},
        check=False,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
    )
    if done.returncode != 0:
        sys.stderr.buffer.write(done.stdout or b"")
        wanted = ", ".join(map(str, targets)) or "everything"
        raise KneepointError(f"{wanted}: not made; fix the error above and run the command again")
