"""Repositories and archives that change during the copy, or lead elsewhere."""

import io
import resource
import shutil
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kneepoint.common.code import ROOT
from kneepoint.common.errors import KneepointError
from kneepoint.entries import collect, unpack
from kneepoint.entries.collect import Submission, find_submissions, take
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder
from tests.entries.trees import edit, git, kit, repository, write_member

pytestmark = pytest.mark.attacks

CONFINED = Confined(ROOT / "build/confine")
SECRET = "a secret of the organiser's"


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """The organiser's private repository."""
    tree = kit(tmp_path / "private")
    (tree / "datagrump/secret.hh").write_text(SECRET)
    return repository(tree)


def named(tmp_path: Path, address: str) -> Submission:
    """The only entry of a folder, a repository with this address."""
    (tmp_path / "entries").mkdir(exist_ok=True)
    (tmp_path / "entries/entries.yaml").write_text(f"entries: {{anna: {{git: {address}}}}}")
    (found,) = find_submissions(tmp_path / "entries")
    return found


def secrets_in(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file() and SECRET in each.read_text()]


@contextmanager
def exchanging(folder: Path, one: str, other: str) -> Iterator[None]:
    """Another process permanently exchanges two names."""
    script = (
        "import ctypes, sys\n"
        "one, other = (each.encode() for each in sys.argv[1:])\n"
        "while ctypes.CDLL(None).renameat2(-100, one, -100, other, 2) == 0: pass\n"
    )
    mallory = subprocess.Popen([sys.executable, "-c", script, one, other], cwd=folder)
    try:
        yield
        assert mallory.poll() is None
    finally:
        mallory.kill()
        mallory.wait()


def linked(tmp_path: Path) -> str:
    (tmp_path / "anna").symlink_to("private")
    return "../anna"


def below_a_link(tmp_path: Path) -> str:
    (tmp_path / "house").symlink_to(".")
    return "../house/private"


def absolute_below_a_link(tmp_path: Path) -> str:
    (tmp_path / "house").symlink_to(".")
    return str(tmp_path / "house/private")


def linked_git(tmp_path: Path) -> str:
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna/.git").symlink_to("../private/.git")
    return "../anna"


def pointing_git(tmp_path: Path) -> str:
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna/.git").write_text("gitdir: ../private/.git\n")
    return "../anna"


def worktree(tmp_path: Path) -> str:
    git(tmp_path / "private", "worktree", "add", "--quiet", "--detach", "../anna")
    return "../anna"


def common_folder(tmp_path: Path) -> str:
    repository(kit(tmp_path / "anna"))
    (tmp_path / "anna/.git/commondir").write_text("../../private/.git\n")
    return "../anna"


def alternates(tmp_path: Path) -> str:
    git(tmp_path, "clone", "--quiet", "--shared", "private", "anna")
    return "../anna"


def linked_objects(tmp_path: Path) -> str:
    git(tmp_path, "clone", "--quiet", "private", "anna")
    shutil.rmtree(tmp_path / "anna/.git/objects")
    (tmp_path / "anna/.git/objects").symlink_to("../../private/.git/objects")
    return "../anna"


def linked_reference(tmp_path: Path) -> str:
    git(tmp_path, "clone", "--quiet", "private", "anna")
    head = tmp_path / "anna/.git/refs/heads/main"
    head.unlink()
    head.symlink_to(tmp_path / "private/.git/refs/heads/main")
    return "../anna"


ELSEWHERE = (
    *(linked, below_a_link, absolute_below_a_link, linked_git, pointing_git, worktree),
    *(common_folder, alternates, linked_objects, linked_reference),
)


@pytest.mark.usefixtures("private")
@pytest.mark.parametrize("confined", [CONFINED, Confined(None)], ids=["confined", "trusting"])
@pytest.mark.parametrize("lead", ELSEWHERE, ids=[each.__name__ for each in ELSEWHERE])
def test_a_repository_that_leads_elsewhere_is_refused(
    tmp_path: Path, lead: Callable[[Path], str], confined: Confined
) -> None:
    found = named(tmp_path, lead(tmp_path))
    with pytest.raises(KneepointError) as refused:
        take(found, tmp_path / "taken", confined)
    assert any(word in str(refused.value) for word in ("link", "worktree", "repository"))
    assert not secrets_in(tmp_path / "taken") and SECRET not in str(refused.value)


