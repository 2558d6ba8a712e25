"""The code that Ray's workers execute, possibly on other machines with files sent to them."""

import platform
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from kneepoint.common.errors import KneepointError, of_file
from kneepoint.common.files import private_folder, sha256_of, write_whole
from kneepoint.engines.base import Engine, EngineSettings, RunRecord, RunSpec, run_while_sound

Sent = Mapping[str, tuple[str, Any]]
"""Files by their path in a worker's folder: the SHA-256 and the reference of the content."""


def run_here(
    settings: EngineSettings, specs: Sequence[RunSpec], expected: Mapping[str, str], sent: Sent
) -> list[RunRecord] | str:
    """Executes runs in a worker of Ray; returns their records, or the message of a KneepointError.

    Args:
        settings: of the engine, which lives from task to task.
        specs: the runs.
        expected: facts of the machine that requests runs (see facts_here); a node with different
            facts refuses to run anything, because results may depend on them.
        sent: files that the runs need; empty: the settings' paths on this machine.
    """
    try:
        if expected:
            _require(expected)
        return run_while_sound(_engine(settings.moved(_keep(sent)) if sent else settings), specs)
    except KneepointError as error:
        return str(error)
    except OSError as error:
        return f"node {platform.node()}: {of_file(error) or error}"


def facts_here() -> Mapping[str, str]:
    """Returns the facts of this machine that results may depend on, by their names in messages."""
    return {
        "the architecture": platform.machine(),
        "the C library": " ".join(platform.libc_ver()),
        "Python": platform.python_version(),
    }


def _require(expected: Mapping[str, str]) -> None:
    for what, value in expected.items():
        if (here := facts_here()[what]) != value:
            raise KneepointError(
                f"node {platform.node()}: {what} is {here}, but {value} on the machine that runs "
                "the workflow; results might depend on it: use identical nodes"
            )


@cache
def _engine(settings: EngineSettings) -> Engine:
    return settings.open()


@cache
def _folder() -> Path:
    """Makes a folder of this process, which the next process on the node removes."""
    return _stack.enter_context(private_folder("ray"))


def _keep(sent: Sent) -> Path:
    """Returns the folder of the files, after fetching missing files."""
    import ray

    for path, (sha256, reference) in sent.items():
        target = _folder() / path
        if _kept.get(path) == sha256:
            continue
        content: Any = ray.get(reference)
        if sha256_of(content) != sha256:
            raise KneepointError(
                f"{path}: arrived damaged on node {platform.node()}; run the command again"
            )
        if not target.resolve().is_relative_to(_folder().resolve()):
            raise KneepointError(f"{path}: leads outside the folder; give a relative path")
        write_whole(target, content)
        target.chmod(0o700)
        _kept[path] = sha256
    return _folder()


_stack = ExitStack()
_kept: dict[str, str] = {}
"""The digests of the files in the worker's folder, by path."""
