"""What lies in a folder of entries, and how it is taken."""

import shutil
import subprocess
from pathlib import Path

import pytest

from common.errors import KneepointError
from contest.collect import digest_of_tree, find_submissions, submission_at, take
from contest.confine import Confined
from contest.contenders import Contender, latest_of_each
from tests.contest.trees import kit

TRUSTING = Confined(None)


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=anna", "-c", "user.email=anna@example.org"]
    answer = subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return answer.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a tree of window 12 on main, of window 5 on branch second."""
    folder = kit(tmp_path / "repositories/anna", 12)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=first")
    git(folder, "checkout", "--quiet", "-b", "second")
    path = folder / "datagrump/controller.cc"
    path.write_text(path.read_text().replace("WINDOW 12", "WINDOW 5"))
    git(folder, "commit", "--quiet", "--all", "--message=second")
    git(folder, "checkout", "--quiet", "main")
    return folder


def window_of(tree: Path) -> str:
    text = (tree / "datagrump/controller.cc").read_text()
    return text.partition("#define WINDOW ")[2].splitlines()[0]


def test_folders_archives_and_files_are_found(tmp_path: Path) -> None:
    entries = tmp_path / "entries"
    kit(entries / "anna")
    shutil.make_archive(str(entries / "bob"), "gztar", entries / "anna")
    shutil.make_archive(str(entries / "carl"), "zip", entries / "anna")
    (entries / "dora.py").write_text("class C: pass")
    (entries / "README.md").write_text("no entry")
    (entries / ".hidden").write_text("no entry")
    (entries / "eve.rar").write_text("an archive of another kind")
    (entries / "fred").symlink_to("/etc")
    found = find_submissions(entries)
    assert [each.name for each in found] == ["anna", "bob", "carl", "dora", "eve.rar", "fred"]
    problems = {each.name: each.problem for each in found if each.problem}
    assert problems == {
        "eve.rar": "is neither a folder nor an archive that ends in .zip, .tar, .tar.gz, .tgz, "
        ".tar.bz2, .tbz2, .tar.xz, .txz",
        "fred": "is a symbolic link; submit what it points to",
    }
    digests = set()
    for each in found[:3]:
        take(each, tmp_path / "taken" / each.name, TRUSTING)
        digests.add(digest_of_tree(tmp_path / "taken" / each.name))
    assert len(digests) == 1, "the same tree, however it was submitted"


@pytest.mark.parametrize(
    ("revision", "window"), [("", "12"), ("branch: second", "5"), ("branch: main", "12")]
)
@pytest.mark.usefixtures("repository")
def test_repositories_are_taken_at_their_revision(
    tmp_path: Path, revision: str, window: str
) -> None:
    entries = tmp_path / "entries"
    entries.mkdir()
    (entries / "entries.yaml").write_text(
        f"entries:\n  anna: {{git: ../repositories/anna{', ' if revision else ''}{revision}}}\n"
    )
    (found,) = find_submissions(entries)
    take(found, tmp_path / "taken", TRUSTING)
    assert window_of(tmp_path / "taken") == window
    assert not (tmp_path / "taken/.git").exists()


def test_a_commit_may_be_named(repository: Path, tmp_path: Path) -> None:
    commit = git(repository, "rev-parse", "second")
    entries = tmp_path / "entries"
    entries.mkdir()
    (entries / "entries.yaml").write_text(
        f"entries:\n  anna: {{git: 'file://{repository}', commit: '{commit}'}}\n"
    )
    (found,) = find_submissions(entries)
    take(found, tmp_path / "taken", TRUSTING)
    assert window_of(tmp_path / "taken") == "5"


def test_a_bare_repository_is_an_entry(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "entries/anna.git")
    (found,) = find_submissions(tmp_path / "entries")
    take(found, tmp_path / "taken", TRUSTING)
    assert window_of(tmp_path / "taken") == "12"


def test_hooks_and_settings_of_a_repository_do_not_run(repository: Path, tmp_path: Path) -> None:
    spoor = tmp_path / "spoor"
    (repository / ".git/config").open("a").write(
        f'[core]\n\tfsmonitor = "touch {spoor}"\n[uploadpack]\n'
        f'\tpackObjectsHook = "touch {spoor}; exec"\n[filter "x"]\n\tsmudge = touch {spoor}\n'
    )
    (repository / ".git/hooks/post-checkout").write_text(f"#!/bin/sh\ntouch {spoor}\n")
    (repository / ".git/hooks/post-checkout").chmod(0o755)
    entries = tmp_path / "entries"
    entries.mkdir()
    (entries / "entries.yaml").write_text("entries:\n  anna: {git: ../repositories/anna}\n")
    (found,) = find_submissions(entries)
    take(found, tmp_path / "taken", TRUSTING)
    assert window_of(tmp_path / "taken") == "12" and not spoor.exists()


@pytest.mark.parametrize(
    ("repository_yaml", "reason"),
    [
        ("{git: ../repositories/gone}", "no such repository"),
        ("{git: ../repositories/anna, branch: gone}", "no such branch or commit: gone"),
        ("{git: ..}", "does not appear to be a git repository"),
        ("{git: 'https://example.org/anna.git'}", "is on another machine"),
        ("{git: 'git@example.org:anna'}", "is on another machine"),
        ("{git: 'ext::sh -c date'}", "no such repository"),
    ],
)
def test_repositories_that_cannot_be_taken_are_named(
    repository: Path, tmp_path: Path, repository_yaml: str, reason: str
) -> None:
    assert repository.is_dir()
    entries = tmp_path / "entries"
    entries.mkdir()
    (entries / "entries.yaml").write_text(f"entries:\n  anna: {repository_yaml}\n")
    (found,) = find_submissions(entries)
    with pytest.raises(KneepointError, match=reason):
        take(found, tmp_path / "taken", TRUSTING)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("entries: {anna: {git: a, branch: b, commit: abcd}}", "both branch and commit"),
        ("entries: {anna: {git: a, branch: --upload-pack=x}}", "invalid name; correct it"),
        ("entries: {anna: {git: a, commit: HEAD}}", "digits of a commit"),
        ("entries: {../anna: {git: a}}", "letters, digits"),
        ("entrys: {}", "did you mean 'entries'"),
    ],
)
def test_bad_lists_of_repositories_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "entries.yaml").write_text(text)
    with pytest.raises(KneepointError, match=reason):
        find_submissions(tmp_path)


@pytest.mark.parametrize("name", ["$\\frac$", "<b>", "a\nb", "anna;rm", "é" * 3, "x" * 101])
def test_names_that_say_more_than_a_name_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (found,) = find_submissions(tmp_path)
    assert "rename it" in found.problem
    assert found.name.isascii() and not set("$<>\n;") & set(found.name)


def test_equal_names_are_refused(tmp_path: Path) -> None:
    kit(tmp_path / "anna")
    shutil.make_archive(str(tmp_path / "anna"), "zip", tmp_path / "anna")
    with pytest.raises(KneepointError, match="two entries are called 'anna'; rename one"):
        find_submissions(tmp_path)


def test_missing_paths_are_named(tmp_path: Path) -> None:
    with pytest.raises(KneepointError, match="gone: not a folder"):
        find_submissions(tmp_path / "gone")
    with pytest.raises(KneepointError, match="gone: no such entry"):
        submission_at(tmp_path / "gone")


def test_the_latest_of_an_authors_versions_counts() -> None:
    names = ["anna@9", "anna@10", "bob", "carl--2026-11-02", "carl--2026-11-01"]
    assert latest_of_each([Contender(name) for name in names]) == {
        "anna@9": "anna@10",
        "carl--2026-11-01": "carl--2026-11-02",
    }
