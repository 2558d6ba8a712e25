"""Mistakes in the configuration: each names its file, its value and a remedy."""

import re
from collections.abc import Callable
from copy import deepcopy
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
import yaml

from kneepoint.analysis.metrics import in_steps
from kneepoint.common.errors import KneepointError
from kneepoint.config.published import PublishedTable, TableDescription, load_table
from kneepoint.config.study import EMULATOR, Study
from kneepoint.config.workflow import Workflow
from kneepoint.engines.mahimahi.diagnosis import read_facts, require_machine
from kneepoint.networks.config import load_network, load_trace_catalogue
from kneepoint.runs.load import load_workflow
from tests.conftest import ROOT
from tests.experiments.listing import CATALOGUE
from tests.experiments.wire import command, prepare_wire

KINDS = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text())
MISTAKES = [
    (kind, changes, said)
    for kind in KINDS
    if kind != "parts"
    for changes, *said in KINDS[kind]["mistakes"]
]
TABLE = KINDS["searches"]["files"]["table"][1]
NETWORK = KINDS["searches"]["files"]["network"][1]
Write = Callable[..., Path]


def write_files(folder: Path, kind: str = "searches", **changes: Any) -> Path:
    """Writes a configuration of mistakes.yaml with changes, by file."""
    for name, (path, content) in KINDS[kind]["files"].items():
        changed = changes.get(name, {})
        if isinstance(content, dict):
            if not content and not changed:
                continue
            found = deepcopy(content)
            for key, value in changed.items():
                *outer, last = key.split(".")
                place = reduce(getitem, outer, found)
                place[last] = value
                if value is None:
                    del place[last]
            content = yaml.safe_dump(found)
        else:
            content = changed or content
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return folder / "config.yaml"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return partial(write_files, tmp_path)


def _check(config: Path) -> Workflow:
    workflow = load_workflow(config)
    workflow.check_against(CATALOGUE)
    return workflow


def test_a_sound_configuration_is_read_whole(write: Write) -> None:
    workflow = _check(write())
    rows = workflow.tables["printed"].rows
    assert [dict(row.parameters) for row in rows] == [{"window": 5}, {}, {"window": 10}]
    assert dict(rows[0].metrics) == pytest.approx({"throughput_mbps": 1.05, "power": 9.63})
    assert rows[0].steps == pytest.approx({"throughput_mbps": 0.001, "power": 0.01})
    assert [row.number for row in workflow.tables["printed"].replayable] == [0, 2]
    assert list(workflow.networks) == ["wire"]


def test_rows_of_a_table_have_their_own_networks_and_metrics_a_base(write: Write) -> None:
    columns: dict[str, Any] = {"place": {"network": {"here": "wire", "there": "contest"}}}
    columns |= {"share": {"metric": "throughput_mbps", "unit": "2.5 Mbit/s"}}
    columns |= {"rtt": {"metric": "queueing_delay_p95_ms", "unit": "s", "above": 100}}
    changes = {"columns": columns, "ignore": [], "parameters": {"window": 5}}
    csv = "place,share,rtt\nhere,0.50,0.15\nthere,0.25,0.1\n"
    study = {"networks": ["wire", "contest"]}
    rows = _check(write(study=study, table=changes, csv=csv)).tables["printed"].rows
    assert [row.network for row in rows] == ["wire", "contest"]
    assert [dict(row.metrics) for row in rows] == [
        pytest.approx({"throughput_mbps": 1.25, "queueing_delay_p95_ms": 50}),
        pytest.approx({"throughput_mbps": 0.625, "queueing_delay_p95_ms": 0}),
    ]
    assert rows[0].steps == pytest.approx({"throughput_mbps": 0.025, "queueing_delay_p95_ms": 10})


def test_the_fields_report_compares_what_it_tunes() -> None:
    workflow = load_workflow(Path("config/field.yaml"))
    tuned = [workflow.studies[name].controller for name in workflow.tunings]
    assert len(tuned) == len(set(tuned)) >= 30
    on_tcp = [
        name for name in tuned if not name.startswith("sprout")
    ]  # Sprout needs a receiver's clock
    for name, comparison in workflow.comparisons.items():
        if comparison.engines.keys() == {EMULATOR}:
            assert [setting.controller for setting in comparison.settings] == on_tcp, name


@pytest.mark.parametrize(
    ("kind", "changes", "said"), MISTAKES, ids=[f"{kind}: {said[-1]}" for kind, _, said in MISTAKES]
)
def test_a_mistake_is_named(
    write: Write, kind: str, changes: dict[str, Any], said: list[str]
) -> None:
    config = write(kind, **changes)
    with pytest.raises(KneepointError) as error:
        _check(config)
    assert all(part in str(error.value) for part in (str(config.parent), *said)), error.value
    assert "\n" not in str(error.value)


