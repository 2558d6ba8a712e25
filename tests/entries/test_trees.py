"""Recognition of the sender in a tree, in every dialect, and errors for trees without a sender."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.entries.tree import recognize
from tests.entries.trees import PYTHON_CLASS, PYTHON_SENDER, edit, flat_2013, kit


def names(paths: tuple[Path, ...]) -> list[str]:
    return sorted(path.name for path in paths)


def test_the_kit_is_recognized(tmp_path: Path) -> None:
    tree = recognize(kit(tmp_path / "anna"))
    assert (tree.language, tree.dialect) == ("c++", "")
    assert names(tree.sources) == ["contest_message.cc", "controller.cc", "sender.cc"]
    assert names(tree.library) == [
        *("address.cc", "file_descriptor.cc", "poller.cc", "socket.cc", "timestamp.cc"),
    ]
    assert not tree.own_receiver


def test_the_flat_kit_of_2013_is_recognized(tmp_path: Path) -> None:
    flat = recognize(flat_2013(tmp_path / "flat"))
    assert (flat.language, flat.dialect) == ("c++", "2013")
    assert names(flat.sources) == [
        *("address.cc", "controller.cc", "datagrump-sender.cc", "file_descriptor.cc", "packet.cc"),
        *("poller.cc", "socket.cc", "timestamp.cc"),
    ]


def test_sources_are_those_that_the_makefile_names(tmp_path: Path) -> None:
    anna = kit(tmp_path / "anna")
    (anna / "datagrump/old.cc").write_text("int main() {}")
    (anna / "extra").mkdir()
    (anna / "extra/filter.cc").write_text("int filter;")
    (anna / "datagrump/Makefile.am").write_text(
        "common = contest_message.cc \\\n\tcontroller.hh controller.cc # ours\n"
        "bin_PROGRAMS = sender\nsender_SOURCES = $(common) sender.cc\n"
        "sender_SOURCES += ../extra/filter.cc\n"
    )
    assert names(recognize(anna).sources) == [
        *("contest_message.cc", "controller.cc", "filter.cc", "sender.cc")
    ]


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("gone.cc", "Makefile.am names gone.cc, which is missing"),
        ("../../../../etc/passwd", "names passwd, which is outside the tree"),
    ],
)
def test_wrong_names_in_the_makefile_are_named(tmp_path: Path, named: str, reason: str) -> None:
    anna = kit(tmp_path / "anna")
    (anna / "datagrump/Makefile.am").write_text(f"sender_SOURCES = sender.cc {named}\n")
    with pytest.raises(KneepointError, match=reason):
        recognize(anna)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Makefile", "sender: sender.o a.o libb.a\nlibb.a: b.o\na.o: a.cc a.hh\n"),
        ("makefile", "OBJS = sender.o a.o\nOBJS += b.lo # c.o\nall run: bin\nbin: $(OBJS) ; ls\n"),
        ("GNUmakefile", "S := $(filter-out test.cc %.old.cc,$(wildcard *.cc))\nx: ${S:.cc=.o}\n"),
        ("Makefile", "x: $(patsubst %.cc, %.o, sender.cc a.cc b.cc)\ntest: test.o a.o b.o\n"),
        ("Makefile.am", "bin_PROGRAMS = x\nx_SOURCES = sender.cc a.cc \\\n b.cc\n"),
    ],
)
def test_sources_of_a_flat_tree_are_those_that_its_makefile_names(
    tmp_path: Path, name: str, text: str
) -> None:
    for source in ("sender", "sender.old", "test"):
        (tmp_path / f"{source}.cc").write_text("int main() {}")
    for source in ("a", "b", "a_estimate.old"):
        (tmp_path / f"{source}.cc").write_text(f"int {source[0]};")
    (tmp_path / name).write_text(text)
    assert names(recognize(tmp_path).sources) == ["a.cc", "b.cc", "sender.cc"]


@pytest.mark.parametrize(
    "text", ["all:\n\tg++ *.cc\n", "a.o: a.cc\n", "$(x): $(x)\nx = $(x)\n", "\0"]
)
def test_a_makefile_that_names_no_sender_is_left_aside(tmp_path: Path, text: str) -> None:
    (tmp_path / "sender.cc").write_text("int main() {}")
    (tmp_path / "a.cc").write_text("int a;")
    (tmp_path / "Makefile").write_text(text)
    assert names(recognize(tmp_path).sources) == ["a.cc", "sender.cc"]


@pytest.mark.parametrize(
    ("text", "epoch_ms"),
    [
        ("static const uint64_t EPOCH = 1362700000000; // not 1370000000", 1362700000000),
        ("#define EPOCH 1'362'700'000ull", 1362700000000),
        ("return ns / MILLION - 1.3627e12;", 1362700000000),
        ("return ns - 1362700000123456789;", 1362700000123),
        ("/* 1362700000 */ return ns / 1000000000;", 0),
        ("1e99 1e9999999 99999999999999999999999999999999999999999", 0),
    ],
)
def test_the_date_from_which_clocks_of_2013_count_is_found(
    tmp_path: Path, text: str, epoch_ms: int
) -> None:
    tree = flat_2013(tmp_path / "flat")
    (tree / "timestamp.cc").write_text(text)
    assert recognize(tree).clock_epoch_ms == epoch_ms
    assert recognize(kit(tmp_path / "anna")).clock_epoch_ms is None


def test_texts_made_to_be_slow_are_read_at_once(tmp_path: Path) -> None:
    anna = kit(tmp_path / "anna")
    (anna / "datagrump/receiver.cc").write_text("/* " * 2**20)
    (anna / "datagrump/controller.hh").write_text("datagram_was_sent(" * 2**16)
    (anna / "datagrump/Makefile.am").write_text("a += $(a) sender.cc\n" * 2**16)
    assert recognize(anna).own_receiver


def test_comments_and_spaces_make_no_receiver_of_ones_own(tmp_path: Path) -> None:
    path = kit(tmp_path / "anna") / "datagrump/receiver.cc"
    path.write_text("/* mine */\n\n" + path.read_text().replace("  ", "\t"))
    assert not recognize(tmp_path / "anna").own_receiver
    edit(path, "++acknowledged", "acknowledged += 2")
    assert recognize(tmp_path / "anna").own_receiver


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("open('weights.txt')", True),
        ('Path("data/weights.txt").read_text()', True),
        ("open('weights.txt', 'w')", False),
        ("open('other.txt')", False),
        ("'weights.txt'", False),
    ],
)
def test_a_file_that_python_would_read_is_named(tmp_path: Path, code: str, reads: bool) -> None:
    (tmp_path / "weights.txt").write_text("1 2 3")
    (tmp_path / "sender.py").write_text(f"{PYTHON_CLASS}\n{code}\n")
    if not reads:
        assert recognize(tmp_path).language == "python"
        return
    with pytest.raises(KneepointError, match=r"opens weights\.txt"):
        recognize(tmp_path)


@pytest.mark.parametrize("text", [PYTHON_CLASS, PYTHON_SENDER])
def test_python_is_recognized(tmp_path: Path, text: str) -> None:
    (tmp_path / "sender.py").write_text(text)
    assert recognize(tmp_path).language == "python"


def test_class_in_python_with_another_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sender.py").write_text(PYTHON_CLASS.replace("Controller", "Mine"))
    with pytest.raises(KneepointError, match=r"sender\.py: name the class Controller, not Mine"):
        recognize(tmp_path)


def no_main(tree: Path) -> None:
    (tree / "datagrump/sender.cc").unlink()


def two_mains(tree: Path) -> None:
    (tree / "datagrump/second.cc").write_text("int main() {}")


def nothing(tree: Path) -> None:
    for path in [*tree.glob("datagrump/*"), *tree.glob("src/*")]:
        path.unlink()
    (tree / "datagrump").rmdir()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (no_main, r"no file of datagrump/ has a main function"),
        (two_mains, r"has several main functions: second\.cc, sender\.cc"),
        (nothing, r"has no sender: neither datagrump/sender\.cc, nor"),
    ],
)
def test_trees_without_a_sender_are_named(
    tmp_path: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(kit(tmp_path / "anna"))
    with pytest.raises(KneepointError, match=reason):
        recognize(tmp_path / "anna")


@pytest.mark.parametrize("text", ["class (", "(" * 5000, "x = '\0'", "import os"])
def test_python_that_is_none_is_no_sender(tmp_path: Path, text: str) -> None:
    (tmp_path / "sender.py").write_text(text)
    with pytest.raises(KneepointError, match="has no sender"):
        recognize(tmp_path)
