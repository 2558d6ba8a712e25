import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.networks.config import TraceEntry, load_trace_catalogue
from kneepoint.networks.fetch import (
    TraceSource,
    cache_folder_of,
    debian_source,
    fetch_traces,
    folder_source,
    git_source,
    main,
)
from tests.conftest import ROOT
from tests.entries import trees

TRACES = {"a.down": b"1\n2\n", "a.up": b"3\n"}
CATALOGUE = {
    name: TraceEntry(sha256=hashlib.sha256(content).hexdigest()) for name, content in TRACES.items()
}


def fill(folder: Path, traces: dict[str, bytes] = TRACES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in traces.items():
        (folder / name).write_bytes(content)
    return folder


def fetch(tmp_path: Path, *sources: TraceSource, names: Iterable[str] = TRACES) -> None:
    fetch_traces(
        names,
        tmp_path / "into",
        cache_folder=tmp_path / "cache",
        catalogue=CATALOGUE,
        sources=sources,
    )


def fetched(tmp_path: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (tmp_path / "into").iterdir()}


def unreachable(_: Path) -> Path:
    raise KneepointError("no network; plug it in")


NOWHERE = TraceSource("far away", unreachable)


def test_fetch_takes_a_folder_and_then_the_cache(tmp_path: Path) -> None:
    fetch(tmp_path, folder_source(fill(tmp_path / "folder")))
    assert fetched(tmp_path) == TRACES
    shutil.rmtree(tmp_path / "into")
    fetch(tmp_path, NOWHERE)
    assert fetched(tmp_path) == TRACES


def test_fetch_goes_on_to_the_next_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = fill(tmp_path / "part", {"a.down": TRACES["a.down"]})
    fetch(tmp_path, folder_source(part), NOWHERE, folder_source(fill(tmp_path / "whole")))
    assert fetched(tmp_path) == TRACES
    assert f"folder {part}: has no file a.up" in capsys.readouterr().err


def test_fetch_names_every_source_that_failed(tmp_path: Path) -> None:
    with pytest.raises(KneepointError) as raised:
        fetch(tmp_path, folder_source(tmp_path / "absent"), NOWHERE)
    for said in (
        "a.down, a.up",
        "absent: no such folder; correct traces.folder",
        "far away: no ne",
    ):
        assert said in str(raised.value)
    assert not (tmp_path / "into").exists()


def test_fetch_refuses_another_digest(tmp_path: Path) -> None:
    folder = fill(tmp_path / "folder", TRACES | {"a.up": b"4\n"})
    with pytest.raises(KneepointError) as raised:
        fetch(tmp_path, folder_source(folder))
    for digest in (hashlib.sha256(b"4\n").hexdigest(), CATALOGUE["a.up"].sha256):
        assert digest in str(raised.value)
    assert "a.up has SHA-256" in str(raised.value)
    assert not (tmp_path / "into").exists()


def test_fetch_replaces_and_never_serves_what_is_damaged_in_the_cache(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_source(fill(tmp_path / "folder"))
    fetch(tmp_path, folder)
    (tmp_path / "cache" / "a.up").write_bytes(b"3")
    with pytest.raises(KneepointError, match=r"no source has a\.up"):
        fetch(tmp_path, NOWHERE)
    fetch(tmp_path, folder)
    assert fetched(tmp_path) == TRACES
    assert (tmp_path / "cache" / "a.up").read_bytes() == TRACES["a.up"]
    assert "a.up is damaged" in capsys.readouterr().err


def test_fetch_replaces_a_pipe_in_the_cache(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    os.mkfifo(tmp_path / "cache" / "a.up")
    fetch(tmp_path, folder_source(fill(tmp_path / "folder")))
    assert (tmp_path / "cache" / "a.up").read_bytes() == TRACES["a.up"]


def test_fetch_names_a_trace_that_is_not_listed(tmp_path: Path) -> None:
    folder = folder_source(fill(tmp_path / "folder", {"mine.up": b"7\n"}))
    digest = hashlib.sha256(b"7\n").hexdigest()
    with pytest.raises(KneepointError, match=rf"mine\.up: {{sha256: {digest}}}"):
        fetch(tmp_path, folder, names=["mine.up"])
    with pytest.raises(KneepointError, match=r"trace b; known: a\.down, a\.up"):
        fetch(tmp_path, folder, names=["b"])


def test_fetch_removes_what_a_killed_fetch_left(tmp_path: Path) -> None:
    fill(tmp_path / "cache" / "kneepoint.fetch.0badcafe")
    fetch(tmp_path, folder_source(fill(tmp_path / "folder")))
    kept = {path.name for path in (tmp_path / "cache").iterdir()}
    assert kept == {".lock", *TRACES}


def test_fetch_names_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(KneepointError, match="cache: File exists"):
        fetch(tmp_path, folder_source(fill(tmp_path / "folder")))


def test_two_fetches_at_once_ask_the_source_once(tmp_path: Path) -> None:
    folder = fill(tmp_path / "folder")
    asked = []

    def unpack(work: Path) -> Path:
        asked.append(work)
        return folder

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: fetch(tmp_path, TraceSource("slow", unpack)), range(4)))
    assert len(asked) == 1


@pytest.fixture
def traces(tmp_path: Path) -> tuple[Path, str]:
    """A repository like ravinet/mahimahi's, and the commit that has the right traces."""
    fill(tmp_path / "repository/traces")
    folder = trees.repository(tmp_path / "repository")
    commit = trees.git(folder, "rev-parse", "HEAD")
    fill(folder / "traces", {"a.up": b"9\n"})
    trees.git(folder, "commit", "--quiet", "--all", "--message", "another trace")
    return folder, commit


def test_git_source_fetches_the_pinned_commit(tmp_path: Path, traces: tuple[Path, str]) -> None:
    fetch(tmp_path, git_source(str(traces[0]), traces[1]))
    assert fetched(tmp_path) == TRACES


@pytest.mark.parametrize(
    "address",
    ["{tmp}/absent", "--upload-pack=touch {tmp}/injected; false", "ext::touch {tmp}/injected"],
)
def test_git_source_that_cannot_be_fetched(tmp_path: Path, address: str) -> None:
    source = git_source(address.format(tmp=tmp_path), "0" * 40)
    with pytest.raises(KneepointError, match=r"git could not fetch .* check the network, traces.g"):
        fetch(tmp_path, source)
    assert not (tmp_path / "injected").exists()


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remover = shutil.which("rm")
    assert remover
    (tmp_path / "rm").symlink_to(remover)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KneepointError) as raised:
        fetch(tmp_path, debian_source(tmp_path), git_source("anywhere", "0" * 40))
    assert "the program apt-get is missing; this is not a Debian system" in str(raised.value)
    assert "the program git is missing; install git" in str(raised.value)


