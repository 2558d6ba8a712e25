"""One form of each name; names that look alike are marked."""

import os
import re
import shutil
import unicodedata
from pathlib import Path

import pytest

from kneepoint.entries.collect import Submission, find_submissions
from kneepoint.entries.names import plain, remarks_on, skeleton

pytestmark = pytest.mark.attacks


def found_in(folder: Path, *names: str) -> dict[str, Submission]:
    for name in names:
        (folder / name).mkdir(parents=True)
    found = find_submissions(folder)
    assert len({each.name for each in found}) == len(found) == len(names)
    return {each.path.name: each for each in found}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("anna", "\u0430nna"),  # Cyrillic
        ("anna", "\u03b1nn\u0430"),  # Greek and Cyrillic
        ("Anna", "\u0391nna"),  # a Greek capital
        ("anna", "a\u0301nna"),
        ("anna", "an\u0338na"),
        ("Zo\u00eb", "Zoe"),
        ("max", "rnax"),
        ("wilma", "vvilma"),
        ("team 1", "team l"),
        ("team 10", "team 1O"),
        ("bill", "b\u0456ll"),
        ("anna b", "anna  b"),
        ("anna b", "anna_b"),
        ("BOB", "\u0412\u041e\u0412"),
        ("tangra", "t\u0251n\u0261ra"),
        ("stra\u00dfe", "strasse"),
        ("anna", "\u1d43nna"),
        ("anna", "\u1d00\u0274\u0274\u1d00"),  # small capitals
        ("ANNA", "\ua4ee\ua4e0\ua4e0\ua4ee"),  # Lisu
        ("DAVE", "\u13a0\ua4ee\u13d9\u13ac"),  # Cherokee and Lisu
        ("bob", "\u0180o\u0253"),
        ("jil", "\u0237\u0268\u0142"),
        ("anna", "anna\u0489"),
        ("anna", "anna\u1cf5"),
        ("d'arc", "d\u02bcarc"),
        ("anna", "anna."),
        ("anna", "anna-"),
    ],
)
def test_names_that_look_alike_are_marked(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)
    remarks = remarks_on([one, other, "carl"])
    assert remarks.keys() == {one, other}
    assert one in remarks[other] and other in remarks[one]
    assert "looks like" in remarks_on([other], [one])[other]


@pytest.mark.parametrize(
    "names",
    [
        ("anna", "hanna", "anne"),
        ("team 1", "team 2", "team 11", "team 1.1"),
        ("राम", "रोम", "रामा"),
        ("สมชาย", "สมชัย"),
        ("李明", "李朋"),
        ("Søren", "Åse", "Łukasz", "Đorđe"),
        ("Анна", "Борис"),
        ("Νίκος", "Ελένη"),
        ("山田 Taro", "anna@2026-11-02", "Müller, Zoë"),
    ],
)
def test_honest_names_are_not(names: tuple[str, ...]) -> None:
    assert remarks_on(names) == {}


@pytest.mark.parametrize("name", ["p\u0430ypal", "\u0430nna", "t\u03bfm", "\u0410nna"])
def test_words_that_mix_scripts_are_marked(name: str) -> None:
    assert "mixes" in remarks_on([name])[name]


@pytest.mark.parametrize(
    "sign", list("\u034f\u115f\u1160\u3164\uffa0\u200b\u2060\ufe0f\u00ad"), ids=ascii
)
def test_invisible_signs_are_refused(tmp_path: Path, sign: str) -> None:
    found = found_in(tmp_path, "anna", f"an{sign}na")
    assert not found["anna"].problem and found["anna"].author == "anna"
    other = found[f"an{sign}na"]
    assert "rename it" in other.problem and other.author != "anna"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("anna", "\uff41nna"),  # full width
        ("fifi", "\ufb01fi"),  # a ligature
        ("anna@1", "anna\uff20\uff12"),
        (unicodedata.normalize("NFC", "Zo\u00eb"), unicodedata.normalize("NFD", "Zo\u00eb")),
        ("a b", "a\u00a0b"),
    ],
)
def test_another_spelling_of_a_name_does_not_become_it(
    tmp_path: Path, one: str, other: str
) -> None:
    """Without an entry of the plain name, the other spelling gets the plain name; beside such an
    entry, it is refused and does not count as a version."""
    (alone,) = found_in(tmp_path / "alone", other).values()
    assert not alone.problem and alone.name == plain(other)
    found = found_in(tmp_path / "both", one, other)
    assert not found[one].problem and "rename it" in found[other].problem


def test_a_path_in_a_name_is_none(tmp_path: Path) -> None:
    """NFKC maps other characters to slashes and dots; feedback is written to folders of these
    names."""
    names = [
        "\u2025\uff0f\u2025\uff0fx",
        "a\uff0fb",
        "\u2025",
        "\u2024\u2024",
        "-rf",
        "@x",
        "'x",
        " x",
    ]
    found = found_in(tmp_path, *names)
    for each in found.values():
        assert "rename it" in each.problem
        assert re.match(r"\w", each.name) and "/" not in each.name and each.name.isprintable()


def test_made_up_names_that_clash_lose_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Digests may be equal, and full names may equal other names or a baseline's name."""
    monkeypatch.setattr("kneepoint.entries.collect._named", clashing)
    (tmp_path / "bob in entries.yaml").mkdir()
    (tmp_path / "entries.yaml").write_text("entries: {bob: {git: x}, carl: {git: x}}")
    for name in ("bob", "a<", "a>", "<script>", "ours"):
        (tmp_path / name).mkdir()
    found = find_submissions(tmp_path, ["same"])
    assert len({each.name for each in found} - {"same"}) == len(found) == 8


def clashing(written: str, path: Path, *_: object, **named: object) -> Submission:
    del written, named
    return Submission("same", path, "same", "same")


@pytest.mark.skipif(os.geteuid() != 0, reason="who may give files away")
@pytest.mark.parametrize("is_link", [False, True])
def test_a_list_of_repositories_is_the_organisers(tmp_path: Path, is_link: bool) -> None:
    """In a folder that all users can write, its author could make the organiser read private
    files."""
    (tmp_path / "entries").mkdir()
    (tmp_path / "list").write_text("entries: {anna: {git: ../private}}")
    path = tmp_path / "entries/entries.yaml"
    if is_link:
        path.symlink_to("../list")
    else:
        shutil.copy(tmp_path / "list", path)
    (found,) = find_submissions(tmp_path / "entries")
    assert found.repository is not None
    os.chown(path, 65534, 65534, follow_symlinks=False)
    (found,) = find_submissions(tmp_path / "entries")
    assert found.repository is None and "another user" in found.problem


@pytest.mark.parametrize("target", ["x" * 300, "/deep/" * 800, "fred"])
def test_links_that_cannot_be_looked_at_are_rows(tmp_path: Path, target: str) -> None:
    (tmp_path / "fred").symlink_to(target[:4000])
    (tmp_path / "anna").mkdir()
    found = {each.name: each for each in find_submissions(tmp_path)}
    assert found.keys() == {"anna", "fred"} and found["fred"].problem
