"""The key file of a public leaderboard's aliases."""

from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.tools.contest.aliases import complete_key, read_key


def test_aliases_are_drawn_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    first = complete_key(path, ["anna", "Müller, Zoë"])
    assert len(set(first.values())) == 2
    assert read_key(path) == first
    second = complete_key(path, ["bob", "anna"])
    assert second.items() >= first.items() and len(set(second.values())) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("author,alias\nanna,x\nanna,y\n", ["line 3", "'anna'", "remove one"]),
        ("author,alias\nanna,x\nbob,x\n", ["line 3", "'x'", "remove one"]),
        ("author,alias\nanna\n", ["line 2", "'anna'", "AUTHOR,ALIAS"]),
        ("author,alias\nanna,<b>\n", ["line 2", "'<b>'", "rename it"]),
        ("anna,x\n", ["line 1", "author,alias"]),
        ("", ["line 1", "author,alias"]),
    ],
)
def test_malformed_keys_are_refused(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "key.csv"
    path.write_text(text)
    with pytest.raises(KneepointError) as error:
        complete_key(path, ["carl"])
    assert all(word in str(error.value) for word in [str(path), *words])
    assert path.read_text() == text, "nothing is lost"
