"""Runs Snakemake."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import require_folder
from kneepoint.common.job_errors import errors_in
from kneepoint.common.locks import PASSED_LOCK, hold_workflow_lock
from kneepoint.common.places import LOGS, TOOL
from kneepoint.common.project import python_path
from kneepoint.runs.load import load_workflow
from kneepoint.workflow.forecast import Forecast
from kneepoint.workflow.states import State, states_of
from kneepoint.workflow.view import follow

WORKFLOW_LOG = LOGS / "workflow.log"
"""The log of Snakemake's output in the last workflow that showed its progress instead."""
PREPARATION = LOGS / "preparation.log"
"""The log of Snakemake's output when the last command prepared its inputs."""
VERBOSE = "KNEEPOINT_VERBOSE"
_PR_SET_PDEATHSIG = 1


class NotMadeError(SystemExit):
    """Snakemake failed, and the reasons are already on stderr."""


def make(
    config: Path,
    targets: Sequence[str | Path],
    cores: str = "all",
    quiet: bool = False,
    *,
    forecast: Forecast | None = None,
) -> None:
    """Makes files of the workflow with Snakemake, and shows progress on stderr.

    With KNEEPOINT_VERBOSE in the environment it shows Snakemake's own output instead.

    Args:
        config: configuration file of the workflow.
        targets: files or rules; empty: everything.
        cores: value of Snakemake's --cores.
        quiet: whether to show only errors and, with a forecast, the progress of compiling.
        forecast: of everything that a command makes.

    Raises:
        KneepointError: another workflow is running here.
        NotMadeError: Snakemake failed.
    """
    _require_cache()
    own = Path("Snakefile")
    profile = Path("profiles/default")
    command = [
        *(sys.executable, "-m", "snakemake", "--cores", cores, "--configfile", str(config)),
        *("--snakefile", str(own if own.is_file() else TOOL / "Snakefile")),
        *("--workflow-profile", str(profile if profile.is_dir() else TOOL / "profiles/default")),
    ]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    command += ["--", *map(str, targets or ["all"])]
    with hold_workflow_lock() as lock:
        environment = {
            "USER": str(
                os.getuid()
            ),  # Snakemake requires a name, which users in containers may lack
            **os.environ,
            **{"PATH": path, "PYTHONPATH": python_path(), PASSED_LOCK: str(lock.fileno())},
        }
        start = partial(
            subprocess.Popen,
            command,
            env=environment,
            pass_fds=[lock.fileno()],
            preexec_fn=_end_with_parent,  # otherwise it survives a kill of this process
        )
        if os.environ.get(VERBOSE) and not quiet:
            with start() as process:
                status = process.wait()
        else:
            status = _run_quietly(start, None if quiet else config, forecast)
    if status != 0:
        raise NotMadeError(2)


def _require_cache() -> None:
    """Raises KneepointError unless Snakemake can write its cache."""
    try:
        require_folder(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"))
    except (KneepointError, RuntimeError) as error:
        raise KneepointError(
            f"{error}; or set HOME or XDG_CACHE_HOME to a folder that you can write"
        ) from None


def _run_quietly(
    start: Callable[..., "subprocess.Popen[Any]"], shown: Path | None, forecast: Forecast | None
) -> int:
    """Returns the exit status of Snakemake, logged to a file; shows errors of a configuration."""
    path = WORKFLOW_LOG if shown else PREPARATION
    path.parent.mkdir(parents=True, exist_ok=True)
    look = partial(states_of, load_workflow(shown)) if shown else list
    if shown and not forecast:
        forecast = Forecast(is_building=False)
    with path.open("wb") as log:
        process = start(stdout=log, stderr=log)

    def is_over(interval_s: float) -> bool:
        with suppress(subprocess.TimeoutExpired):
            process.wait(interval_s)
        return process.returncode is not None

    try:
        if forecast and forecast.building:
            print(f"building {', '.join(forecast.building)}, once", file=sys.stderr, flush=True)
        if forecast:
            follow(partial(_tell, forecast, look, path), is_over)
        status = process.wait()
    except KeyboardInterrupt:  # Snakemake receives it, too, and ends its jobs
        process.wait()
        raise
    if status != 0:
        print(*errors_in(path), sep="\n", file=sys.stderr, flush=True)
    return status


def _tell(
    forecast: Forecast, look: Callable[[], Sequence[State]], log: Path
) -> tuple[Sequence[State], str]:
    states = look()
    return states, forecast.progress_text(states, log)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
