"""The digests of recordings determine whether a network is prepared again."""

import json
from pathlib import Path

import pytest

from kneepoint.common.files import sha256_of
from tests.programs import run_kneepoint, run_module
from tests.workflow.conftest import STUDIES, Checkout

pytestmark = pytest.mark.slow

NETWORK = {
    "title": "A road",
    "uplink": {"trace": "road.up"},
    "downlink": {"constant_mbps": 12},
    "duration_s": 2,
}


def write_report(checkout: Checkout, name: str, gap_ms: int) -> Path:
    """Writes a report with a network of one recording; returns the recording's path."""
    study = {"title": "Windows", "networks": ["road"], **STUDIES["grid"]}
    settings = {"seed": 1, "studies": ["grid"], "traces": {"source": "folder", "folder": "traces"}}
    settings |= {"results": f"results/{name}", "cache": str(checkout.folder / "cache")}
    checkout.write(f"{name}/config.yaml", settings)
    checkout.write(f"{name}/studies/grid.yaml", study)
    checkout.write(f"{name}/networks/road.yaml", NETWORK)
    recording = checkout.folder / name / "traces/road.up"
    record(recording, gap_ms)
    return recording


def record(recording: Path, gap_ms: int, *, is_listed: bool = True) -> None:
    """Writes a recording of a packet per gap, and its digest into the report's traces.yaml."""
    content = "".join(f"{time_ms}\n" for time_ms in range(gap_ms, 2001, gap_ms))
    recording.parent.mkdir(exist_ok=True)
    recording.write_text(content)
    if is_listed:
        listed = {"road.up": {"sha256": sha256_of(content.encode())}}
        (recording.parent.parent / "traces.yaml").write_text(json.dumps(listed))


def run(checkout: Checkout, report: str) -> tuple[int, str, str]:
    """Runs a window on a report's network; returns the status and the output."""
    words = ("run", "fixed_window", "--network", "road", "--config", f"{report}/config.yaml")
    done = run_kneepoint(*words, "--json", cwd=checkout.folder)
    return done.returncode, done.stdout, done.stderr


def capacity_mbps(checkout: Checkout, report: str) -> float:
    status, out, err = run(checkout, report)
    assert status == 0, err
    return float(json.loads(out)["capacity_mbps"])


def test_a_prepared_network_that_is_damaged_is_made_again(checkout: Checkout) -> None:
    write_report(checkout, "damaged", gap_ms=4)
    assert capacity_mbps(checkout, "damaged") == pytest.approx(3, rel=0.01)
    prepared = checkout.folder / "damaged/.kneepoint/networks/road"
    right = {path.name: path.read_bytes() for path in prepared.iterdir() if path.is_file()}
    for name in ("network.json", "uplink.trace"):
        for damage in (b"", right[name][:-20], right[name].replace(b"40\n", b"41\n")):
            (prepared / name).write_bytes(damage)
            assert capacity_mbps(checkout, "damaged") == pytest.approx(3, rel=0.01)
            assert (prepared / name).read_bytes() == right[name]
    fetched = checkout.folder / "damaged/.kneepoint/traces/road.up"
    fetched.write_text("1\n")
    (prepared / "network.json").unlink()
    assert capacity_mbps(checkout, "damaged") == pytest.approx(3, rel=0.01)


def test_a_recording_that_is_probably_of_no_link_is_said(checkout: Checkout) -> None:
    """The warning comes at the preparation, for example for times in microseconds."""
    write_report(checkout, "slow", gap_ms=1000)
    for is_said in (True, False):
        status, _, err = run(checkout, "slow")
        assert status == 0, err
        assert ("road.up" in err and "improbable" in err) == is_said


def complaints(checkout: Checkout, report: str) -> list[str]:
    """Returns the errors of a run, the check and the workflow, which must all refuse the report."""
    config = f"{report}/config.yaml"
    check = run_module("kneepoint.runs.check", "--config", config, cwd=checkout.folder)
    words = ("--cores", "1", "--dry-run", "--configfile", config)
    workflow = run_module("snakemake", *words, cwd=checkout.folder)
    assert (check.returncode, workflow.returncode) == (2, 2), check.stdout + workflow.stdout
    status, out, err = run(checkout, report)
    assert status == 2, out
    return [err, check.stderr, workflow.stderr]


def test_run_is_on_the_recording_that_is_listed_now(checkout: Checkout) -> None:
    recording = write_report(checkout, "changed", gap_ms=4)
    assert capacity_mbps(checkout, "changed") == pytest.approx(3, rel=0.01)
    record(recording, gap_ms=1)
    assert capacity_mbps(checkout, "changed") == pytest.approx(12, rel=0.01)


def test_recording_that_is_not_the_listed_one_is_refused(checkout: Checkout) -> None:
    recording = write_report(checkout, "edited", gap_ms=4)
    assert capacity_mbps(checkout, "edited") == pytest.approx(3, rel=0.01)
    record(recording, gap_ms=1, is_listed=False)
    digest = sha256_of(recording.read_bytes())
    for said in complaints(checkout, "edited"):
        assert "traces/road.up" in said and digest in said and "traces.yaml" in said


def test_another_reports_network_does_not_stand_for_a_deleted_recording(checkout: Checkout) -> None:
    recording = write_report(checkout, "mine", gap_ms=4)
    write_report(checkout, "theirs", gap_ms=1)
    assert capacity_mbps(checkout, "mine") == pytest.approx(3, rel=0.01)
    assert capacity_mbps(checkout, "theirs") == pytest.approx(12, rel=0.01)
    recording.unlink()
    for said in complaints(checkout, "mine"):
        assert "traces/road.up" in said
