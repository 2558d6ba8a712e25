"""Reasons of failed programs, also of programs without a message."""

from pathlib import Path

import pytest

from kneepoint.common.programs import _unsaid, run_built


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("kill -XFSZ $$", ["SIGXFSZ", "ulimit -f"]),
        ("kill -KILL $$", ["SIGKILL", "memory"]),
        ("kill -40 $$", ["signal 40"]),
        ("exit 3", ["exit status 3"]),
        ("echo error: odd >&2; exit 3", ["odd"]),
    ],
)
def test_a_program_that_fails_has_a_reason(tmp_path: Path, script: str, words: list[str]) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    _, status, reason = run_built(program)
    assert status != 0
    assert all(word in reason for word in words)


def test_a_program_without_room_for_its_words_has_a_reason() -> None:
    with Path("/dev/full").open("wb", buffering=0) as full:
        assert "free some space" in _unsaid(1, full)
