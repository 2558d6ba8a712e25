import os
import subprocess
import sys
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import hold_lock, open_file, read_json, runtime_folder, write_whole


def test_write_whole_leaves_nothing_behind_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disk_full(descriptor: int) -> None:
        raise OSError(28, f"No space left on device {descriptor}")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a", "content")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["pipe", "folder", "absent"])
def test_only_a_file_is_opened(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(KneepointError, match=f"{tmp_path / name}: .*; make one"):
        open_file(tmp_path / name, "make one")


def test_a_lock_that_is_a_link_empties_no_other_file(tmp_path: Path) -> None:
    other, path = tmp_path / "other", tmp_path / ".lock"
    other.write_text("kept")
    path.symlink_to(other)
    with pytest.raises(KneepointError, match=str(path)):
        hold_lock(path)
    assert other.read_text() == "kept"


def test_hold_lock_names_the_process_that_holds_it_and_ends_with_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    program = (
        "import sys; from pathlib import Path; from kneepoint.common.files import hold_lock\n"
        "lock = hold_lock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(KneepointError, match=f"process {holder.pid} holds the lock"):
            hold_lock(lock)
        holder.kill()
    hold_lock(lock).close()


@pytest.fixture
def ordinary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An ordinary user, whose home is the test's folder, without XDG_RUNTIME_DIR."""
    user = tmp_path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: user or 10**9)
    monkeypatch.setattr(Path, "lstat", lambda path: _with_owner(os.lstat(path), user or 10**9))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return tmp_path


def _with_owner(status: os.stat_result, user: int) -> os.stat_result:
    fields = list(status)
    fields[4] = user if status.st_uid == os.getuid() else status.st_uid
    return os.stat_result(fields)


def test_runtime_folder_is_the_sessions_where_there_is_one(
    ordinary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtime_folder() == ordinary / ".cache/kneepoint/run"
    (ordinary / "session").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(ordinary / "session"))
    umask = os.umask(0o077)
    try:
        assert runtime_folder() == runtime_folder() == ordinary / "session/kneepoint"
    finally:
        os.umask(umask)
    assert (ordinary / "session/kneepoint").stat().st_mode & 0o777 == 0o711


def test_runtime_folder_that_others_prepared_is_not_used(
    ordinary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(ordinary))
    planted, own = ordinary / "kneepoint", ordinary / ".cache/kneepoint/run"
    planted.mkdir()
    planted.chmod(0o777)
    assert runtime_folder() == own
    planted.rmdir()
    planted.symlink_to(ordinary)
    assert runtime_folder() == own
    own.chmod(0o777)
    with pytest.raises(
        KneepointError, match=r"kneepoint nor .*; set XDG_RUNTIME_DIR to a private folder"
    ):
        runtime_folder()


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 30_000, b""])
def test_what_is_not_json_is_a_value_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"."):
        read_json(path)
