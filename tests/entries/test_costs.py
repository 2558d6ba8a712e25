"""Reading an entry's files in our own process costs at most seconds and some memory."""

import resource
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.entries.compiler_messages import own_part, reason_of
from kneepoint.entries.config import load_entry_file
from kneepoint.entries.tree import recognize
from tests.entries.trees import PYTHON_CLASS, kit

pytestmark = pytest.mark.attacks

_MAX_CPU_S = 15
"""Without our limits, it would take minutes to hours."""


def long_import(tree: Path) -> None:
    (tree / "sender.py").write_text("import a" + ".b" * 65_000)


def long_import_in_lines(tree: Path) -> None:
    (tree / "sender.py").write_text("if 1: import a" + "\\\n .b" * 25_000)


def long_import_behind_a_semicolon(tree: Path) -> None:
    (tree / "sender.py").write_text("pass;from a" + ".\t b" * 30_000 + " import c")


def much_python(tree: Path) -> None:
    for number in range(60):
        (tree / f"{number}.py").write_text("f'" + "{a}" * 43_000 + "'")


def nested_python(tree: Path) -> None:
    (tree / "sender.py").write_text("lambda a=(" * 6_500 + "1" + ")" * 6_500)


def wildcards(tree: Path) -> None:
    for number in range(4000):
        (tree / f"{number}.cc").touch()
    (tree / "0.cc").write_text("int main() {}")
    value = "$(wildcard *)" * 700
    rules = "".join(f"a{number}: $(X)\n" for number in range(3000))
    (tree / "Makefile").write_text(f"X = {value}\n{rules}")


def closures(tree: Path) -> None:
    (tree / "0.cc").write_text("int main() {}")
    names = " ".join(f"a{number}" for number in range(1500))
    (tree / "Makefile").write_text(f"X = {names}\n" + f"{names}: $(X)\n" * 7)


def doubling(tree: Path) -> None:
    (tree / "0.cc").write_text("int main() {}")
    lines = [f"x{number} = {f'$(x{number + 1})' * 900}" for number in range(6)]
    rules = "".join(f"a{number}: $(x0)\n" for number in range(1500))
    (tree / "Makefile").write_text("\n".join(lines) + "\n" + rules)


def many_targets(tree: Path) -> None:
    """A rule with 50,000 prerequisites for each of 50,000 targets."""
    (tree / "main.cc").write_text("int main() {}")
    (tree / "Makefile").write_text("a " * 50_000 + ":" + " b" * 50_000)


def many_programs(tree: Path) -> None:
    """A thousand sources are not searched again for each of 5,000 targets."""
    for number in range(1000):
        (tree / f"{number}.cc").touch()
    (tree / "main.cc").write_text("int main() {}")
    (tree / "Makefile").write_text("".join(f"t{n}: main.cc\n" for n in range(5000)))


def many_libraries(tree: Path) -> None:
    """One folder of a thousand sources is each of 5,000 libraries."""
    for folder in ("datagrump", "lib", "src"):
        (tree / folder).mkdir()
    for number in range(1000):
        (tree / f"lib/{number}.cc").touch()
    (tree / "datagrump/sender.cc").write_text("int main() {}")
    libraries = " ".join(f"../lib/l{number}.a" for number in range(5000))
    (tree / "datagrump/Makefile.am").write_text(
        f"sender_SOURCES = sender.cc\nsender_LDADD = {libraries}\n"
    )


TREES = (
    *(long_import, long_import_in_lines, long_import_behind_a_semicolon, much_python),
    *(nested_python, closures, doubling, many_targets, many_programs, many_libraries),
    pytest.param(wildcards, marks=pytest.mark.slow),
)


def costs(action: Callable[[], object]) -> None:
    before, began_s = resource.getrusage(resource.RUSAGE_SELF), time.process_time()
    try:
        action()
    except KneepointError as refused:
        assert str(refused).isprintable()
    assert time.process_time() - began_s < _MAX_CPU_S
    used = resource.getrusage(resource.RUSAGE_SELF)
    assert used.ru_maxrss - before.ru_maxrss < 500_000, "KiB"


@pytest.mark.parametrize("spoil", TREES)
def test_trees_that_cost_hours_are_refused(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(tmp_path)
    costs(lambda: recognize(tmp_path))


_PIECES = (
    *(
        '"\\',
        '"\\" ',
        '\\"',
        '"',
        '(" ',
        "a(",
        "a (",
        "((",
        "(x)",
        '"a("b',
        "a(#[[",
        "#[[",
        "#",
        "${",
        "${a",
    ),
    *(
        "$(",
        "${a}",
        "$(a b,",
        "a=$(a)\n",
        "a+=$(a)\n",
        "a: a\n",
        "override ",
        " \t",
        "\\\n",
        "-I -D",
        "'",
    ),
    *(
        "/*",
        "//",
        "*/",
        "int main (",
        "int  ",
        "1'",
        "1e",
        "1.",
        '#include "',
        "open(' ",
        "from .",
        "; ",
    ),
)
"""Pieces of text, of which a file may have a quarter of a million."""


@pytest.mark.parametrize("name", ["CMakeLists.txt", "Makefile", "Makefile.am", "sender.cc", "a.py"])
def test_files_that_go_back_and_forth(tmp_path: Path, name: str) -> None:
    (tmp_path / "main.cc").write_text("int main() {}")

    def read() -> None:
        for piece in _PIECES:
            for before in ("", "a(", "a = ", '"'):
                (tmp_path / name).write_text(before + piece * (100_000 // len(piece)))
                with suppress(KneepointError):
                    recognize(tmp_path)

    costs(read)


@pytest.mark.parametrize(
    "text",
    [
        *("/" * 250_000, "/cc" * 80_000, "a-" * 120_000, " /" * 120_000, "ld:" * 80_000),
        *("In file included from " * 10_000, "/x/cc1.s\n" * 25_000, "error:" * 40_000),
    ],
    ids=lambda text: ascii(text[:9]),
)
def test_messages_that_go_back_and_forth(text: str) -> None:
    """A source can make the compiler print 250 KB by #error."""
    costs(lambda: reason_of(own_part(f"a.cc:1:2: error: #error {text}", ["a.cc"], {})))
    costs(lambda: own_part(text, ["a.cc"], {}))


@pytest.mark.parametrize(
    "number", ["1" + ":1" * 250_000, "1" + ":1" * 250_000 + ".5", "9" * 900_000], ids=len
)
def test_numbers_that_cost_seconds(tmp_path: Path, number: str) -> None:
    (tmp_path / "kneepoint.yaml").write_text(f"author: {number}")

    def read() -> None:
        with pytest.raises(KneepointError, match=r"line 1: .[19:]+\.\.\. is not a valid"):
            load_entry_file(tmp_path)

    costs(read)


def test_honest_trees_cost_little(tmp_path: Path) -> None:
    costs(lambda: recognize(kit(tmp_path / "anna")))
    (tmp_path / "sender.py").write_text(f"import os.path, socket\n{PYTHON_CLASS}")
    assert recognize(tmp_path).language == "c++", "the kit below comes first"
