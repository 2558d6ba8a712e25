"""Which sender is in a tree, in every dialect; and what is said where there is none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from common.errors import KneepointError
from contest.tree import recognize
from tests.contest.trees import (
    PYTHON_CLASS,
    PYTHON_SENDER,
    before_2017,
    edit,
    flat_2013,
    kit,
)


def names(paths: tuple[Path, ...]) -> list[str]:
    return sorted(path.name for path in paths)


def test_the_kit_is_recognized(tmp_path: Path) -> None:
    tree = recognize(kit(tmp_path / "anna"))
    assert tree.language == "c++" and tree.interface == "since 2017" and tree.dialect == ""
    assert names(tree.sources) == ["contest_message.cc", "controller.cc", "sender.cc"]
    assert names(tree.library) == [
        *("address.cc", "file_descriptor.cc", "poller.cc", "socket.cc", "timestamp.cc"),
    ]
    assert tree.remarks == () and not tree.own_receiver


def test_older_interfaces_are_recognized(tmp_path: Path) -> None:
    assert recognize(before_2017(tmp_path / "old")).interface == "before 2017"
    flat = recognize(flat_2013(tmp_path / "flat"))
    assert (flat.interface, flat.dialect) == ("2013: packet_was_sent", "2013")
    assert "datagrump-receiver.cc" not in names(flat.sources)
    assert "datagrump-sender.cc" in names(flat.sources)


def test_folders_around_the_tree_do_not_matter(tmp_path: Path) -> None:
    kit(tmp_path / "anna/submission/final")
    assert recognize(tmp_path / "anna").root == tmp_path / "anna/submission/final"


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


def test_a_variable_that_names_itself_ends(tmp_path: Path) -> None:
    anna = kit(tmp_path / "anna")
    (anna / "datagrump/Makefile.am").write_text(
        "a = $(a) $(a) $(a) $(a)\nsender_SOURCES = sender.cc $(a)\n"
    )
    assert names(recognize(anna).sources) == ["sender.cc"]


def test_threads_boost_and_receivers_are_named(tmp_path: Path) -> None:
    anna = kit(tmp_path / "anna")
    edit(
        anna / "datagrump/controller.cc",
        "#include <iostream>",
        "#include <iostream>\n#include <thread>\n#include <boost/array.hpp>",
    )
    edit(anna / "datagrump/receiver.cc", "++acknowledged", "acknowledged += 2")
    tree = recognize(anna)
    assert tree.remarks == ("uses threads", "uses boost") and tree.own_receiver


def test_comments_and_spaces_make_no_receiver_of_ones_own(tmp_path: Path) -> None:
    anna = kit(tmp_path / "anna")
    path = anna / "datagrump/receiver.cc"
    path.write_text("/* mine */\n\n" + path.read_text().replace("  ", "\t"))
    assert not recognize(anna).own_receiver


@pytest.mark.parametrize(
    ("text", "interface"),
    [(PYTHON_CLASS, "class in Python"), (PYTHON_SENDER, "sender in Python")],
)
def test_python_is_recognized(tmp_path: Path, text: str, interface: str) -> None:
    (tmp_path / "sender.py").write_text(text)
    tree = recognize(tmp_path)
    assert (tree.language, tree.interface) == ("python", interface)


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
