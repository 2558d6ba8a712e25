"""Commands of somebody else's making: they see what they are given, and leave nothing behind."""

import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.entries.building import SOURCES

CONFINE = ROOT / "build" / "confine"
SYSTEM = ("--read", "/usr", "/lib", "/lib64", "/etc/ld.so.cache")
PROGRAMS = ("--run", "/usr/bin", "/bin", "/usr/lib", "/lib", "/lib64", "/usr/libexec")


def confine(folder: Path, script: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Returns how a script ended that may write into the folder."""
    words = [str(CONFINE), *SYSTEM, *PROGRAMS, "--write", str(folder), *options, "--"]
    words += ["/bin/bash", "-c", script]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_exit_status_is_the_commands(tmp_path: Path) -> None:
    ended = confine(tmp_path, "echo said; exit 7")
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "said\n", "")


def test_entry_is_built(tmp_path: Path) -> None:
    (tmp_path / "entry.cc").write_bytes((SOURCES / "kit_sender.cc").read_bytes())
    script = f"cd {tmp_path} && TMPDIR=. g++ -shared -fPIC -o entry.so entry.cc"
    assert confine(tmp_path, script, "--no-network").returncode == 0
    assert (tmp_path / "entry.so").stat().st_size > 0


def test_build_cannot_take_a_trace_in(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    folder.mkdir()
    secret = tmp_path / "secret.trace"
    secret.write_text("1\n2\n")
    source = folder / "entry.cc"
    source.write_text(f'asm(".incbin \\"{secret}\\"");\nint main() {{}}\n')
    build = f"cd {folder} && TMPDIR=. g++ -shared -fPIC -o entry.so entry.cc"
    assert subprocess.run(["bash", "-c", build], check=False).returncode == 0
    (folder / "entry.so").unlink()
    ended = confine(folder, build)
    assert ended.returncode != 0
    assert "secret.trace" in ended.stderr
    assert not (folder / "entry.so").exists()


@pytest.mark.parametrize(
    "script",
    [
        "cat {secret}",
        "cat < {secret}",
        "ln {secret} stolen && cat stolen",
        "ln -s {secret} stolen && cat stolen",
        "echo x > {secret}",
        "rm {secret}",
        "mv {secret} here",
        "ls {parent}",
        "cp /bin/true mine && ./mine",
        "cat /proc/self/environ",
    ],
)
def test_other_files_are_out_of_reach(script: str, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    folder.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("the secret\n")
    ended = confine(folder, f"cd {folder}; " + script.format(secret=secret, parent=tmp_path))
    assert ended.returncode != 0
    assert "the secret" not in ended.stdout
    assert secret.read_text() == "the secret\n"


@pytest.mark.parametrize(
    ("script", "options", "reason"),
    [
        ("while :; do :; done", ("--cpu-s", "1"), "more than 1 s of CPU time"),
        ("sleep 60", ("--wall-s", "1"), "more than 1 s"),
        ("head -c 9000000 /dev/zero > big", ("--file-mb", "4"), "a file of more than 4 MB"),
        (
            "for i in {1..99}; do head -c 900000 /dev/zero > big$i; sleep .01; done",
            ("--file-mb", "4"),
            "wrote more than 4 MB",
        ),
        ("f() { f | f & }; f; sleep 60", ("--processes", "30"), "more than 30 processes"),
    ],
)
def test_limit_stops_it(script: str, options: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    ended = confine(tmp_path, f"cd {tmp_path}; {script}", *options)
    assert ended.returncode > 128
    assert ended.stderr.splitlines()[-1] == f"confine: stopped: {reason}"


def test_memory_is_bounded(tmp_path: Path) -> None:
    ended = confine(tmp_path, "head -c 500000000 /dev/zero | tail", "--memory-mb", "200")
    assert "memory exhausted" in ended.stderr


def test_network_is_out_of_reach(tmp_path: Path) -> None:
    ended = confine(tmp_path, "echo > /dev/udp/127.0.0.1/9", "--no-network")
    assert "not permitted" in ended.stderr


def test_others_are_not_killed(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        ended = confine(tmp_path, f"kill -9 {other.pid}")
        assert "not permitted" in ended.stderr
        assert other.poll() is None
        other.kill()


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    confine(tmp_path, f"cd {tmp_path}; (setsid sleep 61 & echo $! > left); exit 3")
    process = (tmp_path / "left").read_text().strip()
    assert not Path("/proc", process).exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--read", "/usr"], "-- COMMAND is missing"),
        (["--reed", "/usr", "--", "true"], "unknown option '--reed'"),
        (["--cpu-s", "0", "--", "true"], "--cpu-s"),
    ],
)
def test_bad_words_are_refused(words: list[str], message: str) -> None:
    ended = subprocess.run([CONFINE, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert message in ended.stderr
