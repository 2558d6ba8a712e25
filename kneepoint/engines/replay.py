"""Feeds controllers the acknowledgments of other senders' flow logs: a `replay` process."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from kneepoint.common.errors import KneepointError
from kneepoint.common.json_text import parse_json
from kneepoint.engines.built import REPLAY


class NoSenderError(KneepointError):
    """A sender that cannot be identified: its runs fail, or its log has ambiguous packets."""


class Replay:
    """Compares controllers with the senders of flow logs (`build/replay --help`)."""

    def __init__(self, logs: Sequence[Path], events: int) -> None:
        pipe = subprocess.PIPE
        words: list[str | Path] = [REPLAY, str(events), *logs]
        try:
            self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        except OSError as error:
            raise KneepointError(f"{REPLAY}: {error.strerror}; build it: make build") from None

    def compare(self, controller: str, parameters: Mapping[str, float]) -> dict[str, Any]:
        """Compares one controller; returns the decoded answer.

        Raises:
            NoSenderError: the program refuses a log.
            KneepointError: the program crashed.
        """
        process = self._process
        assert process.stdin and process.stdout and process.stderr
        words = [controller, *(f"{name}={float(value)!r}" for name, value in parameters.items())]
        try:
            process.stdin.write(" ".join(words) + "\n")
            process.stdin.flush()
            found: dict[str, Any] = parse_json(process.stdout.readline())
        except (BrokenPipeError, ValueError):
            said = process.stderr.read().strip().removeprefix("error: ")
            if said:
                raise NoSenderError(said) from None
            raise KneepointError(f"{REPLAY} ended with {process.wait()}") from None
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
