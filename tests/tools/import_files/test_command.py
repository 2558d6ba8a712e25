"""`kneepoint import`: runs that the other commands accept."""

import json
from pathlib import Path

import pandas as pd
import pytest

from kneepoint.analysis.opened import open_results
from kneepoint.cli import commands
from tests.programs import run_kneepoint
from tests.tools.import_files.captures import Form, pcap, transfer
from tests.tools.import_files.test_imported import (
    IPERF3,
    flent_file,
    link_log_of,
    qlog_file,
    tunnel_log_of,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Logs of two schemes, the second with half the throughput."""
    for run in range(1, 7):
        text, _ = tunnel_log_of(2 * run)
        (tmp_path / f"copa_datalink_run{run}.log").write_text(text)
        slow = [line for i, line in enumerate(text.splitlines()) if " - " not in line or i % 2]
        (tmp_path / f"slow_datalink_run{run}.log").write_text("\n".join(slow) + "\n")
    return tmp_path


def test_imported_runs_open_compare_and_make_a_table(folder: Path) -> None:
    logs = sorted(folder.glob("*.log"))
    words = ("--into", "measured", "--network", "tram", "--metric", "throughput", "--json")
    done = run_kneepoint("import", *logs, "--compare", "copa", "slow", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    runs = open_results(folder / "measured").runs
    assert len(runs) == len(found["runs"]) == 12 and set(runs["network"]) == {"tram"}
    assert runs["run_id"].is_unique and runs["queueing_delay_p95_ms"].isna().all()
    by_run = runs.set_index(["controller", "seed"])["throughput_mbps"]
    for run in found["runs"]:
        assert by_run[run["controller"], run["run"]] == run["metrics"]["throughput_mbps"]
    overall = found["comparison"]["overall"]
    assert overall["better"] == "A" and overall["pairs"] == 6 and 1.5 < overall["ratio"] < 2.5
    table = pd.read_csv(folder / "measured/table.csv").set_index("controller")
    means = runs.groupby("controller")["throughput_mbps"].agg(["mean", "std"])
    assert table["throughput_mbps"].to_dict() == pytest.approx(means["mean"].to_dict(), abs=1e-4)
    assert table["throughput_mbps_sd"].to_dict() == pytest.approx(means["std"].to_dict(), abs=1e-4)
    assert len(list((folder / "measured").glob("*.svg"))) == 12
    if "check-table" in commands():  # unless that tool was removed
        checked = run_kneepoint("check-table", "measured/table.csv", cwd=folder)
        assert checked.returncode == 0, checked.stdout


def test_files_of_every_tool_make_runs_and_figures(tmp_path: Path) -> None:
    for seed in (1, 2):
        (tmp_path / f"quic-{seed}.qlog").write_text(qlog_file(seed))
        flent_file(tmp_path / f"upload-{seed}.flent.gz", seed)
        (tmp_path / f"bbr-{seed + 2}.json").write_text(json.dumps(IPERF3))
        form = Form()
        known = transfer(seed, form)
        for end, segments in (("sent", known.sender), ("came", known.receiver)):
            (tmp_path / f"{end}-{seed}.pcap").write_bytes(pcap(form.seen(segments)))
    files = sorted(path.name for path in tmp_path.iterdir())
    done = run_kneepoint("import", *files, "--network", "lab", "--into", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = open_results(tmp_path / "out").runs.sort_values("run_id")
    assert runs.groupby("controller").size().to_dict() == {"bbr": 4, "quic": 2, "sent": 2}
    assert runs["throughput_mbps"].notna().all() and runs["capacity_mbps"].isna().all()
    assert (
        runs.set_index("controller")["signal_delay_p95_ms"].notna().groupby(level=0).any()["sent"]
    )
    assert len(list((tmp_path / "out").glob("*.svg"))) == 8
    assert done.stdout.count("unknown: capacity") == 8


def test_files_that_do_not_say_are_named_and_numbered(tmp_path: Path) -> None:
    for seed in (1, 2):
        (tmp_path / f"{seed}.log").write_text(link_log_of(seed))
    named = ("--controller", "cubic", "--network", "lab", "--into", "out")
    done = run_kneepoint("import", "1.log", "2.log", *named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = open_results(tmp_path / "out").runs
    assert runs[["controller", "network", "seed"]].to_numpy().tolist() == [
        ["cubic", "lab", 1],
        ["cubic", "lab", 2],
    ]
    assert "flows" in done.stdout and "link log" in done.stdout
    (tmp_path / "2.log").rename(tmp_path / "cubic-9.log")
    done = run_kneepoint("import", "cubic-9.log", "--into", "other", cwd=tmp_path)
    runs = open_results(tmp_path / "other").runs
    assert runs[["controller", "seed"]].to_numpy().tolist() == [["cubic", 9]]


@pytest.mark.parametrize(
    ("name", "controller", "run"),
    [
        ("cubic-3.9.log", "cubic-3.9", 1),
        ("cubic-3.9.log.gz", "cubic-3.9", 1),
        ("linux-6.1-cubic-4.log", "linux-6.1-cubic", 4),
        ("bbr_run7.uplink.log", "bbr", 7),
    ],
)
def test_a_version_in_a_name_is_no_run(
    tmp_path: Path, name: str, controller: str, run: int
) -> None:
    (tmp_path / name).write_text(link_log_of(1))
    assert run_kneepoint("import", name, "--into", "out", cwd=tmp_path).returncode == 0
    runs = open_results(tmp_path / "out").runs
    assert runs[["controller", "seed"]].to_numpy().tolist() == [[controller, run]]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("copa_datalink_run1.log", "bad"), "bad"),
        (("copa_datalink_run1.log", "missing"), "missing"),
        (("copa_datalink_run1.log",) * 2, "run 1"),
        (("link.log",) * 2, "given 2 times"),
        (("copa_datalink_run1.log", "--into", "bad/out"), "--into bad/out"),
        (("copa_datalink_run1.log", "--compare", "copa", "vegas"), "vegas"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    folder: Path, words: tuple[str, ...], named: str
) -> None:
    (folder / "bad").write_text("1 2 3\n")
    (folder / "link.log").write_text(link_log_of(1))
    done = run_kneepoint("import", "--into", "out", *words, cwd=folder)
    assert done.returncode == 2 and named in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not (folder / "out").exists()


def test_an_existing_folder_is_left_alone(folder: Path) -> None:
    done = run_kneepoint("import", "copa_datalink_run1.log", "--into", ".", cwd=folder)
    assert done.returncode == 2 and not (folder / "runs.parquet").exists()