def test_study_without_mahimahi_ends_with_cause_and_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    try:
        require_machine(read_facts())
    except KneepointError as reason:
        pytest.skip(f"NOT TESTED where no mahimahi can work: {reason}")
    config = {"confirm": None, "results": str(tmp_path / "out")}
    write_files(tmp_path / "config", "real time", config=config)
    prepare_wire(tmp_path, tmp_path / "networks/wire")
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    assert command(tmp_path, "windows") == 2
    (said,) = capfd.readouterr().err.splitlines()
    assert "mm-delay" in said and "sudo make mahimahi" in said
    assert not (tmp_path / "out/windows/runs.parquet").exists()


def test_the_shipped_configurations_are_sound() -> None:
    for config in ("config/config.yaml", "config/offline.yaml"):
        assert load_workflow(Path(config)).studies


def test_what_was_recovered_from_a_table_is_declared_fitted_to_it() -> None:
    for path in Path("config/published").glob("*.yaml"):
        table = load_table(Path("config/config.yaml"), path.stem).description
        recovered = {
            name for name, why in table.unstated.items() if re.search("this (table|row)", why)
        }
        assert recovered == set(table.fitted), path


def test_published_repeatability_is_the_papers() -> None:
    """The inline numbers of a repeat equal the report's own table."""
    published = load_workflow(Path("config/config.yaml")).repeats["window-12"].published
    lines = Path("config/published/000-best-window-repeatability.csv").read_text().splitlines()[1:]
    table = {line.split(",")[0]: line.split(",")[2:] for line in lines}
    names = {"throughput_mbps": "throughput", "signal_delay_p95_ms": "signal_delay_p95"}
    for spread in published:
        deviation, mean = table[names.get(spread.metric, spread.metric)]
        assert spread.standard_deviation is not None
        printed = (in_steps(each, spread.step) for each in (spread.standard_deviation, spread.mean))
        assert (*printed,) == (deviation, mean)


def test_controller_that_needs_marks_runs_where_its_flow_has_them(write: Write) -> None:
    flow = {"transport": "tcp", "tcp": {"ecn": True}}
    only = {"studies": [], "comparisons": ["rules"]}
    comparison = {"settings": [{"controller": "prague"}]}
    _check(
        write("comparisons", config=only, traffic={"flows": {"one": flow}}, comparison=comparison)
    )


THREE = {name: {"values": [1, 2]} for name in ("alpha", "beta", "rtt_threshold_ms")}


@pytest.mark.parametrize(
    ("changes", "is_search", "tunes"),
    [
        ({}, True, True),
        ({"space": {name: THREE[name] for name in ("alpha", "beta")}}, False, False),
        ({"space": {**THREE, "beta": {"values": [1]}}}, False, False),
        ({"compare": ["printed"]}, False, False),
        ({"traffic": "busy"}, True, False),
        ({"space": {**THREE, "network.delay_ms": {"values": [1, 2]}}}, True, False),
        ({"objective": {"fit": "printed"}}, False, False),
    ],
)
def test_a_grid_over_three_parameters_is_a_search(
    changes: dict[str, Any], is_search: bool, tunes: bool
) -> None:
    content = {"title": "A grid", "controller": "delay_threshold", "networks": ["wire"]}
    study = Study.model_validate({**content, "space": THREE, **changes})
    assert (study.is_grid_search, study.tunes) == (is_search, tunes)


@pytest.mark.parametrize(
    ("name", "changes", "report"),
    [
        ("001-windows", {}, "Report 001"),
        ("001-windows", {"report": "Nguyen 2024"}, "Nguyen 2024"),
        ("windows", {"report": "Nguyen 2024"}, "Nguyen 2024"),
        ("windows", {}, "Report 9, Table 1"),
        ("2019results", {}, "Report 9, Table 1"),
        ("bench", {"kind": "measured"}, "bench"),
    ],
)
def test_a_table_is_cited_by_its_report(name: str, changes: dict[str, Any], report: str) -> None:
    description = TableDescription.model_validate({**TABLE, **changes})
    assert PublishedTable(name, description, []).report == report


def test_own_network_and_trace_come_before_shipped_ones(write: Write) -> None:
    config = write(study={"networks": ["wire"]})
    (config.parent / "networks/contest.yaml").write_text(yaml.safe_dump(NETWORK))
    assert load_network(config, "contest").title == NETWORK["title"]
    (config.parent / "traces.yaml").write_text(f"Verizon-LTE-short.up: {{sha256: {'a' * 64}}}\n")
    assert load_trace_catalogue(config)["Verizon-LTE-short.up"].sha256 == "a" * 64
