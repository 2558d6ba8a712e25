"""What is submitted is taken without trust: nothing leaves its folder, nothing explodes."""

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from common.errors import KneepointError
from contest import unpack


def write_tar(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> None:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def write_link(path: Path, name: str, target: str, kind: bytes) -> None:
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        archive.addfile(info)


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_tar_files_of_each_compression_unpack(tmp_path: Path, ending: str) -> None:
    archive = tmp_path / f"anna.{ending}"
    mode = "w" if ending == "tar" else f"w:{ending.removeprefix('tar.')}"
    write_tar(archive, {"anna/a.cc": b"int a;", "anna/b/c.cc": b"int c;"}, mode)
    unpack.unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/anna/a.cc").read_bytes() == b"int a;"
    assert (tmp_path / "out/anna/b/c.cc").read_bytes() == b"int c;"


def test_zip_files_unpack(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "anna.zip", "w") as archive:
        archive.writestr("anna/a.cc", "int a;")
    unpack.unpack(tmp_path / "anna.zip", tmp_path / "out")
    assert (tmp_path / "out/anna/a.cc").read_bytes() == b"int a;"


@pytest.mark.parametrize("name", ["../evil.cc", "/tmp/evil.cc", "a/../../evil.cc", "..\\evil.cc"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_paths_out_of_the_folder_are_refused(tmp_path: Path, name: str, kind: str) -> None:
    archive = tmp_path / f"x.{kind}"
    if kind == "tar":
        write_tar(archive, {name: b"x"}, "w")
    else:
        with zipfile.ZipFile(archive, "w") as made:
            made.writestr(name, "x")
    with pytest.raises(KneepointError, match="leads out"):
        unpack.unpack(archive, tmp_path / "in/out")
    assert not list(tmp_path.rglob("evil.cc")) and not Path("/tmp/evil.cc").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_in_archives_are_refused(tmp_path: Path, kind: bytes) -> None:
    write_link(tmp_path / "x.tar", "trace", "/etc/passwd", kind)
    with pytest.raises(KneepointError, match="has a link"):
        unpack.unpack(tmp_path / "x.tar", tmp_path / "out")


def test_links_in_zip_files_are_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("trace")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(KneepointError, match="has a link"):
        unpack.unpack(tmp_path / "x.zip", tmp_path / "out")


def test_devices_are_refused(tmp_path: Path) -> None:
    write_link(tmp_path / "x.tar", "fifo", "", tarfile.FIFOTYPE)
    with pytest.raises(KneepointError, match="has a device"):
        unpack.unpack(tmp_path / "x.tar", tmp_path / "out")


def zeros_in_tar(path: Path) -> None:
    write_tar(path, {"zeros": bytes(unpack.MOST_BYTES + 1)})


def many_in_tar(path: Path) -> None:
    write_tar(path, {f"{number}.cc": b"" for number in range(unpack.MOST_FILES + 1)})


def long_header_in_tar(path: Path) -> None:
    """A header of PAX that claims, and has, more than an entry may have."""
    info = tarfile.TarInfo("a")
    info.pax_headers = {"comment": "x" * (2 * unpack.MOST_BYTES)}
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)


def zeros_in_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(unpack.MOST_BYTES + 1))


def many_in_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(unpack.MOST_FILES + 1):
            archive.writestr(f"{number}.cc", "")


@pytest.mark.parametrize(
    ("bomb", "name"),
    [
        (zeros_in_tar, "x.tgz"),
        (many_in_tar, "x.tgz"),
        (long_header_in_tar, "x.tgz"),
        (zeros_in_zip, "x.zip"),
        (many_in_zip, "x.zip"),
    ],
)
def test_bombs_are_defused(tmp_path: Path, bomb: Callable[[Path], None], name: str) -> None:
    bomb(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 2 * 2**20, "it is small"
    with pytest.raises(KneepointError, match="it has more than"):
        unpack.unpack(tmp_path / name, tmp_path / "out")
    written = sum(p.stat().st_size for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert written <= unpack.MOST_BYTES


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 torn", b"\x1f\x8b torn"])
@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz"])
def test_damaged_archives_are_named(tmp_path: Path, content: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(KneepointError, match="the archive is damaged"):
        unpack.unpack(tmp_path / name, tmp_path / "out")


def test_large_archives_are_not_opened(tmp_path: Path) -> None:
    with (tmp_path / "x.zip").open("wb") as file:
        file.truncate(unpack.MOST_ARCHIVE_BYTES + 1)
    with pytest.raises(KneepointError, match="the archive has more than 32 MiB"):
        unpack.unpack(tmp_path / "x.zip", tmp_path / "out")


def test_trees_are_copied_without_what_was_built(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name in ("datagrump/a.cc", "datagrump/a.o", ".git/config", ".deps/a.Po"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    (tree / "datagrump/b.cc").symlink_to("a.cc")
    unpack.copy_tree(tree, tmp_path / "out")
    copied = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*")}
    assert copied == {"datagrump/a.cc", "datagrump/b.cc"}
    assert not (tmp_path / "out/datagrump/b.cc").is_symlink()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "nowhere"])
def test_links_out_of_a_tree_are_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside").write_text("secret")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/a.cc").symlink_to(target)
    with pytest.raises(KneepointError, match=r"a\.cc is a link that leads out of the entry"):
        unpack.copy_tree(tmp_path / "tree", tmp_path / "out")


def test_pipes_in_a_tree_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    os.mkfifo(tmp_path / "tree/pipe")
    with pytest.raises(KneepointError, match="pipe is neither a file nor a folder"):
        unpack.copy_tree(tmp_path / "tree", tmp_path / "out")


def test_folders_that_are_too_large_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree/large.txt").open("wb") as file:
        file.truncate(unpack.MOST_BYTES + 1)
    with pytest.raises(KneepointError, match="more than 64 MiB"):
        unpack.copy_tree(tmp_path / "tree", tmp_path / "out")