def test_cache_folder_is_configured_or_by_environment_or_by_custom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert cache_folder_of(Path("mine")) == Path("mine/traces")
    monkeypatch.setenv("KNEEPOINT_CACHE", "/k")
    assert cache_folder_of(None) == Path("/k/traces")
    monkeypatch.delenv("KNEEPOINT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder_of(None) == Path("/x/kneepoint/traces")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/h")
    assert cache_folder_of(None) == Path("/h/.cache/kneepoint/traces")


def test_command_line_fetches_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "folder")
    (tmp_path / "traces.yaml").write_text(
        "".join(f"{name}: {{sha256: {entry.sha256}}}\n" for name, entry in CATALOGUE.items())
    )
    config = tmp_path / "config.yaml"
    config.write_text(f"seed: 1\ntraces: {{source: folder, folder: {tmp_path / 'folder'}}}\n")
    monkeypatch.setenv("KNEEPOINT_CACHE", str(tmp_path / "cache"))
    command = ["fetch", "--config", str(config), "--into", str(tmp_path / "into")]
    monkeypatch.setattr(sys, "argv", [*command, *TRACES])
    main()
    assert fetched(tmp_path) == TRACES
    monkeypatch.setattr(sys, "argv", [*command, "b"])
    with pytest.raises(KneepointError, match="unknown trace b"):
        main()


needs_apt = pytest.mark.skipif(
    not (shutil.which("apt-get") and shutil.which("dpkg-deb")), reason="this is not a Debian system"
)


@needs_apt
def test_debian_source_without_network(tmp_path: Path) -> None:
    (tmp_path / "apt").mkdir()
    (tmp_path / "apt" / "sources.list").write_text("deb http://127.0.0.1:9/none bookworm main\n")
    with pytest.raises(KneepointError) as raised:
        fetch(tmp_path, debian_source(tmp_path / "apt"))
    assert "apt-get could not download mahimahi-traces" in str(raised.value)
    assert "127.0.0.1:9" in str(raised.value)
    assert "check the network and the apt sources" in str(raised.value)


@needs_apt
def test_debian_source_unpacks_the_package_of_a_mirror(tmp_path: Path) -> None:
    make_mirror(tmp_path / "mirror")
    (tmp_path / "apt").mkdir()
    (tmp_path / "apt" / "sources.list").write_text(
        f"deb http://127.0.0.1:9/none trixie main\n"
        f"deb [trusted=yes] copy:{tmp_path / 'mirror'} bookworm main\n"
    )
    fetch(tmp_path, debian_source(tmp_path / "apt"))
    assert fetched(tmp_path) == TRACES


def make_mirror(mirror: Path) -> None:
    """Makes a Debian mirror whose release bullseye has just the package mahimahi-traces."""
    control = (
        "Package: mahimahi-traces\nVersion: 1\nArchitecture: all\n"
        "Maintainer: Nobody <nobody@mail.example>\nDescription: traces\n"
    )
    package = mirror / "package"
    fill(package / "usr/share/mahimahi/traces")
    (package / "DEBIAN").mkdir()
    (package / "DEBIAN/control").write_text(control)
    deb = mirror / "mahimahi-traces_1_all.deb"
    build = ["dpkg-deb", "--root-owner-group", "--build", str(package), str(deb)]
    subprocess.run(build, check=True, capture_output=True)
    content = deb.read_bytes()
    index = (
        f"{control}Filename: {deb.name}\nSize: {len(content)}\n"
        f"SHA256: {hashlib.sha256(content).hexdigest()}\n"
    ).encode()
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], check=True, capture_output=True, text=True
    ).stdout.strip()
    folder = f"main/binary-{architecture}"
    release = mirror / "dists/bullseye"
    (release / folder).mkdir(parents=True)
    (release / folder / "Packages").write_bytes(index)
    (release / "Release").write_text(
        f"Suite: bullseye\nCodename: bullseye\nArchitectures: {architecture}\nComponents: main\n"
        f"SHA256:\n {hashlib.sha256(index).hexdigest()} {len(index)} {folder}/Packages\n"
    )


@needs_apt
@pytest.mark.slow
@pytest.mark.network
def test_debian_source_gives_every_listed_trace(tmp_path: Path) -> None:
    catalogue = load_trace_catalogue(ROOT / "config" / "config.yaml")
    try:
        fetch_traces(
            catalogue,
            tmp_path / "into",
            cache_folder=tmp_path / "cache",
            catalogue=catalogue,
            sources=[debian_source()],
        )
    except KneepointError as error:
        if "digest mismatch" in str(error) or "has no file" in str(error):
            raise
        pytest.skip(f"NOT TESTED, the Debian package is out of reach: {error}")
    assert set(fetched(tmp_path)) == set(catalogue)
