"""What lies in a folder of entries, and how it is taken."""

import os
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from common.errors import KneepointError
from contest.collect import (
    digest_of_tree,
    find_submissions,
    state_of_repositories,
    submission_at,
    submission_of,
    take,
)
from contest.confine import Confined
from contest.entries import ContestEntry, latest_of_each
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


@pytest.mark.parametrize("name", ["$\\frac$", "<b>", "a\nb", "anna;rm", "a\u202eb", "x" * 101])
def test_names_that_say_more_than_a_name_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (found,) = find_submissions(tmp_path)
    assert "rename it" in found.problem
    assert not set("$<>\n;\u202e") & set(found.name)


def test_one_name_for_two_files_stops_nothing(tmp_path: Path) -> None:
    kit(tmp_path / "anna")
    shutil.make_archive(str(tmp_path / "anna"), "zip", tmp_path / "anna")
    found = find_submissions(tmp_path)
    assert [(each.name, each.author) for each in found] == [("anna", "anna"), ("anna.zip", "anna")]


@pytest.mark.parametrize("name", ["Zoë Müller", "Müller, Anna", "O'Brien", "王芳", "Zoe\u0308"])
def test_names_of_people_are_names(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (found,) = find_submissions(tmp_path)
    assert not found.problem
    assert found.name == found.author == name.replace("e\u0308", "ë")


@pytest.mark.parametrize(
    ("name", "author", "version", "is_late"),
    [
        ("muelleranna_48211_905117_contest.zip", "muelleranna", "905117", False),
        ("muelleranna_LATE_48211_905119_contest-1.tar.gz", "muelleranna", "905119", True),
        ("Anna Müller_1204_assignsubmission_file_contest.zip", "Anna Müller", "", False),
        ("team_1_2.zip", "team_1_2", "", False),
    ],
)
def test_names_of_downloads_are_mapped_to_authors(
    tmp_path: Path, name: str, author: str, version: str, is_late: bool
) -> None:
    (tmp_path / name).touch()
    (found,) = find_submissions(tmp_path)
    assert not found.problem
    assert (found.name, found.author, found.version, found.is_late) == (
        *(author, author, version),
        is_late,
    )


def test_archive_alone_in_its_folder_is_the_entry(tmp_path: Path) -> None:
    folder = tmp_path / "entries" / "Anna Müller_1204_assignsubmission_file"
    folder.mkdir(parents=True)
    shutil.make_archive(str(folder / "contest"), "zip", kit(tmp_path / "anna", 7))
    (found,) = find_submissions(tmp_path / "entries")
    assert found.name == "Anna Müller"
    take(found, tmp_path / "taken", TRUSTING)
    assert window_of(tmp_path / "taken") == "7"


def test_missing_paths_are_named(tmp_path: Path) -> None:
    with pytest.raises(KneepointError, match="gone: not a folder"):
        find_submissions(tmp_path / "gone")
    with pytest.raises(KneepointError, match="gone: no such entry"):
        submission_at(tmp_path / "gone")


def entry(file: str, arrived_s: float = 0) -> ContestEntry:
    submission = submission_of(Path(file))
    return ContestEntry(submission.name, submission.author, submission, arrived_s)


@pytest.mark.parametrize(
    ("files", "order"),
    [
        (["anna@9", "anna@10"], ["anna@9", "anna@10"]),
        (["anna--2026-11-02", "anna--2026-11-01"], ["anna--2026-11-01", "anna--2026-11-02"]),
        (["anna@2026-11-02T0900", "anna@2026-11-02"], ["anna@2026-11-02", "anna@2026-11-02T0900"]),
        # the time of arrival, where not all have versions of one kind
        (["anna@2", "anna"], ["anna@2", "anna"]),
        (["anna@f00d", "anna@beef", "anna@1234"], ["anna@f00d", "anna@beef", "anna@1234"]),
        (["anna@2", "anna@2026-11-02"], ["anna@2", "anna@2026-11-02"]),
        (["anna.zip", "bob"], []),
    ],
)
def test_the_latest_of_an_authors_submissions_counts(files: list[str], order: list[str]) -> None:
    entries = [entry(file, arrived_s) for arrived_s, file in enumerate(files)]
    for each in (entries, entries[::-1]):
        assert latest_of_each(each) == dict(pairwise(order))


def test_commits_have_their_times(repository: Path, tmp_path: Path) -> None:
    """The later commit is the latest, whatever its digits; some have no letters."""
    times_s = {}
    entries = tmp_path / "entries"
    entries.mkdir()
    for branch, time_s in (("second", 1_700_000_000), ("main", 1_600_000_000)):
        git(repository, "checkout", "--quiet", branch)
        dated = f"--date={time_s} +0000"
        commit = ["commit", "--quiet", "--amend", "--no-edit", dated]
        identity = ["-c", "user.name=anna", "-c", "user.email=anna@example.org"]
        environment = {**os.environ, "GIT_COMMITTER_DATE": f"{time_s} +0000"}
        subprocess.run(["git", *identity, *commit], cwd=repository, check=True, env=environment)
        times_s[branch] = float(time_s)
    (entries / "entries.yaml").write_text(
        "entries:\n"
        + "".join(
            f"  anna@{git(repository, 'rev-parse', branch)[:8]}: "
            f"{{git: ../repositories/anna, branch: {branch}}}\n"
            for branch in times_s
        )
    )
    for found in find_submissions(entries):
        assert found.repository is not None
        into = tmp_path / found.name
        assert take(found, into, TRUSTING) == times_s[str(found.repository.branch)]


def test_what_looks_like_a_number_is_text_in_entries_yaml(tmp_path: Path) -> None:
    (tmp_path / "entries.yaml").write_text(
        "entries: {0123: {git: a, commit: 01234567}, anna: {git: a, branch: 1.0, commit: null}}"
    )
    first, second = find_submissions(tmp_path)
    assert first.repository is not None and second.repository is not None
    assert first.name == "0123" and first.repository.commit == "01234567"
    assert second.repository.branch == "1.0" and second.repository.commit is None


def test_pushes_to_repositories_are_seen(repository: Path, tmp_path: Path) -> None:
    entries = tmp_path / "entries"
    entries.mkdir()
    bare = tmp_path / "bare"
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), str(bare))
    assert state_of_repositories(entries) == []
    (entries / "entries.yaml").write_text("entries: {anna: {git: ../bare}}")
    before = state_of_repositories(entries)
    assert before and state_of_repositories(entries) == before
    git(repository, "commit", "--quiet", "--allow-empty", "--message=third")
    git(repository, "push", "--quiet", str(bare), "main")
    assert state_of_repositories(entries) != before
