"""Entries of our own writing, in every dialect, and the twins of our controllers."""

import io
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from kneepoint.common.code import ROOT
from kneepoint.entries.tree import KIT

TWIN = Path(__file__).parent / "twin"
ALGORITHMS = ROOT / "controllers/algorithms"
TWINS = (
    *("aimd_rtt", "aimd_soph", "aimd_timeout", "bounded_aimd", "delay_band", "delay_threshold"),
    *("fast_tcp", "fixed_window", "rocinante", "tangra", "timely"),
)
"""The controllers of the contests."""


def kit(folder: Path, window: int | None = None) -> Path:
    """Writes the kit's own entry, with another window than its 50."""
    shutil.copytree(KIT, folder)
    (folder / "kneepoint.yaml").unlink()
    if window is not None:
        edit(folder / "datagrump/controller.cc", "#define WINDOW 50", f"#define WINDOW {window}")
    return folder


def edit(path: Path, old: str, new: str) -> None:
    """Replaces a text that must be there."""
    text = path.read_text()
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new))


def git(folder: Path, *words: str, **environment: str) -> str:
    """Runs git with a committer's name."""
    identity = ["-c", "user.name=anna", "-c", "user.email=anna@example.org"]
    answer = subprocess.run(
        ["git", *identity, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return answer.stdout.strip()


def repository(folder: Path) -> Path:
    """Makes a repository of a tree, with one commit on branch main."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=first")
    return folder


def write_member(path: Path, name: str, content: str, *, is_link: bool = False) -> None:
    """Adds a file or a link to a tree, a tar or a zip file."""
    if path.suffix == ".tar":
        with tarfile.open(path, "a") as archive:
            info = tarfile.TarInfo(name)
            if is_link:
                info.type, info.linkname = tarfile.SYMTYPE, content
            else:
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content.encode()))
    elif path.suffix == ".zip":
        zipped = zipfile.ZipInfo(name)
        zipped.external_attr = (0o120777 if is_link else 0o100644) << 16
        with zipfile.ZipFile(path, "a") as made:
            made.writestr(zipped, content)
    else:
        place = path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if is_link:
            place.symlink_to(content)
        else:
            place.write_text(content)


def deep(tree: Path) -> None:
    """Makes folders within folders, deeper than a path can name."""
    folder = os.open(tree, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("a", dir_fd=folder)
        inner = os.open("a", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)


def twin(folder: Path, name: str, parameters: Mapping[str, float]) -> Path:
    """Writes one of our controllers as a whole sender of the kit."""
    kit(folder)
    shutil.copytree(ALGORITHMS, folder / "algorithms", ignore=shutil.ignore_patterns("*.cc"))
    (folder / "common").mkdir()
    shutil.copy(ALGORITHMS.parent / "common/portable_math.hh", folder / "common")
    shutil.copy(ALGORITHMS / f"{name}.cc", folder / "algorithms" / f"{name}.hh")
    shutil.copytree(TWIN, folder, dirs_exist_ok=True)
    values = ", ".join(f'{{"{each}", {value!r}}}' for each, value in parameters.items())
    (folder / "datagrump/settings.hh").write_text(
        f'#include "algorithms/{name}.hh"\n\n'
        f"inline kneepoint::Parameters::Values values() {{ return {{{values}}}; }}\n"
    )
    return folder


def before_2017(folder: Path) -> Path:
    """Writes an entry of the kit before 2017, whose controller is not told about timeouts."""
    kit(folder, 12)
    for name in ("controller.cc", "controller.hh"):
        path = folder / "datagrump" / name
        text = re.sub(r",\s*(const )?bool after_timeout\)", ")", path.read_text())
        path.write_text(re.sub(r"\s*<< \(after_timeout.*?\)", "", text))
    edit(
        folder / "datagrump/sender.cc",
        "message.send_timestamp, after_timeout",
        "message.send_timestamp",
    )
    edit(folder / "datagrump/sender.cc", "void send(bool after_timeout)", "void send(bool)")
    return folder


MAKEFILE_2013 = """\
source = datagrump-sender.cc datagrump-receiver.cc \\
\taddress.cc controller.cc file_descriptor.cc packet.cc poller.cc socket.cc timestamp.cc
objects = $(filter-out datagrump-%,$(source:.cc=.o))
executables = datagrump-sender datagrump-receiver

all: $(executables)

datagrump-sender: datagrump-sender.o $(objects)
\t$(CXX) -o $@ $+

datagrump-receiver: datagrump-receiver.o $(objects)
\t$(CXX) -o $@ $+

%.o: %.cc
\t$(CXX) -c -o $@ $<

-include depend
depend: $(source) # all
\t$(CXX) -MM $(source) > depend
"""


def flat_2013(folder: Path, epoch: str = "1362700000000") -> Path:
    """Writes an entry in the layout of 2013: flat, with packet_was_sent and shorter headers.

    Its clocks count from a date of the kit's, and its Makefile names the built sources.
    """
    made = kit(folder.with_name(f".{folder.name}"), 12)
    folder.mkdir()
    for path in [*made.glob("datagrump/*.??"), *made.glob("src/*.??")]:
        name = path.name
        name = {"sender.cc": "datagrump-sender.cc", "receiver.cc": "datagrump-receiver.cc"}.get(
            name, name.replace("contest_message", "packet")
        )
        text = path.read_text().replace("contest_message.hh", "packet.hh")
        text = text.replace("datagram_was_sent", "packet_was_sent")
        # Headers of five numbers, and clocks that count from a date.
        text = text.replace("6 * number_size", "5 * number_size")
        text = text.replace("ack_recv_timestamp, ack_payload_length}", "ack_recv_timestamp}")
        text = text.replace("  ack_payload_length = number_at(datagram, 5);\n", "")
        text = text.replace("payload(1424, 'x')", "payload(1432, 'x')")
        text = text.replace("return whole_ms(time) - start;", "return whole_ms(time) - EPOCH;")
        text = text.replace("uint64_t start = whole_ms(now());", f"uint64_t EPOCH = {epoch};")
        (folder / name).write_text(text)
    for name, other in (("controller", "_estimate"), ("datagrump-sender", ".orig")):
        shutil.copy(folder / f"{name}.cc", folder / f"{name}{other}.cc")
    (folder / "Makefile").write_text(MAKEFILE_2013)
    shutil.rmtree(made)
    return folder


def check_delays(tree: Path, latest_ms: int) -> Path:
    """Makes an entry of 2013 crash unless its two clocks differ by a plausible delay."""
    edit(
        tree / "controller.cc",
        "timestamp_ack_received) {",
        f"""timestamp_ack_received) {{
  const int64_t delay_ms = recv_timestamp_acked - send_timestamp_acked;
  if (send_timestamp_acked < 100000000000 or delay_ms < 0 or delay_ms > {latest_ms}) abort();""",
    )
    return tree


PYTHON_CLASS = """\
class Controller:
    def __init__(self, debug=False):
        self.window = 12

    def window_size(self):
        return self.window

    def datagram_was_sent(self, sequence_number, send_timestamp, after_timeout):
        pass

    def ack_received(self, sequence_number, sent_ms, received_ms, ack_received_ms):
        pass

    def timeout_ms(self):
        return 1000
"""
PYTHON_SENDER = """\
import socket
import sys

sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect((sys.argv[1], int(sys.argv[2])))
"""


def crashing(folder: Path) -> Path:
    """Writes an entry that ends at its first acknowledgment."""
    edit(kit(folder) / "datagrump/sender.cc", "hear() {", "hear() { std::abort();")
    return folder


def with_argument(folder: Path) -> Path:
    """Writes an entry that needs one argument more than the kit's entry."""
    sender = kit(folder) / "datagrump/sender.cc"
    edit(sender, "argc == 4 and std::string(argv[3]) ==", "argc == 5 and std::string(argv[3]) ==")
    edit(sender, "if (argc != 3 and not debug)", "if (argc != 5)")
    return folder
