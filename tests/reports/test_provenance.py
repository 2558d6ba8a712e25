from pathlib import Path

import pytest

from common.files import sha256_of
from reports import provenance


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_mahimahi_version_is_the_package_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path / "dpkg-query", "echo 0.98-1")
    assert provenance._mahimahi() == {"mahimahi": "0.98-1"}


def test_mahimahi_version_is_left_out_where_nobody_knows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance._mahimahi() == {}
    program(tmp_path / "dpkg-query", "echo no such package >&2; exit 1")
    assert provenance._mahimahi() == {}


def test_real_programs_are_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    link = program(tmp_path / "bin" / "mm-link", "")
    sender = program(Path("build/sender"), "exit 3")
    assert provenance._real_programs() == {
        "build/sender": sha256_of(sender.read_bytes()),
        str(link): sha256_of(link.read_bytes()),
    }
