"""Ray's worker, whose node needs nothing but Python, Ray and this package."""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from common.errors import KneepointError, of_file
from common.files import sha256_of, write_whole
from engines.base import Engine, EngineSettings, RunRecord, RunSpec, run_while_sound
from experiments.ray_folder import ray_folder

CODE = Path(__file__).resolve().parent.parent
PACKAGES = ("common", "engines", "experiments", "networks")
"""All that a worker imports."""

Sent = Mapping[str, tuple[str, Any]]
"""Files by their path in a worker's folder: the SHA-256 and the reference of the content."""


class Worker:
    """A Ray actor: holds engines, so that their processes live from call to call.

    Args:
        expected: facts of the machine that requests runs (see facts_here); a node with
            others refuses to run anything, because results might depend on them.
    """

    def __init__(self, expected: Mapping[str, str]) -> None:
        self._refusal = difference(f"node {platform.node()}", facts_here(), expected)
        self._engines: dict[EngineSettings, Engine] = {}
        self._files: dict[str, str] = {}
        self._stack = ExitStack()
        self._folder: Path | None = None

    def ready(self) -> bool:
        """Returns when the worker is ready."""
        return True

    def run(self, settings: Any, specs: Sequence[RunSpec], sent: Sent) -> list[RunRecord] | str:
        """Returns the records of all runs, or the message of a KneepointError.

        Args:
            settings: of the engine.
            specs: the runs.
            sent: files that they need; empty: the settings' paths on this machine.
        """
        try:
            if self._refusal:
                return self._refusal
            if sent:
                settings = settings.moved(self._keep(sent))
            if settings not in self._engines:
                self._engines[settings] = settings.open()
            return run_while_sound(self._engines[settings], specs)
        except KneepointError as error:
            return str(error)
        except OSError as error:
            return f"node {platform.node()}: {of_file(error) or error}"

    def _keep(self, sent: Sent) -> Path:
        """Returns the folder of the files, after fetching missing ones."""
        import ray

        self._folder = self._folder or self._stack.enter_context(ray_folder())
        for path, (sha256, reference) in sent.items():
            if self._files.get(path) == sha256:
                continue
            content: Any = ray.get(reference)
            if sha256_of(content) != sha256:
                raise KneepointError(
                    f"{path}: arrived damaged on node {platform.node()}; run the command again"
                )
            target = self._folder / path
            if not target.resolve().is_relative_to(self._folder.resolve()):
                raise KneepointError(f"{path}: leads outside the folder; give a relative path")
            write_whole(target, content)
            target.chmod(0o700)
            self._files[path] = sha256
        return self._folder


def facts_here() -> dict[str, str]:
    """Returns the facts of this machine that results may depend on, by their names in messages."""
    import ray

    return {
        "the architecture": platform.machine(),
        "the C library": " ".join(platform.libc_ver()),
        "Python": platform.python_version(),
        "Ray": ray.__version__,
        "Kneepoint's code": _digest_of_code(),
    }


def difference(node: str, facts: Mapping[str, str], expected: Mapping[str, str]) -> str:
    """Returns how a node differs from the machine that requests runs, or ""."""
    for what, value in expected.items():
        if facts.get(what) != value:
            return (
                f"{node}: {what} is {facts.get(what, 'unknown')}, but {value} on the machine that "
                "runs the workflow; results might depend on it: use identical nodes"
            )
    return ""


def _digest_of_code() -> str:
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((CODE / package).rglob("*.py")):
            content = sha256_of(path.read_bytes())
            digest.update(f"{path.relative_to(CODE)} {content}\n".encode())
    return digest.hexdigest()[:12]
