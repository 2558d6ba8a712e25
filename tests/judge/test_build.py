"""Without cargo, with an old cargo or without a network, the comparison is skipped with a
message."""

from pathlib import Path

import pytest

from tests.judge.build import AbsentError, build


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (None, "cargo not found; install Rust 1"),
        ("echo cargo 1.63.0", "cargo is version 1.63; install Rust 1"),
        ("[ $1 != fetch ] && echo cargo 99.0.0 || { echo no route >&2; exit 101; }", "no route"),
    ],
)
def test_what_the_build_lacks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, message: str
) -> None:
    if script:
        (tmp_path / "cargo").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AbsentError, match=message):
        build()