def test_a_repository_that_is_exchanged_is_never_the_organisers(
    tmp_path: Path, private: Path
) -> None:
    repository(kit(tmp_path / "anna"))
    (tmp_path / "link").symlink_to(private)
    found = named(tmp_path, "../anna")
    refused = taken = 0
    with exchanging(tmp_path, "anna", "link"):
        while taken < 3 or (not refused and taken < 60):
            try:
                take(found, tmp_path / f"taken/{taken}", CONFINED)
            except KneepointError:
                refused += 1
            taken += 1
    assert refused, "she was at it"
    assert not secrets_in(tmp_path / "taken")


def test_a_folder_that_is_exchanged_while_its_archive_is_read(tmp_path: Path) -> None:
    """Each of Moodle's folders has an archive; a private archive of the organiser has the same
    name."""
    for folder, text in (("entries/Anna_7_assignsubmission_file_", "int a;"), ("private", SECRET)):
        (tmp_path / folder).mkdir(parents=True)
        write_member(tmp_path / folder / "x.zip", "a.cc", text)
    (tmp_path / "link").symlink_to(tmp_path / "private")
    (found,) = find_submissions(tmp_path / "entries")
    assert found.path.name == "x.zip"
    refused = taken = 0
    with exchanging(tmp_path, f"entries/{found.path.parent.name}", "link"):
        while taken < 30 or (not refused and taken < 1000):
            try:
                take(found, tmp_path / f"taken/{taken}", CONFINED)
            except (KneepointError, OSError):
                refused += 1
            taken += 1
    assert refused, "she was at it"
    assert not secrets_in(tmp_path / "taken")


def test_an_archive_that_is_exchanged_after_it_was_found(tmp_path: Path) -> None:
    write_member(tmp_path / "private.zip", "a.cc", SECRET)
    (tmp_path / "entries").mkdir()
    write_member(tmp_path / "entries/anna.zip", "a.cc", "int a;")
    (found,) = find_submissions(tmp_path / "entries")
    found.path.unlink()
    found.path.symlink_to("../private.zip")
    with pytest.raises(KneepointError, match="is a symbolic link"):
        take(found, tmp_path / "taken", CONFINED)


def test_branches_are_kept_whatever_they_are_called(tmp_path: Path) -> None:
    tree = repository(kit(tmp_path / "anna"))
    edit(tree / "datagrump/controller.cc", "WINDOW 50", "WINDOW 7")
    for name in ("logs", "hooks", "modules/worktrees"):
        git(tree, "checkout", "--quiet", "-b", name)
        git(tree, "commit", "--quiet", "--all", "--allow-empty", "--message=second")
        found = named(tmp_path, f"../anna, branch: {name}")
        take(found, tmp_path / "taken" / name, CONFINED)
        assert "WINDOW 7" in (tmp_path / "taken" / name / "datagrump/controller.cc").read_text()


def pax(record: bytes) -> bytes:
    """Returns a compressed tar file with a file that has this extended header."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, len(record)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.addfile(header, io.BytesIO(record))
        archive.addfile(tarfile.TarInfo("a.cc"))
    return packed.getvalue()


def refuses_lengths_of_records() -> bool:
    """Returns whether this Python refuses a record with an invalid length (CVE-2024-6232)."""
    try:
        tarfile.open(fileobj=io.BytesIO(pax(b"-1 path=b\n"))).close()
    except tarfile.ReadError:
        return True
    return False


REFUSED = "damaged" if refuses_lengths_of_records() else ""


def overlapping_zip() -> bytes:
    """Returns a zip file all of whose members are the same 10 MB of zeros."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("00.cc", bytes(10_000_000))
        for number in range(1, 20):
            again = zipfile.ZipInfo(f"{number:02}.cc")
            first = archive.infolist()[0]
            for name in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(again, name, getattr(first, name))
            archive.filelist.append(again)
    return packed.getvalue()


def encrypted_zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.cc", "int a;")
        archive.infolist()[0].flag_bits |= 1
    return packed.getvalue()


def large_dictionary() -> bytes:
    """Returns a stream of xz whose decoder needs 4 GB."""
    block = bytes([2, 0, 0x21, 1, 40, 0, 0, 0])
    start = b"\xfd7zXZ\0" + b"\0\4" + zlib.crc32(b"\0\4").to_bytes(4, "little")
    return start + block + zlib.crc32(block).to_bytes(4, "little") + bytes(2000)


