"""The error messages that a user reads."""

import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from pwd import getpwuid

import pytest

from kneepoint.common.errors import KneepointError, lack_in, of_file, run_command_line, suggestion
from kneepoint.common.files import require_folder, write_whole
from kneepoint.common.job_errors import errors_in, errors_of_jobs
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("a\nb\r\nc", "a b c"),
        ("a\x1b[31m\0\ud800", "a\\x1b[31m\\x00\\ud800"),
        ("ä „b“", "ä „b“"),
    ],
)
def test_message_is_one_line_of_signs_that_can_be_seen(message: str, line: str) -> None:
    assert str(KneepointError(message)) == line


def test_long_message_keeps_its_file_and_its_remedy() -> None:
    output = str(KneepointError(f"a.yaml: {'x' * 10**6} is refused; remove it"))
    assert len(output) < 2100
    assert output.startswith("a.yaml: ")
    assert output.endswith("; remove it")


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (errno.EMFILE, "ulimit -n"),
        (errno.ENFILE, "ulimit -n"),
        (errno.ENOMEM, "ulimit -v"),
        (errno.EFBIG, "ulimit -f"),
        (errno.EAGAIN, "ulimit -u"),
        (errno.ENOSPC, "free some space"),
    ],
)
def test_a_limit_that_is_met_is_named(code: int, word: str) -> None:
    error = of_file(OSError(code, os.strerror(code)))
    assert os.strerror(code) in str(error)
    assert word in str(error)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("ImportError: _x.so: failed to map segment from shared object", "ulimit -v"),
        ("terminate called after throwing an instance of 'std::bad_alloc'", "ulimit -v"),
        ("OSError: [Errno 24] Too many open files: 'a.csv'", "ulimit -n"),
        ("OSError: [Errno 28] No space left on device", "free some space"),
    ],
)
def test_what_a_log_says_of_a_lack_is_said_with_its_remedy(
    tmp_path: Path, said: str, word: str
) -> None:
    log = tmp_path / "job.log"
    log.write_text(f"Traceback\n  File ...\n{said}\n")
    (line,) = errors_in(log)
    assert line.startswith("error: ")
    assert said in line
    assert word in line
    log.write_text("Traceback\nKeyError: 1\n")
    assert "Snakemake failed" in errors_in(log)[-1]


def test_memory_that_runs_out_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise MemoryError

    with pytest.raises(SystemExit, match="2"):
        run_command_line(fail)
    assert re.fullmatch(r"error: .*memory.*ulimit -v.*\n", capsys.readouterr().err)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_named_as_such(tmp_path: Path) -> None:
    os.chown(tmp_path, 1, 1)
    refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(tmp_path / "a/b"))
    assert f"user {getpwuid(1).pw_name}" in str(of_file(refused))
    os.chown(tmp_path, 123456, 1)
    assert "user 123456" in str(of_file(refused))
    logged = (
        f"PermissionError: [Errno 13] Permission denied: '{tmp_path}/a/b'",
        f"controllers/build.sh: line 16: {tmp_path}/.lock: Permission denied",
        f"mkdir: cannot create directory \u2018{tmp_path}/a\u2019: Permission denied",
    )
    for line in logged:
        assert "user 123456" in str(lack_in(line))
    os.chown(tmp_path, os.geteuid(), 1)
    assert "make it writable" in str(of_file(refused))
    for line in logged:
        assert "make it writable" in str(lack_in(line))


def _write_into_a_file(folder: Path) -> None:
    (folder / "file").touch()
    write_whole(folder / "file" / "result", "x")


def _write_over_a_folder(folder: Path) -> None:
    (folder / "result" / "x").mkdir(parents=True)
    write_whole(folder / "result", "x")


def _read_only(folder: Path) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(folder))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("windw", "did you mean 'window'?"),
        ("delay", "known: window, alpha"),
        ("", "known: window, alpha"),
    ],
)
def test_unknown_name_has_the_nearest_for_a_remedy(name: str, remedy: str) -> None:
    assert suggestion(name, ["window", "alpha"]) == remedy
    assert suggestion(name, []) == "known: none"


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (_write_into_a_file, "file: File exists; move the existing file away"),
        (_write_over_a_folder, "result: Is a directory; move the existing file away"),
        (_read_only, ": Read-only file system; make it writable"),
    ],
)
def test_result_that_cannot_be_written_is_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    write: Callable[[Path], None],
    message: str,
) -> None:
    with pytest.raises(SystemExit) as ended:
        run_command_line(lambda: write(tmp_path))
    output = capsys.readouterr().err
    assert ended.value.code == 2
    assert output.startswith(f"error: {tmp_path}")
    assert message in output
    assert output.count("\n") == 1


