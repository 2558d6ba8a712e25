"""The dashboard shows every study, as it grows, and changes none."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.search import dashboard
from kneepoint.search.dashboard import make_dashboard
from kneepoint.search.trial_log import TRIAL_LOG
from tests.search.many_kinds import add, trial


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(dashboard, "_PAUSE_S", 0.0)
    monkeypatch.setattr(dashboard, "_PAUSE", 0)
    add(tmp_path, "a", [trial(0, 1.0), trial(1, 7.0), trial(2, 4.0)])
    with make_dashboard(tmp_path, 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.loads(answer.read())


def test_dashboard_shows_studies_in_progress(served: str, tmp_path: Path) -> None:
    (study,) = get(f"{served}/api/studies")["study_summaries"]
    assert study["study_name"] == "a: The a"
    detail = get(f"{served}/api/studies/{study['study_id']}?after=0")
    assert len(detail["trials"]) == 3
    assert detail["best_trials"][0]["values"] == [7]
    for number in (1, 2):
        add(tmp_path, "b", [trial(each) for each in range(number)])
        _, growing = get(f"{served}/api/studies")["study_summaries"]
        assert growing["study_name"] == "b: The b"
    assert len(get(f"{served}/api/studies/{growing['study_id']}?after=0")["trials"]) == 2


def test_study_has_an_address_that_others_do_not_change(served: str, tmp_path: Path) -> None:
    add(tmp_path, "a-first", [trial(0)])

    def page(folder: str) -> str:
        with urllib.request.urlopen(f"{served}/studies/{folder}", timeout=60) as answer:
            return str(answer.url)

    names = {
        f"{served}/dashboard/studies/{study['study_id']}": study["study_name"]
        for study in get(f"{served}/api/studies")["study_summaries"]
    }
    assert [names[page(folder)] for folder in ("a", "a-first")] == [
        "a: The a",
        "a-first: The a-first",
    ]
    assert page("none") == f"{served}/dashboard/"


def test_pages_show_no_times(served: str) -> None:
    def page(path: str) -> str:
        with urllib.request.urlopen(served + path, timeout=60) as answer:
            whole = answer.read()
            assert len(whole) == int(answer.headers["Content-Length"])
            return str(whole.decode())

    for path in ("/dashboard/", "/dashboard/studies/0"):
        assert "graph-timeline" in page(path).partition("</head>")[0]


def test_dashboard_changes_nothing(served: str, tmp_path: Path) -> None:
    content = (tmp_path / "a" / TRIAL_LOG).read_bytes()
    request = urllib.request.Request(f"{served}/api/studies/0", method="DELETE")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=60)
    assert caught.value.code == 403
    assert b"read-only" in caught.value.read()
    assert (tmp_path / "a" / TRIAL_LOG).read_bytes() == content
    assert len(get(f"{served}/api/studies")["study_summaries"]) == 1


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
            found, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        found, text = error.code, error.read()
    assert found == status
    assert (b"study_name" in text) == (status == 200)


def test_port_that_is_taken_is_named(served: str, tmp_path: Path) -> None:
    port = int(served.rpartition(":")[2])
    with pytest.raises(KneepointError, match=f"port {port} is taken; choose another with --port"):
        make_dashboard(tmp_path, port)
    with pytest.raises(KneepointError, match="port 70000 cannot be used"):
        make_dashboard(tmp_path, 70000)