BAD_ARCHIVES = {
    "digits.tgz": (pax(b"9" * 2_000_000), REFUSED or "CPU time"),
    "digits-and-key.tgz": (pax(b"9" * 2_000_000 + b" a=b\n"), REFUSED or "CPU time"),
    "negative.tgz": (pax(b"-1 path=b\n"), REFUSED),
    "sparse.tgz": (pax(b"30 GNU.sparse.numblocks=9999\n"), REFUSED),
    "far.tgz": (pax(b"22 size=99999999999999\n"), "damaged"),
    "overlapping.zip": (overlapping_zip(), "damaged|more than"),
    "encrypted.zip": (encrypted_zip(), "damaged"),
    "dictionary.tar.xz": (large_dictionary(), "damaged"),
    "nothing.tar": (b"", "damaged"),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if "and-key" in name else name
        for name in BAD_ARCHIVES
    ],
)
def test_an_archive_costs_at_most_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Backtracking regular expressions and invalid sizes do not cost our own process."""
    content, reason = BAD_ARCHIVES[name]
    monkeypatch.setattr(collect, "_MAX_UNPACKING_S", 3)
    (tmp_path / name).write_bytes(content)
    (found,) = find_submissions(tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF)
    if reason:
        with pytest.raises(KneepointError, match=reason):
            take(found, tmp_path / "taken", CONFINED)
    else:
        take(found, tmp_path / "taken", CONFINED)
    used = resource.getrusage(resource.RUSAGE_SELF)
    assert used.ru_utime - before.ru_utime < 1
    assert used.ru_maxrss - before.ru_maxrss < 200_000, "KiB"


def test_links_that_wind_use_up_no_descriptors(tmp_path: Path) -> None:
    """Links that would use up the descriptors of the organiser's process."""
    write_member(tmp_path / "x", "d/a.cc", "int a;")
    write_member(tmp_path / "x", "b.cc", f"{'d/../' * 800}d/a.cc", is_link=True)
    for number in range(30):
        write_member(tmp_path / "x", f"{number}", f"{'d/../' * 20}{number + 1}", is_link=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 50, hard))
    try:
        with pytest.raises(KneepointError, match="leads out"):
            unpack.copy_tree(tmp_path / "x", tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_file_that_its_owner_holds_is_not_waited_for(
    tmp_path: Path, builder: EntryBuilder
) -> None:
    """The holder of a lease delays each open of the file by 45 s."""
    held = kit(tmp_path / "entries/mallory") / "datagrump/controller.cc"
    script = (
        "import fcntl, signal, sys, time\n"
        "signal.signal(signal.SIGIO, signal.SIG_IGN)\n"
        "with open(sys.argv[1], 'r+b') as file:\n"
        "    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
        "    print('held', flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, held], stdout=subprocess.PIPE) as mallory:
        try:
            assert mallory.stdout is not None and mallory.stdout.readline() == b"held\n"
            (made,) = builder.make_all(find_submissions(tmp_path / "entries"), lambda _: None)
        finally:
            mallory.kill()
    assert "controller.cc: Device or resource busy" in made.reason


def test_a_repository_may_have_more_than_an_archive(tmp_path: Path) -> None:
    tree = kit(tmp_path / "anna")
    for number in range(3):
        (tree / f"{number}.txt").write_bytes(bytes(12 * 2**20))
    found = named(tmp_path, str(repository(tree)))
    take(found, tmp_path / "taken", CONFINED)
    assert sum(each.stat().st_size for each in (tmp_path / "taken").glob("*.txt")) == 36 * 2**20


@pytest.mark.slow
def test_a_bomb_of_git_is_defused(tmp_path: Path) -> None:
    """Ten trees of ten trees of ten trees ...: a billion files in 2 KB."""
    tree = repository(kit(tmp_path / "anna"))
    listing = f"100644 blob {git(tree, 'rev-parse', 'HEAD:README.md')}\ta.cc"
    for _ in range(9):
        (tree / "listing").write_text(listing + "\n")
        script = f"git -C {tree} mktree < {tree / 'listing'}"
        made = subprocess.run(script, shell=True, check=True, capture_output=True, text=True)
        listing = "\n".join(f"040000 tree {made.stdout.strip()}\tf{n}" for n in range(10))
    commit = git(tree, "commit-tree", made.stdout.strip(), "-m", "bomb")
    git(tree, "update-ref", "refs/heads/main", commit)
    found = named(tmp_path, "../anna")
    with pytest.raises(KneepointError):
        take(found, tmp_path / "taken", CONFINED)
