"""Submissions in a folder of entries, and how they are taken."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.entries.collect import (
    Submission,
    digest_of_tree,
    find_submissions,
    state_of,
    state_of_repositories,
    submission_at,
    submission_of,
    take,
    walk,
)
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import Sender, latest_of_each
from tests.entries.trees import edit, git, kit, repository

TRUSTING = Confined(None)


@pytest.fixture
def anna(tmp_path: Path) -> Path:
    """A repository with a tree of window 12 on main, of window 5 on branch second."""
    folder = repository(kit(tmp_path / "repositories/anna", 12))
    git(folder, "checkout", "--quiet", "-b", "second")
    edit(folder / "datagrump/controller.cc", "WINDOW 12", "WINDOW 5")
    git(folder, "commit", "--quiet", "--all", "--message=second")
    git(folder, "checkout", "--quiet", "main")
    return folder


def listed(entries: Path, text: str) -> Submission:
    """Returns the only entry of a new folder, given its text in entries.yaml."""
    entries.mkdir()
    (entries / "entries.yaml").write_text(f"entries: {{anna: {text}}}")
    (found,) = find_submissions(entries)
    return found


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
    assert problems.keys() == {"eve.rar", "fred"}
    assert ".zip, .tar, .tar.gz, .tgz, .tar.bz2, .tbz2, .tar.xz, .txz" in problems["eve.rar"]
    assert "pack it" in problems["eve.rar"] and "symbolic link" in problems["fred"]
    digests = set()
    for each in found[:3]:
        take(each, tmp_path / "taken" / each.name, TRUSTING)
        digests.add(digest_of_tree(tmp_path / "taken" / each.name))
    assert len(digests) == 1, "the same tree, however it was submitted"


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("{git: ../repositories/anna}", "12"),
        ("{git: ../repositories/anna, branch: second}", "5"),
        ("{git: ../repositories/anna, branch: main}", "12"),
        ("{git: 'file://PATH', commit: 'COMMIT'}", "5"),
    ],
)
def test_repositories_are_taken_at_their_revision(
    anna: Path, tmp_path: Path, text: str, window: str
) -> None:
    text = text.replace("PATH", str(anna)).replace("COMMIT", git(anna, "rev-parse", "second"))
    take(listed(tmp_path / "entries", text), tmp_path / "taken", TRUSTING)
    assert window_of(tmp_path / "taken") == window
    assert not (tmp_path / "taken/.git").exists()


def test_hooks_and_settings_of_a_repository_do_not_run(anna: Path, tmp_path: Path) -> None:
    spoor = tmp_path / "spoor"
    (anna / ".git/config").open("a").write(
        f'[core]\n\tfsmonitor = "touch {spoor}"\n[uploadpack]\n'
        f'\tpackObjectsHook = "touch {spoor}; exec"\n[filter "x"]\n\tsmudge = touch {spoor}\n'
    )
    (anna / ".git/hooks/post-checkout").write_text(f"#!/bin/sh\ntouch {spoor}\n")
    (anna / ".git/hooks/post-checkout").chmod(0o755)
    found = listed(tmp_path / "entries", "{git: ../repositories/anna}")
    take(found, tmp_path / "taken", TRUSTING)
    assert window_of(tmp_path / "taken") == "12" and not spoor.exists()


@pytest.mark.usefixtures("anna")
@pytest.mark.parametrize(
    ("text", "reason"),
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
    tmp_path: Path, text: str, reason: str
) -> None:
    found = listed(tmp_path / "entries", text)
    with pytest.raises(KneepointError, match=reason):
        take(found, tmp_path / "taken", TRUSTING)


@pytest.mark.parametrize("name", ["$\\frac$", "<b>", "a\nb", "anna;rm", "a\u202eb", "x" * 101])
def test_names_that_say_more_than_a_name_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (found,) = find_submissions(tmp_path)
    assert "rename it" in found.problem
    assert not set("$<>\n;\u202e") & set(found.name)


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


def test_missing_paths_are_named(tmp_path: Path) -> None:
    with pytest.raises(KneepointError, match="gone: not a folder"):
        find_submissions(tmp_path / "gone")
    with pytest.raises(KneepointError, match="gone: no such entry"):
        submission_at(tmp_path / "gone")


def entry(file: str, arrived_s: float = 0) -> Sender:
    submission = submission_of(Path(file))
    return Sender(submission.name, submission.author, submission, arrived_s)


@pytest.mark.parametrize(
    ("files", "order"),
    [
        (["anna@9", "anna@10"], ["anna@9", "anna@10"]),
        (["anna--2026-11-02", "anna--2026-11-01"], ["anna--2026-11-01", "anna--2026-11-02"]),
        (["anna@2026-11-02T0900", "anna@2026-11-02"], ["anna@2026-11-02", "anna@2026-11-02T0900"]),
        # by the time of arrival, unless all versions are of one kind
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


def test_commits_have_their_times(anna: Path, tmp_path: Path) -> None:
    for branch, time_s in (("second", 1_700_000_000), ("main", 1_600_000_000)):
        date = f"{time_s} +0000"
        git(anna, "checkout", "--quiet", branch)
        git(anna, "commit", "--quiet", "--amend", "--no-edit", GIT_COMMITTER_DATE=date)
        found = listed(tmp_path / branch, f"{{git: ../repositories/anna, branch: {branch}}}")
        assert take(found, tmp_path / f"taken-{branch}", TRUSTING) == time_s


def test_what_looks_like_a_number_is_text_in_entries_yaml(tmp_path: Path) -> None:
    (tmp_path / "entries.yaml").write_text(
        "entries: {0123: {git: a, commit: 01234567}, anna: {git: a, branch: 1.0, commit: null}}"
    )
    first, second = find_submissions(tmp_path)
    assert first.repository is not None and second.repository is not None
    assert first.name == "0123" and first.repository.commit == "01234567"
    assert second.repository.branch == "1.0" and second.repository.commit is None


def test_pushes_to_repositories_are_seen(anna: Path, tmp_path: Path) -> None:
    entries, bare = tmp_path / "entries", tmp_path / "bare"
    git(tmp_path, "clone", "--quiet", "--bare", str(anna), str(bare))
    assert state_of_repositories(entries) == []
    listed(entries, "{git: ../bare}")
    before = state_of_repositories(entries)
    assert before and state_of_repositories(entries) == before
    git(anna, "commit", "--quiet", "--allow-empty", "--message=third")
    git(anna, "push", "--quiet", str(bare), "main")
    assert state_of_repositories(entries) != before


def test_a_repository_makes_nobody_look_at_all_files(anna: Path, tmp_path: Path) -> None:
    """The repository's owner may replace a folder by a link, or fill a folder."""
    (tmp_path / "elsewhere/folder").mkdir(parents=True)
    (tmp_path / "elsewhere/folder/file").touch()
    listed(tmp_path / "entries", "{git: ../repositories/anna}")
    refs = anna / ".git/refs"
    refs.rename(anna / ".git/moved")
    refs.symlink_to(tmp_path / "elsewhere")
    assert not any("folder" in path for path, _ in state_of_repositories(tmp_path / "entries"))
    refs.unlink()
    (anna / ".git/moved").rename(refs)
    for number in range(200):
        (refs / "heads" / str(number)).mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("kneepoint.entries.collect._MAX_REFS", 100)
        assert len(state_of_repositories(tmp_path / "entries")) <= 102


def test_a_folder_of_entries_may_be_named_by_a_link(anna: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(anna)
    assert state_of(tmp_path / "link") == state_of(anna) != []
    assert list(walk(tmp_path / "link")) == []


def test_a_commit_without_a_date_is_taken(anna: Path, tmp_path: Path) -> None:
    tree = git(anna, "rev-parse", "HEAD^{tree}")
    commit = tmp_path / "commit"
    commit.write_text(f"tree {tree}\nauthor a <a@b> x\ncommitter a <a@b> x\n\nundated\n")
    name = git(anna, "hash-object", "-t", "commit", "-w", "--literally", str(commit))
    git(anna, "update-ref", "refs/heads/main", name)
    found = listed(tmp_path / "entries", "{git: ../repositories/anna, branch: main}")
    assert take(found, tmp_path / "taken", TRUSTING) == 0
    assert (tmp_path / "taken/datagrump/controller.cc").is_file()
