"""The tables are the record: what is made for Optuna can be made again from them."""

import json
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from common.errors import KneepointError
from experiments.results import trials_table, write_summary, write_table
from search.plan import summarise
from search.rebuild import rebuild, rebuild_missing
from search.storage_copy import open_storage
from tests.experiments.fakes import FakeEngine, network, plan
from tests.search.test_loop import search


def trials_in(folder: Path) -> list[tuple[object, ...]]:
    storage = JournalStorage(JournalFileBackend(str(folder / "optuna.journal")))
    (study,) = optuna.get_all_study_summaries(storage)
    loaded = optuna.load_study(study_name=study.study_name, storage=storage)
    return [
        (loaded.direction, t.params, t.distributions, t.value, t.state, t.user_attrs)
        for t in loaded.trials
    ]


def test_study_is_rebuilt_from_its_tables(tmp_path: Path) -> None:
    planned = plan(
        {},
        [network("wire")],
        controller="delay_threshold",
        space={"alpha": {"low": 0.1, "high": 10, "log": True}, "beta": {"low": 1, "high": 4}},
        sampler={"kind": "tpe", "trials": 12},
    )
    tmp_path = tmp_path / "study"
    trials = search(tmp_path, planned, FakeEngine())
    write_table(
        tmp_path / "trials.parquet",
        trials_table(planned.name, dict.fromkeys(planned.space, float), trials),
    )
    write_summary(tmp_path / "study.json", summarise(planned))
    original = trials_in(tmp_path)
    assert len(original) == 12
    (tmp_path / "optuna.journal").unlink()
    assert rebuild_missing(tmp_path.parent) == ["study"]
    assert trials_in(tmp_path) == original
    assert rebuild_missing(tmp_path.parent) == []


def test_study_without_its_table_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text(json.dumps({"searched": [], "direction": "maximize"}))
    with pytest.raises(KneepointError, match=r"trials.parquet: cannot be used"):
        rebuild(tmp_path)


def test_storage_that_is_no_url_or_has_no_driver_is_an_error() -> None:
    with pytest.raises(KneepointError, match="storage: not a URL"):
        open_storage("here")
    with pytest.raises(KneepointError, match=r"storage mysql\+nobody://host/name: "):
        open_storage("mysql+nobody://host/name")