def test_defect_of_ours_keeps_its_traceback() -> None:
    def main() -> None:
        raise FileNotFoundError(errno.ENOENT, "gone", "file")

    with pytest.raises(FileNotFoundError):
        run_command_line(main)


def test_folder_must_be_one_that_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_folder(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "b"):
        with pytest.raises(
            KneepointError, match=r"file: Not a directory; move the existing file away"
        ):
            require_folder(path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(KneepointError, match=r"Permission denied; make it writable"):
        require_folder(tmp_path / "a")


def test_failed_jobs_are_told_from_snakemakes_log(tmp_path: Path) -> None:
    job, other = tmp_path / "a.log", tmp_path / "b.log"
    job.write_text("1 of 2\n/x y/a.cc:1:2: error: no\n  error: quoted\nerror: b.yaml: c; d\n")
    other.write_text("Killed\n")
    told = "".join(
        f"    log: {path} (check log file(s) for error details)\n" for path in (job, other, job)
    )
    log = tmp_path / "snakemake.log"
    log.write_text(told)
    assert errors_of_jobs([str(log)]) == [
        "/x y/a.cc:1:2: error: no",
        "error: b.yaml: c; d",
        f"error: a job failed; see {other}",
    ]
    log.write_text("nothing\n")
    assert errors_of_jobs([str(log)]) == [
        "error: the workflow failed; see Snakemake's messages above"
    ]


def test_a_folder_where_a_job_writes_a_file_is_named(tmp_path: Path) -> None:
    log = tmp_path / "snakemake.log"
    log.write_text("Skipped removing non-empty directory build/check_trace\n" * 2)
    (line,) = errors_of_jobs([str(log)])
    assert line.startswith("error: build/check_trace: ")
    assert os.strerror(errno.EISDIR) in line


def test_what_a_job_may_not_overwrite_is_named(tmp_path: Path) -> None:
    log = tmp_path / "workflow.log"
    log.write_text(
        "ProtectedOutputException in rule build_core in file build.smk, line 3:\n"
        "Write-protected output files for rule build_core:\n    output: build/a, build/b, build/c\n"
        "    affected files:\n        build/b\n        build/c\n"
    )
    lines = errors_in(log)
    assert [line.split(": ")[1] for line in lines] == ["build/b", "build/c"]
    assert all(os.strerror(errno.EACCES) in line for line in lines)


def test_a_log_that_was_cut_off_by_a_limit_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "job.log"
    log.write_text("Traceback\n  File")
    assert "ulimit" not in errors_in(log)[-1]
    size = log.stat().st_size
    monkeypatch.setattr("kneepoint.common.job_errors.getrlimit", lambda _: (size, size))
    (line,) = errors_in(log)
    assert "ulimit -f" in line


def test_a_log_without_room_says_so_and_hides_no_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, of_snakemake = tmp_path / "job.log", tmp_path / "snakemake.log"
    of_snakemake.write_text(f"    log: {log} (check log file(s) for error details)\n")
    usage = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    (line,) = errors_in(log)
    assert str(log) in line and os.strerror(errno.ENOSPC) in line
    assert errors_of_jobs([str(of_snakemake)]) == [line]
    named = f"error: a.csv: {os.strerror(errno.ENOSPC)}"
    log.write_text(named)
    assert errors_in(log) == [named]


def test_reader_who_has_enough_gets_no_traceback() -> None:
    program = """
from kneepoint.common.errors import run_command_line
def main():
    for _ in range(100_000):
        print("a line", flush=True)
run_command_line(main)
"""
    talking = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert talking.stdout is not None and talking.stderr is not None
    assert talking.stdout.readline() == b"a line\n"
    talking.stdout.close()
    assert talking.stderr.read() == b""
    assert talking.wait() == 1
    talking.stderr.close()
