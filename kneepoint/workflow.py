"""Asks Snakemake for files."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from common.errors import KneepointError


def make(
    config: Path, targets: Sequence[str | Path], cores: str = "all", quiet: bool = False
) -> None:
    """Makes files of the workflow, as `snakemake` does.

    Args:
        config: the workflow's configuration.
        targets: the files, or rules; none: everything.
        cores: as Snakemake takes them.
        quiet: say nothing but what goes wrong.

    Raises:
        KneepointError: it did not succeed; Snakemake has said why.
    """
    command = [sys.executable, "-m", "snakemake", "--cores", cores, "--configfile", str(config)]
    command += ["--quiet", "all"] if quiet else []
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        [*command, "--", *map(str, targets)], env={**os.environ, "PATH": path}, check=False
    )
    if done.returncode != 0:
        wanted = ", ".join(map(str, targets)) or "everything"
        raise KneepointError(
            f"{wanted}: could not be made; put right what is said above, and start it again"
        )
