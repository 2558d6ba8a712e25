import os
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.mahimahi import install
from kneepoint.engines.mahimahi.diagnosis import ordinary_user
from kneepoint.engines.mahimahi.install import check_proof, prove
from tests.engines.real import real_engine
from tests.entries.building import are_running

pytestmark = pytest.mark.real_time
leaves_nothing = pytest.mark.usefixtures("no_folder_is_left")

LOG = """\
# mahimahi mm-link (Uplink) [trace] > uplink.log
# base timestamp: 0
12 + 50
20 # 1504
20 - 50 8
"""


@leaves_nothing
def test_prove_real_mahimahi() -> None:
    real_engine()
    prove(ordinary_user())


@leaves_nothing
def test_prove_refuses_a_real_run_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    real_engine()
    monkeypatch.setattr(install, "_TIME_LIMIT_S", 1)
    monkeypatch.setattr(install, "_SENDER", "exec sleep 301 # {port}")
    with pytest.raises(KneepointError, match="a run of mahimahi did not end within 1 s"):
        prove(ordinary_user())
    assert not are_running("301")


@leaves_nothing
def test_prove_passes_on_what_mahimahi_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "mm-delay"
    program.write_text("#!/bin/sh\necho first; echo 'exit failure status 111' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(KneepointError, match=r"mahimahi fails \(exit failure status 111\);"):
        prove(None)


def test_check_accepts_the_departures_of_what_arrived() -> None:
    check_proof(1, LOG)


@pytest.mark.parametrize(("arrived", "named"), [(0, "firewall"), (2, "2 datagrams.*1 departures")])
def test_check_refuses_lost_datagrams_and_another_link(arrived: int, named: str) -> None:
    with pytest.raises(KneepointError, match=named):
        check_proof(arrived, LOG)
