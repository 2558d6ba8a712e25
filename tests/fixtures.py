"""Fixtures of several folders of tests: links, entries that run on them, mahimahi's scripts."""

import shutil
from pathlib import Path

import pytest

from kneepoint.cli.entries import python_digest
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.entries.build import Compiler
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder
from kneepoint.networks.apt import unpack_debian_package
from kneepoint.networks.config import TraceSources, load_trace_catalogue
from kneepoint.networks.fetch import cache_folder_of, fetch_traces, sources_of
from tests.conftest import ROOT
from tests.controllers.emulator import Link, write_small_link
from tests.entries.building import ENTRY, SOURCES, build_entry, build_sender
from tests.once import made_once, shared_folder

CONTEST = ("Verizon-LTE-short.down", "Verizon-LTE-short.up")
ATTACKS = ROOT / "tests/entries/attacks/attacks.cc"


@pytest.fixture(scope="session")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Link:
    """The network of the contest; its traces come from the user's cache or are fetched into it."""
    folder = tmp_path_factory.mktemp("contest")
    try:
        fetch_traces(
            CONTEST,
            folder,
            cache_folder=cache_folder_of(None),
            catalogue=load_trace_catalogue(Path("config/config.yaml")),
            sources=sources_of(TraceSources(), Path()),
        )
    except KneepointError as error:
        pytest.skip(f"NOT TESTED on the real trace: {error}")
    return Link(uplink=folder / CONTEST[0], downlink=folder / CONTEST[1])


@pytest.fixture
def small_link(tmp_path: Path) -> Link:
    """See `write_small_link`."""
    return write_small_link(tmp_path)


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> EntryBuilder:
    """Builds entries, each source once, in the standard with the shortest headers."""
    confined = Confined(ROOT / "build/confine")
    kept = shared_folder(tmp_path_factory) / "kept"
    compiler = Compiler(kept, confined, standards=["-std=gnu++14"])
    return EntryBuilder(compiler, sha256_of(ENTRY.read_bytes()), python_digest())


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An honest sender, probes and attacks, built; some compilers check buffers by default."""
    flags = ("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2")

    def build(folder: Path) -> None:
        build_sender(folder, *flags).rename(folder / "kit_sender.so")
        build_entry(SOURCES / "shim_probe.cc", folder, *flags)
        build_entry(ATTACKS, folder, "-std=c++20", f"-I{ROOT / 'controllers'}")

    return {path.stem: path for path in made_once(tmp_path_factory, "objects", build).iterdir()}


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mm-throughput-graph, mm-delay-graph and a gnuplot.

    The scripts themselves print the figures; gnuplot only draws, and fails on some machines. Our
    stand-in draws nothing.
    """
    if not shutil.which("perl"):
        pytest.skip("NOT TESTED against mahimahi's scripts: there is no perl")

    def unpack(folder: Path) -> None:
        programs = unpack_debian_package("mahimahi", folder.resolve()) / "usr/bin"
        gnuplot = programs / "gnuplot"
        gnuplot.write_text("#!/bin/sh\nexec cat > /dev/null\n")
        gnuplot.chmod(0o755)
        programs.rename(folder / "programs")

    try:
        return made_once(tmp_path_factory, "mahimahi", unpack) / "programs"
    except KneepointError as error:
        pytest.skip(f"NOT TESTED against mahimahi's scripts: {error}")
