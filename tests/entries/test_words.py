"""Reasons of entries that try impossible actions, in terms that entrants understand."""

import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.entries.collect import submission_at
from kneepoint.entries.entries import EntryBuilder
from kneepoint.entries.tree import recognize
from tests.entries.building import run_batch

ENDLESS = "volatile int x; int main() { for (;;) x = x + 1; }"


def answer(folder: Path, builder: EntryBuilder, source: str, **keys: Any) -> dict[str, Any]:
    """Runs a whole sender in C++ or Python; returns the emulator's answer."""
    tree = folder / "entry"
    tree.mkdir(exist_ok=True)
    (tree / ("sender.py" if "import" in source else "sender.cc")).write_text(source)
    made = builder.make(submission_at(tree))
    assert made.built, made.reason + made.message
    (folder / "trace").write_text("".join(f"{time}\n" for time in range(1, 1000)))
    side = {"trace": str(folder / "trace"), "delay_ms": 20}
    entry = made.built.in_flow() | {"object": str(made.built.object), **keys}
    entry["interpreter"] = sys.executable
    scenario = {"uplink": side, "downlink": side, "flows": [{"entry": entry}]}
    (found,) = run_batch([scenario])
    return found


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('#include <cstdlib>\nint main() { std::system("true"); }', ["system", "in the sender"]),
        ("#include <thread>\nint main() { std::thread([] {}).join(); }", ["std::thread", "loop"]),
        (
            "#include <iostream>\nint main() { int x; std::cin >> x; }",
            ["std::cin", "kneepoint.yaml"],
        ),
        (
            "#include <sys/timerfd.h>\nint main() { timerfd_create(CLOCK_MONOTONIC, 0); }",
            ["timerfd", "timeout of"],
        ),
        ("#include <unistd.h>\nint main() { alarm(1); }", ["alarm", "timeout of"]),
        pytest.param(
            "#include <x86intrin.h>\nint main() { return __rdtsc() & 1; }",
            ["rdtsc", "clock_gettime"],
            marks=pytest.mark.skipif(platform.machine() != "x86_64", reason="no such counter"),
        ),
        (
            "#include <iostream>\nint main() { std::cout << 3 << '\\n' << 4 << '\\n'; return 9; }",
            ["exit status 9", "last words: 4"],
        ),
        ("int main() { int* none = nullptr; return *none; }", ["SIGSEGV"]),
        ("import os, socket\nos.system('true')", ["os.system", "in the sender"]),
        ("import threading, socket\nthreading.Thread(target=print).start()", ["threading.Thread"]),
        ("import sys, socket\nprint('no window')\nsys.exit(3)", ["exit status 3", "no window"]),
        ("import socket\ninput()", ["EOFError"]),
    ],
)
def test_reasons_name_what_was_written_and_what_to_do(
    tmp_path: Path, builder: EntryBuilder, source: str, words: list[str]
) -> None:
    found = answer(tmp_path, builder, source)
    assert found["status"] == "failed"
    assert [word for word in words if word not in found["reason"]] == []


@pytest.mark.parametrize(
    "source",
    [
        "#include <thread>\nint main() { return 10 + std::thread::hardware_concurrency(); }",
        "import os, socket\nos._exit(10 + os.cpu_count())",
    ],
)
def test_an_entry_has_one_processor(tmp_path: Path, builder: EntryBuilder, source: str) -> None:
    assert "exit status 11" in answer(tmp_path, builder, source)["reason"]


def test_the_limit_of_cpu_time_is_the_contests(tmp_path: Path, builder: EntryBuilder) -> None:
    reason = answer(tmp_path, builder, ENDLESS, cpu_s=1)["reason"]
    assert "more than 1 s of CPU time" in reason and "cpu_s" in reason and "loop" in reason


def test_the_limit_of_cpu_time_follows_the_run(tmp_path: Path, builder: EntryBuilder) -> None:
    """In a run of one second, an entry may compute for half of it after its start, but not
    longer."""
    computes = """
#include <ctime>
#include <cstdlib>
volatile unsigned x;
int main() { for (unsigned i = 0; i < COUNT; ++i) x = x + 1; std::_Exit(7); }
"""
    reason = answer(tmp_path, builder, computes.replace("COUNT", "1000000"))["reason"]
    assert "exit status 7" in reason
    (tmp_path / "other").mkdir()
    assert "more than 2 s" in answer(tmp_path / "other", builder, ENDLESS)["reason"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("class Controller:\n    def window_size(self)\n        return 3\n", ["line 2", "':'"]),
        ("x = 1\n  y = 2\n", ["line 2", "indent"]),
    ],
)
def test_a_mistake_in_python_has_its_line(tmp_path: Path, text: str, words: list[str]) -> None:
    (tmp_path / "sender.py").write_text(text)
    with pytest.raises(KneepointError, match=r"sender\.py") as refused:
        recognize(tmp_path)
    assert [word for word in words if word not in str(refused.value)] == []


READS = {
    "fopen": """#include <cstdio>
int main() {
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    FILE* file = fopen("../anna/weights.txt", "r");
    int a = 0, b = 0;
    if (file == nullptr or fscanf(file, "%d %d", &a, &b) != 2) return 1;
    rewind(file);
    if (fscanf(file, "%d", &a) != 1 or fopen("other.txt", "r") or fclose(file) != 0) return 2;
    sum += a + b;
  }
  return sum;
}""",
    "ifstream": """#include <fstream>
#include <string>
int main() {
  std::ifstream file(std::string("weights.txt"));
  int a = 0, b = 0;
  file >> a >> b;
  file.clear();
  file.seekg(0);
  file >> a;
  return 3 * (a + b);
}""",
    "open": """#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main() {
  char text[4] = {};
  const int file = open("weights.txt", O_RDONLY);
  if (read(file, text, 4) != 4 or write(file, text, 4) != -1) return 1;
  return 3 * (text[0] - '0' + text[2] - '0');
}""",
}


@pytest.mark.parametrize("way", sorted(READS))
def test_an_entry_reads_its_own_files(tmp_path: Path, builder: EntryBuilder, way: str) -> None:
    data = tmp_path / "entry/data/weights.txt"
    data.parent.mkdir(parents=True)
    data.write_text("2 5\n")
    (tmp_path / "entry/other.txt.old").write_text("3")
    reason = answer(tmp_path, builder, READS[way])["reason"]
    assert "exit status 21" in reason
    data.write_text("4 5\n")
    assert "exit status 27" in answer(tmp_path, builder, READS[way])["reason"]


def test_too_much_to_read_is_refused(tmp_path: Path, builder: EntryBuilder) -> None:
    tree = tmp_path / "entry"
    tree.mkdir()
    (tree / "sender.cc").write_text('const char* name = "big.txt"; int main() {}')
    (tree / "big.txt").write_bytes(b"x" * (2**20 + 1))
    reason = builder.make(submission_at(tree)).reason
    assert "big.txt" in reason and "into the source" in reason
