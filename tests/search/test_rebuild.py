"""The tables are the record: what is made for Optuna can be made again from them."""

import json
from pathlib import Path

import optuna
import pytest
from optuna.distributions import IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from common.errors import KneepointError
from experiments.results import OBJECTIVES, trials_table, write_summary, write_table
from search.plan import summarise
from search.rebuild import rebuild, rebuild_missing
from search.storage_copy import open_storage
from tests.experiments.fakes import FakeEngine
from tests.search.test_loop import search, study


def trials_in(folder: Path) -> list[tuple[object, ...]]:
    storage = JournalStorage(JournalFileBackend(str(folder / "optuna.journal")))
    (summary,) = optuna.get_all_study_summaries(storage)
    loaded = optuna.load_study(study_name=summary.study_name, storage=storage)
    return [(loaded.directions, t.params, t.values, t.state, t.user_attrs) for t in loaded.trials]


@pytest.mark.parametrize(("name", "further"), [("tpe", ()), ("front", OBJECTIVES)])
def test_study_is_rebuilt_from_its_tables(
    tmp_path: Path, name: str, further: tuple[str, ...]
) -> None:
    planned = study(name)
    folder = tmp_path / "study"
    trials = search(folder, planned, FakeEngine())
    kinds = {
        column: int if isinstance(distribution, IntDistribution) else float
        for column, distribution in planned.space.items()
    }
    write_table(folder / "trials.parquet", trials_table(planned.name, kinds, trials, further))
    write_summary(folder / "study.json", summarise(planned))
    original = trials_in(folder)
    assert len(original) == len(trials) > 20
    (folder / "optuna.journal").unlink()
    assert rebuild_missing(tmp_path) == ["study"]
    assert trials_in(folder) == original
    assert rebuild_missing(tmp_path) == []


def test_study_without_its_table_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text(json.dumps({"searched": [], "direction": "maximize"}))
    with pytest.raises(KneepointError, match=r"trials.parquet: cannot be used"):
        rebuild(tmp_path)


def test_storage_that_is_no_url_or_has_no_driver_is_an_error() -> None:
    with pytest.raises(KneepointError, match="storage: not a URL"):
        open_storage("here")
    with pytest.raises(KneepointError, match=r"storage mysql\+nobody://host/name: "):
        open_storage("mysql+nobody://host/name")
