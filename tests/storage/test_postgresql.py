"""Studies in a real PostgreSQL, of the distribution's package, on a socket of this test's own."""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from optuna.storages import InMemoryStorage

from kneepoint.common.errors import KneepointError
from kneepoint.search.storage_copy import open_storage, sync, write_to
from tests.search import many_kinds
from tests.search.test_storage_copy import contents

USER = "postgres"


def program(name: str) -> str:
    found = [*Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), shutil.which(name)]
    if found[0] is None:
        pytest.skip("NOT TESTED: no PostgreSQL; run `make cluster-tools` as root")
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("NOT TESTED: no psycopg; run `make cluster-tools`")
    return str(found[0])


@pytest.fixture
def url() -> Iterator[str]:
    """A server that listens only on a socket, in a temporary folder."""
    initdb, pg_ctl = program("initdb"), program("pg_ctl")
    folder = Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    before: list[str] = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, USER)
        before = ["runuser", "-u", USER, "--"]
    data = folder / "data"

    def run(*words: str) -> None:
        subprocess.run([*before, *words], check=True, cwd="/", stdout=subprocess.DEVNULL)

    run(initdb, "-D", str(data), "-U", USER, "--auth=trust", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    run(pg_ctl, "-D", str(data), "-l", str(folder / "log"), "-o", options, "-w", "start")
    yield f"postgresql+psycopg://{USER}@/postgres?host={folder}"
    run(pg_ctl, "-D", str(data), "-m", "immediate", "-w", "stop")
    shutil.rmtree(folder, ignore_errors=True)


def test_database_holds_every_study_and_only_changes_are_copied(url: str, tmp_path: Path) -> None:
    many_kinds.write(tmp_path)
    assert write_to(tmp_path, url) == 2
    assert write_to(tmp_path, url) == 0
    source = InMemoryStorage()
    sync(tmp_path, source)
    assert contents(open_storage(url)) == contents(source)


def test_server_that_is_not_there_is_an_error_without_the_password() -> None:
    program("initdb")
    address = "127.0.0.1:1/studies?connect_timeout=2"
    refusal = r"^storage .*: cannot be used \(.*; start the"
    with pytest.raises(KneepointError, match=refusal) as caught:
        open_storage(f"postgresql+psycopg://me:secret@{address}")
    assert "secret" not in str(caught.value)
