"""The contest's traces, and a small link that needs no download."""

from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.networks.config import TraceSources, load_trace_catalogue
from kneepoint.networks.fetch import (
    cache_folder_of,
    fetch_traces,
    sources_of,
)
from tests.controllers.emulator import EMULATE, Link, write_small_link

CONTEST = ("Verizon-LTE-short.down", "Verizon-LTE-short.up")


@pytest.fixture(scope="session", autouse=True)
def _emulator_is_built() -> None:
    assert EMULATE.exists(), "build/emulate is missing: run `make build`"


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
