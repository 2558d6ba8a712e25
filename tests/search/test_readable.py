"""Studies as people read them, on the dashboard and in a database."""

from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState
from optuna_dashboard import get_note  # type: ignore[import-untyped]

from search.readable import ReadableStudies, with_unit
from search.storage_copy import FILE, copy_studies, write_sqlite
from tests.search import many_kinds


@pytest.mark.parametrize(
    ("name", "units", "readable"),
    [
        ("constant_rtt_threshold_ms", {"constant_rtt_threshold_ms": "ms"}, "rtt_threshold (ms)"),
        ("constant_window", {"constant_window": "packets"}, "window (packets)"),
        ("constant_beta", {"constant_beta": ""}, "beta"),
        ("host_latency_us", {}, "host_latency (µs)"),
        ("signal_delay_p95_ms", {}, "signal_delay_p95 (ms)"),
        ("power", {}, "power (Mbit/s/s)"),
        ("utilization", {}, "utilization"),
        ("reason", {}, "reason"),
    ],
)
def test_units_stand_behind_names(name: str, units: dict[str, str], readable: str) -> None:
    assert with_unit(name, units) == readable


def test_studies_have_titles_units_notes_and_all_that_their_files_hold(tmp_path: Path) -> None:
    many_kinds.write(tmp_path)
    storage = ReadableStudies(tmp_path)
    front, raced = storage.get_all_studies()
    assert (front.study_name, raced.study_name) == (
        "front: Throughput against delay",
        "raced: Delay threshold, raced",
    )
    study = optuna.load_study(study_name=raced.study_name, storage=storage)
    assert study.metric_names == ["mean power (Mbit/s/s)"]
    assert study.user_attrs["networks"] == "contest, steady"
    assert study.best_params == {"rtt_threshold (ms)": 10, "alpha (packets)": 1}
    assert study.trials[1].state == TrialState.PRUNED
    assert study.trials[1].intermediate_values == {0: 1.5, 1: 1.25}
    assert study.trials[0].user_attrs["throughput (Mbit/s)"] == 1
    assert storage.get_trial(study.trials[0]._trial_id) == study.trials[0]
    several = optuna.load_study(study_name=front.study_name, storage=storage)
    assert several.metric_names == ["throughput (Mbit/s)", "signal delay (ms)"]
    assert [each.system_attrs["constraints"] for each in several.trials] == [[-10.0], [0.0], [20.0]]
    assert {each.number for each in several.best_trials} == {0, 1}


def test_note_links_to_where_the_report_speaks_of_the_study(tmp_path: Path) -> None:
    many_kinds.write(tmp_path)
    storage = ReadableStudies(tmp_path)

    def note() -> str:
        return str(get_note(optuna.load_study(study_name=name, storage=storage)))

    name = storage.get_all_studies()[1].study_name
    assert "delay_threshold on contest, steady, engine emulator" in note()
    assert "report" not in note()
    (tmp_path / "report.html").write_text('<h2 id="search-raced">Raced</h2>')
    assert "[raced in the report](/report.html#search-raced)" in note()


def test_database_holds_the_same_and_copies_only_what_is_new(tmp_path: Path) -> None:
    many_kinds.write(tmp_path)
    path = write_sqlite(tmp_path)
    assert path == tmp_path / FILE
    assert list(tmp_path.glob(".*")) == []
    source = ReadableStudies(tmp_path)
    target = optuna.storages.RDBStorage(f"sqlite:///{path}")
    for study in source.get_all_studies():
        ours, theirs = (
            optuna.load_study(study_name=study.study_name, storage=each)
            for each in (source, target)
        )
        assert ours.user_attrs == theirs.user_attrs
        assert [(t.params, t.values, t.state, t.system_attrs) for t in ours.trials] == [
            (t.params, t.values, t.state, t.system_attrs) for t in theirs.trials
        ]
    assert copy_studies(source, target) == 0
    (tmp_path / "report.html").write_text("<h2>Only the note of a study changes</h2>")
    assert copy_studies(source, target) == 2
    assert copy_studies(source, target) == 0
    assert len(target.get_all_studies()) == 2
