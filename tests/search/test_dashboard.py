"""The dashboard shows every study, as it grows, and changes none."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import IntDistribution
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, create_trial

from common.errors import KneepointError
from search.all_studies import AllStudies
from search.dashboard import make_dashboard
from search.optuna_journal import OptunaJournal


def trial(window: int) -> FrozenTrial:
    return create_trial(
        params={"window": window}, distributions={"window": IntDistribution(1, 99)}, value=window
    )


def journal(
    results: Path, name: str, direction: StudyDirection = StudyDirection.MAXIMIZE
) -> OptunaJournal:
    (results / name).mkdir(parents=True, exist_ok=True)
    return OptunaJournal(
        results / name / "optuna.journal", name, [direction], {"title": f"The {name}"}
    )


def add(copy: OptunaJournal, *windows: int) -> None:
    for window in windows:
        copy.add(trial(window), {"power": float(window)})


def finished(results: Path, name: str, *windows: int) -> None:
    copy = journal(results, name)
    add(copy, *windows)
    copy.publish()


def windows(storage: AllStudies, name: str) -> list[int]:
    study = optuna.load_study(study_name=name, storage=storage)
    return [each.params["window"] for each in study.trials]


def test_studies_appear_and_grow(tmp_path: Path) -> None:
    storage = AllStudies(tmp_path)
    assert storage.get_all_studies() == []
    copy = journal(tmp_path, "b")
    add(copy, 3)
    assert storage.get_all_studies() == []
    copy.publish()
    assert windows(storage, "b") == [3]
    add(copy, 5, 7)
    assert windows(storage, "b") == [3, 5, 7]
    finished(tmp_path, "a", 9)
    assert [study.study_name for study in storage.get_all_studies()] == ["a", "b"]
    assert windows(storage, "a") == [9]


def test_study_that_is_resumed_keeps_its_id_and_never_shrinks(tmp_path: Path) -> None:
    finished(tmp_path, "a", 1)
    finished(tmp_path, "b", 3, 5)
    storage = AllStudies(tmp_path)
    before = {s.study_name: s._study_id for s in storage.get_all_studies()}
    copy = journal(tmp_path, "b")
    add(copy, 3)
    assert windows(storage, "b") == [3, 5]
    add(copy, 5, 8)
    copy.publish()
    assert windows(storage, "b") == [3, 5, 8]
    study = optuna.load_study(study_name="b", storage=storage)
    assert [each.user_attrs for each in study.trials] == [{"power": w} for w in (3, 5, 8)]
    assert {s.study_name: s._study_id for s in storage.get_all_studies()} == before


def test_ids_of_trials_are_unique_and_lead_back(tmp_path: Path) -> None:
    finished(tmp_path, "a", 1, 2)
    finished(tmp_path, "b", 3, 4)
    storage = AllStudies(tmp_path)
    trials = [
        trial
        for study in storage.get_all_studies()
        for trial in storage.get_all_trials(study._study_id)
    ]
    assert len({each._trial_id for each in trials}) == 4
    for each in trials:
        assert storage.get_trial(each._trial_id).params == each.params
    assert storage.get_best_trial(1).params == {"window": 4}
    with pytest.raises(KeyError):
        storage.get_all_trials(2)


def test_torn_end_of_a_killed_study_does_not_matter(tmp_path: Path) -> None:
    finished(tmp_path, "a", 1, 2)
    path = tmp_path / "a" / "optuna.journal"
    path.write_bytes(path.read_bytes()[:-9])
    assert windows(AllStudies(tmp_path), "a") == [1]


def test_storage_refuses_changes(tmp_path: Path) -> None:
    finished(tmp_path, "a", 1)
    storage = AllStudies(tmp_path)
    study = optuna.load_study(study_name="a", storage=storage)
    for change in (
        lambda: study.ask(),
        lambda: study.set_user_attr("a", 1),
        lambda: optuna.create_study(storage=storage, study_name="new"),
        lambda: optuna.delete_study(study_name="a", storage=storage),
        lambda: storage.set_trial_user_attr(0, "a", 1),
        lambda: storage.set_trial_system_attr(0, "a", 1),
        lambda: storage.set_study_system_attr(0, "a", 1),
        lambda: storage.set_trial_intermediate_value(0, 0, 1.0),
        lambda: storage.set_trial_state_values(0, optuna.trial.TrialState.FAIL),
        lambda: storage.set_trial_param(0, "a", 1.0, IntDistribution(1, 2)),
    ):
        with pytest.raises(PermissionError):
            change()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    finished(tmp_path, "a", 1, 7, 4)
    with make_dashboard(tmp_path, 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.loads(answer.read())


def test_dashboard_shows_studies(served: str, tmp_path: Path) -> None:
    (study,) = get(f"{served}/api/studies")["study_summaries"]
    assert study["study_name"] == "a: The a"
    finished(tmp_path, "b", 2)
    assert len(get(f"{served}/api/studies")["study_summaries"]) == 2
    detail = get(f"{served}/api/studies/{study['study_id']}?after=0")
    assert len(detail["trials"]) == 3
    assert detail["best_trials"][0]["values"] == [7]


def test_dashboard_changes_nothing(served: str, tmp_path: Path) -> None:
    content = (tmp_path / "a" / "optuna.journal").read_bytes()
    request = urllib.request.Request(f"{served}/api/studies/0", method="DELETE")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=60)
    assert caught.value.code == 403
    assert b"read-only" in caught.value.read()
    assert (tmp_path / "a" / "optuna.journal").read_bytes() == content


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 403),
        ("evil.example:8080", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
        ("localhost:9000", 200),  # through a tunnel
        ("LOCALHOST", 200),
        ("127.0.0.1:8080", 200),
    ],
)
def test_dashboard_answers_only_its_own_host(served: str, host: str, status: int) -> None:
    request = urllib.request.Request(f"{served}/api/studies", headers={"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            found, said = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        found, said = error.code, error.read()
    assert found == status
    assert (b"study_name" in said) == (status == 200)


def test_port_that_is_taken_is_named(served: str, tmp_path: Path) -> None:
    port = int(served.rpartition(":")[2])
    with pytest.raises(KneepointError, match=f"port {port} is taken; choose another with --port"):
        make_dashboard(tmp_path, port)
    with pytest.raises(KneepointError, match="port 70000 cannot be used"):
        make_dashboard(tmp_path, 70000)
