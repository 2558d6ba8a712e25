"""Optuna's storages receive every study of the results, finished or in progress."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import BaseStorage, InMemoryStorage, RDBStorage
from optuna.trial import TrialState
from optuna_dashboard import get_note  # type: ignore[import-untyped]

from kneepoint.common.errors import KneepointError
from kneepoint.common.study_record import BestTrial, StudyRecord
from kneepoint.search.readable import with_unit
from kneepoint.search.storage_copy import FILE, main, open_storage, sync, write_sqlite
from kneepoint.search.study import search
from kneepoint.search.trial_log import TRIAL_LOG
from tests.conftest import ROOT
from tests.experiments.fakes import FakeEngine, followed
from tests.search import many_kinds
from tests.search.many_kinds import add, trial
from tests.search.test_loop import study

SECRET = "s3cret"


def contents(storage: BaseStorage) -> dict[str, Any]:
    loaded = {
        name: optuna.load_study(study_name=name, storage=storage)
        for name in optuna.get_all_study_names(storage)
    }
    kept = ("params", "values", "state", "user_attrs", "intermediate_values", "constraints")
    return {
        name: (
            each.directions,
            each.user_attrs,
            each.metric_names,
            get_note(each),
            [[getattr(trial, of) for of in kept] for trial in each.trials],
        )
        for name, each in loaded.items()
    }


def alphas(storage: BaseStorage, name: str) -> list[float]:
    loaded = optuna.load_study(study_name=f"{name}: The {name}", storage=storage)
    return [each.params["alpha (packets)"] for each in loaded.trials]


def test_studies_have_titles_units_values_and_constraints(tmp_path: Path) -> None:
    many_kinds.write(tmp_path)
    storage = InMemoryStorage()
    assert sync(tmp_path, storage) == 2
    front, raced = (
        optuna.load_study(study_name=name, storage=storage)
        for name in ("front: Throughput against delay", "raced: Delay threshold, raced")
    )
    assert raced.metric_names == ["mean power (Mbit/s/s)"]
    assert raced.user_attrs["networks"] == "contest, steady"
    assert raced.best_params == {"rtt_threshold (ms)": 10, "alpha (packets)": 1}
    assert raced.trials[1].state == TrialState.PRUNED
    assert raced.trials[1].intermediate_values == {0: 1.5, 1: 1.25}
    assert raced.trials[0].user_attrs["throughput (Mbit/s)"] == 1
    assert front.metric_names == ["throughput (Mbit/s)", "signal_delay_p95 (ms)"]
    assert [each.system_attrs["constraints"] for each in front.trials] == [[-10.0], [0.0], [20.0]]
    assert [each.constraints["signal delay"] for each in front.trials] == [-10.0, 0.0, 20.0]
    assert {each.number for each in front.best_trials} == {0, 1}


def test_studies_appear_and_grow_and_those_that_changed_are_replaced(tmp_path: Path) -> None:
    storage = InMemoryStorage()
    add(tmp_path, "b", [])
    assert sync(tmp_path, storage) == 0
    add(tmp_path, "b", [trial(2)])
    add(tmp_path, "a", [trial(0)])
    assert sync(tmp_path, storage) == 2
    add(tmp_path, "b", [trial(2), trial(4)])
    assert sync(tmp_path, storage) == 1
    assert (alphas(storage, "a"), alphas(storage, "b")) == ([1], [3, 5])
    assert sync(tmp_path, storage) == 0
    for trials in ([trial(4)], [trial(4, value=1.0)], [trial(4, value=1.0), trial(6)]):
        add(tmp_path, "b", trials)
        assert sync(tmp_path, storage) == 1
        assert alphas(storage, "b") == [each.searched["parameter_alpha"] for each in trials]
    add(tmp_path, "b", [trial(4)], controller="aimd")
    assert sync(tmp_path, storage) == 1
    assert len(optuna.get_all_study_names(storage)) == 2


def test_no_trial_has_a_time_that_nobody_kept(tmp_path: Path) -> None:
    many_kinds.write(tmp_path)
    memory, file = InMemoryStorage(), RDBStorage(f"sqlite:///{write_sqlite(tmp_path)}")
    sync(tmp_path, memory)
    for storage in (memory, file):
        for name in optuna.get_all_study_names(storage):
            for each in optuna.load_study(study_name=name, storage=storage).trials:
                assert (each.datetime_start, each.datetime_complete) == (None, None)


def test_a_replay_is_no_study_that_maximises(tmp_path: Path) -> None:
    storage = InMemoryStorage()
    add(tmp_path, "replayed", [trial(0)], table="001-aimd")
    add(tmp_path, "searched", [trial(0)], table=None)
    assert sync(tmp_path, storage) == 1
    assert optuna.get_all_study_names(storage) == ["searched: The searched"]


def test_the_best_has_its_fresh_value_as_soon_as_the_study_ends(tmp_path: Path) -> None:
    storage = InMemoryStorage()
    add(tmp_path, "a", [trial(0, 63.8), trial(1, 60.0)])

    def told() -> tuple[int, str, str]:
        sync(tmp_path, storage)
        name = "a: The a"
        study = optuna.load_study(study_name=name, storage=storage)
        number = storage.get_study_id_from_name(name)
        return number, study.user_attrs["the best"], str(get_note(study))

    number, best, note = told()
    assert "selection" in best and best in note and "fresh" not in best
    best_trial = BestTrial(0, 62.27, {}, {}, 63.8, 61.6, 62.93, 30)
    record = asdict(StudyRecord("The a", "mean power", 1, 2, best_trial))
    (tmp_path / "a/study.json").write_text(json.dumps(record))
    later, best, note = told()
    assert later == number  # its page keeps its address
    assert "62.27 [61.6, 62.93]" in best and "63.8" not in best and best in note
    (tmp_path / "a/study.json").write_text(json.dumps({**record, "n_trials": 40}))
    assert "62.27" not in told()[1]  # the study has begun anew


@pytest.mark.parametrize(
    ("name", "unit", "shown"),
    [
        ("parameter_gain", "1", "gain"),
        ("parameter_once", "0 or 1", "once"),
        ("parameter_rtt_threshold_ms", "ms", "rtt_threshold (ms)"),
        ("parameter_alpha", "packets/RTT", "alpha (packets/RTT)"),
        ("power", "", "power (Mbit/s/s)"),
        ("parameter_rate_per_s", "", "rate (1/s)"),
    ],
)
def test_a_plain_number_has_no_unit(name: str, unit: str, shown: str) -> None:
    assert with_unit(name, {name: unit} if unit else {}) == shown


def test_what_has_one_value_is_not_searched(tmp_path: Path) -> None:
    storage = InMemoryStorage()
    ranges = (("parameter_alpha", 0.1, 100.0), ("parameter_rtt_threshold_ms", 10.0, 10.0))
    searched = [{"column": c, "low": low, "high": high, "log": False} for c, low, high in ranges]
    add(tmp_path, "a", [trial(0)], searched=searched)
    sync(tmp_path, storage)
    (only,) = optuna.load_study(study_name="a: The a", storage=storage).trials
    assert only.params == {"alpha (packets)": 1}


def test_torn_end_of_a_log_does_not_matter_and_damage_is_named(tmp_path: Path) -> None:
    add(tmp_path, "a", [trial(0), trial(1)])
    path = tmp_path / "a" / TRIAL_LOG
    path.write_bytes(path.read_bytes()[:-9])
    storage = InMemoryStorage()
    sync(tmp_path, storage)
    assert alphas(storage, "a") == [1]
    for content in ("{\n", '{}\n{"number": 1}\n', "7\n7\n"):
        path.write_text(content)
        with pytest.raises(KneepointError, match=TRIAL_LOG):
            sync(tmp_path, storage)


@pytest.mark.parametrize("name", ["tpe", "front", "race", "bounded"])
def test_log_of_a_search_and_its_tables_hold_the_same_trials(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "study"
    outcome, _ = followed(folder, search(folder, study(name)), FakeEngine())
    outcome.write(folder)

    def trials() -> list[list[Any]]:
        storage = InMemoryStorage()
        assert sync(tmp_path, storage) == 1
        ((directions, *_, trials),) = contents(storage).values()
        return [[directions, *each[1:4], each[5], *each[0].values()] for each in trials]

    from_log = trials()
    (folder / TRIAL_LOG).unlink()
    assert trials() == from_log
    assert len(from_log) > 20


def test_note_links_to_where_the_report_speaks_of_the_study(tmp_path: Path) -> None:
    many_kinds.write(tmp_path)
    storage = InMemoryStorage()

    def note() -> str:
        sync(tmp_path, storage)
        return str(contents(storage)["raced: Delay threshold, raced"][3])

    assert "delay_threshold on contest, steady, engine emulator" in note()
    assert "report" not in note()
    (tmp_path / "report.html").write_text('<h2 id="search-raced">Raced</h2>')
    assert "[raced in the report](/report.html#search-raced)" in note()


def test_file_holds_the_same_and_receives_only_what_is_new(tmp_path: Path) -> None:
    many_kinds.write(tmp_path)
    path = write_sqlite(tmp_path)
    assert path == tmp_path / FILE
    assert list(tmp_path.glob(".*")) == []
    source, target = InMemoryStorage(), RDBStorage(f"sqlite:///{path}")
    sync(tmp_path, source)
    assert contents(source) == contents(target)
    assert sync(tmp_path, target) == 0
    (tmp_path / "report.html").write_text("<h2>Only the note of a study changes</h2>")
    assert sync(tmp_path, target) == 2
    assert sync(tmp_path, target) == 0
    assert write_sqlite(tmp_path) == path


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://bob:{SECRET}@[::1/db",
        f"postgresql://bob:{SECRET}@host:port/db",
        f"bob:{SECRET}@host/db",
        f"nosuch://bob:{SECRET}@host/db",
        f"nosuch://host/db?password={SECRET}",
        f"nosuch://bob:begins@{SECRET}@host/db",
        f"sqlite:///absent/{{}}/db?password={SECRET}",
        f"sqlite:////absent/db?{SECRET}=1&timeout={SECRET}",
        "here",
        "mysql+nobody://host/name",
    ],
)
def test_unusable_storage_is_one_line_without_secrets(url: str) -> None:
    with pytest.raises(KneepointError, match=r"^storage.*correct") as raised:
        open_storage(url)
    assert SECRET not in str(raised.value)


def test_the_file_is_of_the_project_wherever_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.yaml").write_text("seed: 1\n")
    many_kinds.write(tmp_path / "results")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["copy", "--config", str(tmp_path / "config.yaml")])
    main()
    storage = RDBStorage(f"sqlite:///{tmp_path / 'results' / FILE}")
    assert len(optuna.get_all_study_names(storage)) == 2
