"""Real-time runs in the workflow: not by default, requested by name, and made on Ray."""

import json
import re
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from kneepoint.common.made_by import sign
from kneepoint.common.tables import read_frame
from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import experiments_of, inputs_of
from kneepoint.runs.results import RUNS, TRIALS
from tests.engines.real import real_engine
from tests.workflow.conftest import REPEAT, Checkout

pytestmark = pytest.mark.real_time

REAL_RULES = {
    "search_study_real",
    "replicate_settings_real",
    "run_example_real",
    "probe_host_real",
    "confirm_settings_real",
    "calibrate_host",
    "run_again_real",
    "emulate_confirmed",
}
NETWORK = {
    "title": "A second of a wire",
    "uplink": {"constant_mbps": 6},
    "downlink": {"constant_mbps": 6},
    "duration_s": 1,
}
TERNARY = {
    "title": "Real windows",
    "controller": "fixed_window",
    "engine": "mahimahi",
    "networks": ["wire"],
    "space": {"window": {"low": 5, "high": 8}},
    "sampler": {"kind": "ternary"},
}
TPE = {
    "title": "Real thresholds",
    "controller": "delay_threshold",
    "engine": "mahimahi",
    "networks": ["wire"],
    "space": {"rtt_threshold_ms": {"low": 45, "high": 100}},
    "sampler": {"kind": "tpe", "trials": 4, "startup_trials": 2},
}
CONFIG = {
    "seed": 5,
    "results": "results/real",
    "studies": ["grid", "real-ternary", "real-tpe"],
    "repeats": ["again", "real-again"],
    "showcase": {"controller": "timely", "network": "mini"},
    "real_time": {
        "busy_us": 1e6,
        "probe": {"controller": "fixed_window", "network": "mini", "alone": 2, "most": 2},
    },
    "confirm": {
        "network": "mini",
        "calibration": {"windows": [5], "host": {"host_latency_us": {"values": [0, 100]}}},
    },
}


@pytest.fixture(scope="module")
def arguments(checkout: Checkout) -> list[str]:
    """Adds a configuration with real time to the checkout."""
    checkout.write("config/networks/wire.yaml", NETWORK)
    checkout.write("config/studies/real-ternary.yaml", TERNARY)
    checkout.write("config/studies/real-tpe.yaml", TPE)
    checkout.write("config/repeats/real-again.yaml", {**REPEAT, "engine": "mahimahi"})
    checkout.write("config/real.yaml", CONFIG)
    return ["--cores", "2", "--configfile", "config/real.yaml"]


def rules_of(output: str) -> set[str]:
    """Returns the rules in a dry run's table of jobs."""
    table = output.partition("Job stats:")[2].partition("\ntotal ")[0]
    return set(re.findall(r"^(\w+) +\d+$", table, re.MULTILINE))


def test_default_target_takes_no_real_time(checkout: Checkout, arguments: list[str]) -> None:
    """Existing real results do not request further real runs."""
    folder = checkout.folder / "results/real/confirm"
    folder.mkdir(parents=True)
    (folder / "runs.parquet").write_bytes(b"")
    try:
        output = checkout.run("--dry-run", *arguments)
    finally:
        shutil.rmtree(folder)
    assert {"search_study", "replicate_settings", "write_report"} <= rules_of(output)
    assert rules_of(output).isdisjoint(REAL_RULES)
    assert "Searching: grid\n" in output and "Replicating: repeats/again\n" in output
    for name in ("real-ternary", "real-tpe", "real-again"):
        assert name not in output


def test_confirm_takes_all_of_it_and_real_runs_have_the_host_to_themselves(
    checkout: Checkout, arguments: list[str]
) -> None:
    """Emulated runs come either all before or all after the real runs."""
    graph = checkout.run("--dag", *arguments, "--", "confirm")
    for name in ("real-ternary", "real-tpe", "real-again"):
        assert name in graph
    rule_of = dict(re.findall(r'^\t(\d+)\[label = "(\w+)', graph, re.MULTILINE))
    assert {*rule_of.values()} >= REAL_RULES | {"search_study", "replicate_settings"}
    after: dict[str, set[str]] = {rule: set() for rule in rule_of.values()}
    for job, needed_by in re.findall(r"^\t(\d+) -> (\d+)", graph, re.MULTILINE):
        after[rule_of[job]].add(rule_of[needed_by])
    for middle in after:
        for rules in after.values():
            rules |= after[middle] if middle in rules else set()
    for rule in ("search_study", "replicate_settings", "run_example"):
        assert "probe_host_real" in after[rule]
    measured = {f"{rule}_real" for rule in ("search_study", "replicate_settings", "run_example")}
    assert after["probe_host_real"] >= measured
    for rule in (*measured, "confirm_settings_real"):
        assert after[rule] >= {"calibrate_host", "emulate_confirmed", "run_again_real"}


@pytest.mark.slow
def test_real_studies_run_through_the_whole_workflow(
    checkout: Checkout, arguments: list[str]
) -> None:
    real_engine()
    targets = [f"results/real/{name}/study.json" for name in ("real-ternary", "real-tpe")]
    results = checkout.folder / "results/real"
    (results / "probe").mkdir(parents=True)
    (results / "probe/probe.json").write_text(json.dumps({"slots": 4}))
    (results / "probe/runs.parquet").write_bytes(b"")
    with chdir(checkout.folder):
        workflow = load_workflow(Path("config/real.yaml"))
        probe = experiments_of(workflow)["probe"]
        inputs = inputs_of(workflow, probe)
        sign(results / "probe", probe.kind.step, ["probe.json", "runs.parquet"], inputs=inputs)
    output = checkout.run(*arguments, "--", *targets)
    assert rules_of(output) == {
        "prepare_network",
        "search_study_real",
    }  # nothing is built
    for name, trials in (("real-ternary", 2), ("real-tpe", 4)):
        runs = read_frame(results / name / "runs.parquet", RUNS)
        assert set(runs["engine"]) == {"mahimahi"}
        assert set(runs["status"]) == {"ok"}, list(runs["reason"])
        assert runs["scheduling_delay_p99_us"].notna().all()
        assert len(read_frame(results / name / "trials.parquet", TRIALS)) >= trials
        assert (results / name / "trials.jsonl").stat().st_size > 0
        assert f"{name}: " in output  # its progress comes to the terminal
        assert Path(checkout.folder / f".kneepoint/logs/search_study_real/{name}.log").read_text()
    assert "Nothing to be done" in checkout.run(*arguments, "--", *targets)
