"""Files of users are accepted or refused in one line: mutations, and inputs of earlier failures."""

from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from tests.fuzz.configuration import FILES, bounded, check, fuzz, run_one, write_all

BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
KIND = "searches"
STUDY = "studies/windows.yaml"
CSV = "published/printed.csv"
HEADER = "window,kbps,power,note\n"
BROKE: dict[str, tuple[str, bytes, str]] = {
    "infinite": (
        STUDY,
        b"title: T\nspace: {window: {low: 1, high: .inf}}\n",
        "it must be a finite",
    ),
    "no number": (STUDY, b"title: T\nparameters: {window: .nan}\n", "it must be a finite"),
    "bomb": (STUDY, b"a0: &a0 [x]\n" + BOMB.encode(), "line 6: is nested too deeply or too long"),
    "brackets": (STUDY, b"[" * 100_000, "line 1: is nested too deeply"),
    "dashes": (STUDY, b"- " * 100_000, "line 1: is nested too deeply"),
    "itself": (STUDY, b"title: &a [*a]\n", "alias 'a' has no anchor before it"),
    "large": (STUDY, b"#" * 2**20 + b"\n", "larger than 1048576 bytes; shorten it"),
    "no date": (STUDY, b"title: 2020-13-45\n", "controller: is missing"),
    "tag": (STUDY, b"title: !!python/object:os.x {}\n", "remove it"),
    "no integer": (STUDY, b"title: !!int x\n", "'x' is not a valid int; correct it"),
    "no digits": (STUDY, b"title: 0b_\n", "'0b_' is not a valid int; correct it"),
    "digits": (STUDY, b"title: " + b"9" * 5000 + b"\n", "is not a valid int; correct it"),
    "hexadecimal": (STUDY, b"title: 0x" + b"f" * 9000, "not a valid int"),
    "list as key": (STUDY, b"? [a]\n: b\n", "line 1: key ['a'] is not text; put it in quotes"),
    "yes as key": (STUDY, b"space: {yes: 1}\n", "key True is not text; put it in quotes"),
    "surrogate": (STUDY, b'title: "\\ud800"\n', "found invalid Unicode character escape"),
    "null": (STUDY, b'title: "\\0"\n', "has the control character '\\x00'; remove it"),
    "line in a key": (STUDY, b'parameters: {"a\\nb": x}\n', "parameters.a b: 'x' is invalid"),
    "long key": (STUDY, b"? " + b"x" * 99_999 + b"\n: 1\n", " ... "),
    "long name": (STUDY, b"networks: [" + b"x" * 400 + b"]\n", "lower-case letters"),
    "long list": (STUDY, b"title: [" + b"x" * 5000 + b"]\n", "... is invalid"),
    "utf-16": (STUDY, "title: T\n".encode("utf-16"), "line 1: not UTF-8 text; save the file as"),
    "latin-1": (STUDY, "a: 1\ntitle: ä\n".encode("latin-1"), "line 2: not UTF-8 text"),
    "latin-1 table": (CSV, (HEADER + "5,1,,ä\n").encode("latin-1"), "line 2: not UTF-8 text"),
    "utf-16 table": (CSV, (HEADER + "5,1,,\n").encode("utf-16"), "line 1: not UTF-8 text"),
    "huge cell": (CSV, f"{HEADER}5,1,,{'x' * 200_000}\n".encode(), "line 2: field larger than"),
    "null in a table": (CSV, f"{HEADER}5\0,1,,\n".encode(), "line 2, column window: '5\\x00'"),
    "small exponent": (CSV, f"{HEADER}5,1e-{'9' * 30},,\n".encode(), "is not a number; correct it"),
    "large exponent": (CSV, f"{HEADER}5,0e{'9' * 30},,\n".encode(), "is not a number; correct it"),
    "column twice": (CSV, b"window,kbps,note,note\n5,1,,\n", "column 'note' appears twice"),
    "tab": (STUDY, b"title: T\nspace:\n\twindow: 1\n", "line 3: is indented by a tab"),
    "tab after spaces": (STUDY, b"a:\n  b: 1\n  \tc: 1\n", "line 3: is indented by a tab"),
    "infinite cell": (CSV, f"{HEADER}5,inf,,\n".encode(), "'inf' is not a number"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sound configurations; each test leaves them unchanged."""
    folder = tmp_path_factory.mktemp("sound")
    write_all(folder)
    return folder


@pytest.mark.parametrize(("name", "content", "message"), BROKE.values(), ids=BROKE)
def test_what_once_broke_it_is_refused(
    sound: Path, name: str, content: bytes, message: str
) -> None:
    said = run_one(sound / KIND, name, content)
    assert said is not None
    assert str(sound / KIND / name) in said
    assert message in said


@pytest.mark.parametrize(("kind", "name"), FILES)
def test_signature_of_utf8_is_accepted(sound: Path, kind: str, name: str) -> None:
    content = (sound / kind / name).read_bytes()
    assert run_one(sound / kind, name, b"\xef\xbb\xbf" + content) is None


@pytest.mark.parametrize(("kind", "name"), FILES)
def test_what_is_no_file_is_refused(sound: Path, kind: str, name: str) -> None:
    path = sound / kind / name
    content = path.read_bytes()
    path.unlink()
    for make, unmake in ((Path.mkdir, Path.rmdir), (_link_to_zeros, Path.unlink)):
        make(path)
        with bounded(), pytest.raises(KneepointError):
            check(sound / kind)
        unmake(path)
    path.write_bytes(content)


def _link_to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def test_other_contents_are_accepted_or_refused(sound: Path) -> None:
    assert 10 < fuzz(sound, 200, derandomize=True) < 160
