"""From a folder of entries to a leaderboard: its content, and the reuse of earlier work."""

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import MachineFaultError, RunRecord, RunSpec
from kneepoint.engines.emulator import EmulatorEngine
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder
from kneepoint.tools.contest.run import JSON, KEY, PAGE, ContestRun, watch
from tests.entries.trees import (
    PYTHON_CLASS,
    PYTHON_SENDER,
    before_2017,
    check_delays,
    crashing,
    edit,
    flat_2013,
    kit,
    with_argument,
)
from tests.tools.contest.conftest import make_contest_run

Shared = tuple[ContestRun, Path]
RANKED = ["bob", "carl", "anna"]
"""Windows 12, 40 and 5: the first keeps the links busy, and the second their queues."""


SILENT = """
class Controller:
    window = 10
    def window_size(self): return self.window
    def timeout_ms(self): return 100_000
    def datagram_was_sent(self, number, time, after_timeout): pass
    def ack_received(self, number, sent, received, time): self.window = 0
"""
TELLING = """
class Controller:
    heard = 0
    def window_size(self): return 40
    def timeout_ms(self): return 100
    def datagram_was_sent(self, number, time, after_timeout): pass
    def ack_received(self, number, sent, received, time):
        self.heard += 1
        if time > 3500 and self.heard < FEWEST: raise SystemExit(f"it saw {self.heard}")
"""


def silent(line: str) -> None:
    del line


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out the figures, which take most of the time."""
    monkeypatch.setattr(ContestRun, "_draw_runs", lambda *_: {})
    monkeypatch.setattr("kneepoint.tools.contest.run.draw_figures", lambda *_: {})


@pytest.fixture
def entries(tmp_path: Path) -> Path:
    return write_entries(tmp_path / "entries")


def write_entries(folder: Path) -> Path:
    kit(folder / "anna", 5)
    before_2017(folder / "bob")
    kit(folder / "carl", 40)
    return folder


@pytest.fixture(scope="module")
def shared(builder: EntryBuilder, tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """A contest and its entries, for tests that differ only in rules: its runs are made once."""
    folder = tmp_path_factory.mktemp("shared")
    return make_contest_run(folder, builder), write_entries(folder / "entries")


def ruled(contest_run: ContestRun, **rules: object) -> ContestRun:
    """Returns the same contest with some changed rules."""
    return replace(contest_run, contest=contest_run.contest.model_copy(update=rules))


def ranked(found: dict[str, Any]) -> list[str]:
    return [row["name"] for row in found["ranking"]]


def test_entries_are_built_run_and_ranked_once(
    contest_run: ContestRun, entries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # here with figures
    found = contest_run.score(entries, silent)
    assert ranked(found) == RANKED
    assert [row["rank"] for row in found["ranking"]] == [1, 2, 3]
    assert [row["name"] for row in found["baselines"]] == ["fixed_window 20"]
    first = found["ranking"][0]
    assert first["networks"]["known"]["power"] > found["ranking"][2]["networks"]["known"]["power"]
    ratios = {(pair["a"], pair["b"]): pair["ratio"] for pair in found["pairs"]}
    assert len(ratios) == 3 and ratios["bob", "carl"] > 1 > ratios["anna", "bob"]
    assert found["failed"] == []
    assert json.loads((contest_run.folder / JSON).read_text()) == found
    page = (contest_run.folder / PAGE).read_text()
    assert "bob</strong> leads" in page and 'href="http' not in page and "src=" not in page
    assert page.count("<details>") == 4, "a run of each over time"
    board = (contest_run.folder / JSON).read_bytes()

    def refuse(*_: object) -> RunRecord:
        raise AssertionError("a run was repeated")

    monkeypatch.setattr(EmulatorEngine, "run", refuse)
    contest_run.score(entries, silent)
    assert (contest_run.folder / JSON).read_bytes() == board


def test_an_interrupted_contest_goes_on(
    contest_run: ContestRun, entries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[RunSpec] = []
    run = EmulatorEngine.run

    def interrupt(engine: EmulatorEngine, spec: RunSpec) -> RunRecord:
        if len(made) == 7:
            raise KneepointError("the machine stops here")
        made.append(spec)
        return run(engine, spec)

    with monkeypatch.context() as patch:
        patch.setattr(EmulatorEngine, "run", interrupt)
        with pytest.raises(KneepointError, match="stops here"):
            contest_run.score(entries, silent)
    count = len(made)

    def count_run(engine: EmulatorEngine, spec: RunSpec) -> RunRecord:
        made.append(spec)
        return run(engine, spec)

    monkeypatch.setattr(EmulatorEngine, "run", count_run)
    assert len(ranked(contest_run.score(entries, silent))) == 3
    assert len(made) <= 4 * 3 * 2 + 3 + 2, "at most those in progress were lost"
    assert count == 7


def test_silence_wins_nothing(contest_run: ContestRun, entries: Path) -> None:
    """One burst and then silence: mahimahi's signal delay ends with the burst, the contest's does
    not."""
    (entries / "dora").mkdir()
    (entries / "dora/sender.py").write_text(SILENT)
    found = contest_run.score(entries, silent)
    row = next(row for row in found["ranking"] if row["name"] == "dora")
    for network in ("slow", "fast"):
        own = row["networks"][network]
        assert own["signal_delay_p95_ms"] < 300 and own["age_p95_ms"] > 3500
    assert row["rank"] == 4 and row["score"] < 0.001 * found["ranking"][0]["score"]


def test_an_entry_cannot_tell_what_it_saw_of_a_final_network(
    contest_run: ContestRun, entries: Path
) -> None:
    for name, window in (("known", 2000), ("slow", 700)):
        (entries / name).mkdir()
        (entries / name / "sender.py").write_text(TELLING.replace("FEWEST", str(window)))
    found = contest_run.score(entries, silent)
    reasons = {row["name"]: row["reason"] for row in found["failed"]}
    assert reasons["known"].startswith("on known") and "it saw" in reasons["known"]
    assert reasons["slow"].startswith("on slow") and "kept back" in reasons["slow"]
    texts = [
        path.read_text()
        for path in (contest_run.folder / "feedback/slow").iterdir()
        if path.is_file()
    ]
    assert [text for text in (reasons["slow"], *texts) if "it saw" in text] == []


@pytest.mark.slow
def test_every_entry_is_ranked_or_apart_or_named_with_its_reason(
    contest_run: ContestRun, entries: Path
) -> None:
    (entries / "python").mkdir()
    (entries / "python/sender.py").write_text(PYTHON_CLASS)  # with bob's window
    crashing(entries / "crashes")
    with_argument(entries / "usage")
    declared = with_argument(entries / "declared")
    (declared / "kneepoint.yaml").write_text("author: Dora\narguments: [debug, '7']\n")
    edit(
        kit(entries / "receiver", 1) / "datagrump/receiver.cc",
        "acknowledged = 0;; ++acknowledged",
        "acknowledged = 7;; ++acknowledged",
    )
    edit(kit(entries / "typo") / "datagrump/controller.cc", "return WINDOW;", "return WINDOWS;")
    edit(kit(entries / "missing") / "datagrump/sender.cc", "poller.wait(", "poller.sleep(")
    (entries / "empty").mkdir()
    (entries / "broken.zip").write_bytes(b"PK\x03\x04")
    (entries / "link").symlink_to(entries / "anna")
    (entries / "script").mkdir()
    (entries / "script/sender.py").write_text(PYTHON_SENDER)  # sends nothing
    (entries / "macro").mkdir()
    (entries / "macro/sender.py").write_text(PYTHON_CLASS)
    (entries / "macro/kneepoint.yaml").write_text(
        "parameters: {window: {macro: WINDOW, default: 3, range: [1, 9]}}"
    )
    wrong = kit(entries / "wrong")
    (wrong / "kneepoint.yaml").write_text("parameters: {window: {default: 3, range: [1, 9]}}")
    found = contest_run.score(entries, silent)
    rows = {row["name"]: row for row in found["ranking"]}
    assert rows.keys() == {*RANKED, "python", "declared"}
    assert rows["python"]["networks"] == rows["bob"]["networks"]
    assert rows["declared"]["author"] == "declared", "whatever it says itself"
    assert [row["name"] for row in found["apart"]] == ["receiver"]
    reasons = {row["name"]: row["reason"] for row in found["failed"]}
    assert "datagrump/controller.cc" in reasons["typo"] and "WINDOWS" in reasons["typo"]
    assert "has no member named" in reasons["missing"]
    assert reasons["empty"].startswith("has no sender")
    assert reasons["broken"].startswith("the archive is damaged")
    assert reasons["link"].startswith("is a symbolic link")
    assert "ended by itself" in reasons["script"]
    assert reasons["crashes"].startswith("on known with seed 1: ") and "ABRT" in reasons["crashes"]
    assert "Usage: sender HOST PORT" in reasons["usage"]
    assert "WINDOW: Python has no macros" in reasons["macro"]
    assert reasons["wrong"].startswith("kneepoint.yaml: parameters.window: needs exactly one of")
    messages = {row["name"]: row["message"] for row in found["failed"]}
    assert "WINDOWS" in messages["typo"] and "kneepoint-" not in messages["typo"]
    assert not list(entries.rglob("*.o")), "nothing is left in the entries"


def test_the_history_has_all_submissions_of_an_author(
    contest_run: ContestRun, entries: Path
) -> None:
    contest_run.score(entries, silent)
    shutil.rmtree(entries / "carl")
    kit(entries / "carl", 8)
    kit(entries / "dora@2", 6)
    kit(entries / "dora@10", 7)
    found = contest_run.score(entries, silent)
    history = [(row["author"], row["number"], row["name"]) for row in found["history"]]
    assert history == [
        ("anna", 1, "anna"),
        ("bob", 1, "bob"),
        ("carl", 1, "carl"),
        ("carl", 2, "carl"),
        ("dora", 1, "dora@2"),
        ("dora", 2, "dora@10"),
    ]
    assert "dora@2" not in ranked(found) and "dora@10" in ranked(found)
    assert [row["name"] for row in found["earlier"]] == ["dora@2"]
    again = contest_run.score(entries, silent)
    assert again["history"] == found["history"]


def test_the_latest_that_runs_is_ranked(contest_run: ContestRun, entries: Path) -> None:
    shutil.make_archive(str(entries / "bob"), "zip", kit(entries.parent / "bob", 14))
    kit(entries / "carl@2", 30)
    (entries / "anna.zip").write_bytes(b"PK\x03\x04")
    for name, arrived_s in (("bob.zip", 2e9), ("carl@2", 1e9), ("anna.zip", 2e9)):
        for path in [entries / name, *(entries / name).rglob("*")]:
            os.utime(path, (arrived_s, arrived_s))
    found = contest_run.score(entries, silent)
    assert set(ranked(found)) == {"anna", "bob.zip", "carl"}
    replaced = {row["name"]: row["replaced_by"] for row in found["earlier"]}
    assert replaced == {"bob": "bob.zip", "carl@2": "carl"}
    assert [row["name"] for row in found["failed"]] == ["anna.zip"]


def test_what_arrives_is_scored_when_it_is_whole(tmp_path: Path) -> None:
    entries = tmp_path / "entries"
    (entries / "anna").mkdir(parents=True)
    looks: list[int] = []
    scored: list[int] = []

    def next_look() -> bool:
        """A second entry arrives in two parts, at the second and third inspection."""
        looks.append(len(looks))
        if len(looks) in (2, 3):
            (entries / "bob").mkdir(exist_ok=True)
            (entries / "bob" / f"{len(looks)}.cc").write_text("x")
        return len(looks) == 8

    watch(entries, lambda: scored.append(len(looks)), 0, next_look)
    assert scored == [1, 4], "once what was there, once what had come whole"


def test_a_folder_without_entries_is_refused(contest_run: ContestRun, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(KneepointError, match="empty: contains no entry"):
        contest_run.score(tmp_path / "empty", silent)


@pytest.mark.skipif("rdrand" not in Path("/proc/cpuinfo").read_text(), reason="no rdrand")
def test_an_entry_with_another_score_for_the_same_seed_is_not_ranked(
    contest_run: ContestRun, entries: Path
) -> None:
    controller = kit(entries / "dice") / "datagrump/controller.cc"
    edit(controller, "#define WINDOW 50", "static unsigned drawn = 10;\n#define WINDOW drawn")
    edit(
        controller,
        "timestamp_ack_received) {",
        """timestamp_ack_received) {
  __asm__ volatile("rdrand %0" : "=r"(drawn));
  static const unsigned least = 3 + drawn % 400;  // a window for the run, or the queue hides it
  drawn = least + drawn % 40;""",
    )
    found = contest_run.score(entries, silent)
    assert ranked(found) == RANKED
    (row,) = found["failed"]
    assert row["name"] == "dice" and not row["is_disturbed"]
    one, other = re.findall(r"\d+\.\d+", row["reason"])
    assert one != other and re.match(r"on (known|slow|fast) with seed [12]:", row["reason"])
    assert contest_run.score(entries, silent)["failed"] == found["failed"], "both runs are kept"


def test_the_key_draws_the_run_that_is_repeated(
    contest_run: ContestRun, entries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeated: list[tuple[str, str, int]] = []
    run = EmulatorEngine.run

    def note(engine: EmulatorEngine, spec: RunSpec) -> RunRecord:
        if spec.repetition:
            repeated.append((spec.controller, spec.network.name, spec.seed))
        return run(engine, spec)

    monkeypatch.setattr(EmulatorEngine, "run", note)
    contest_run.folder.mkdir()
    for key in range(6):
        (contest_run.folder / KEY).write_text(f"{key}\n")
        contest_run.score(entries, silent)
    for name in RANKED:
        own = [each[1:] for each in repeated if each[0] == name]
        assert len(set(own)) > 1, "another key draws another run"
    assert {network for _, network, _ in repeated} == {"known", "slow", "fast"}
    assert {seed for _, _, seed in repeated} == {1, 2}


def test_an_interrupted_contest_keeps_its_key(contest_run: ContestRun, entries: Path) -> None:
    contest_run.score(entries, silent)
    key = (contest_run.folder / KEY).read_bytes()
    for private in (KEY, "runs.jsonl"):
        assert (contest_run.folder / private).stat().st_mode & 0o077 == 0
    contest_run.score(entries, silent)
    assert (contest_run.folder / KEY).read_bytes() == key


@pytest.mark.slow
def test_faults_of_the_machine_are_no_verdict(
    contest_run: ContestRun, entries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry with a fault in every run has a row, and the other entries are scored."""
    expected = contest_run.score(entries, silent)
    run = EmulatorEngine.run

    def disturb(engine: EmulatorEngine, spec: RunSpec) -> RunRecord:
        if spec.controller == "dora" and spec.network.name != "known":
            raise MachineFaultError("the sender was ended by SIGKILL", is_final=True)
        return run(engine, spec)

    kit(entries / "dora", 9)
    with monkeypatch.context() as patch:
        patch.setattr(EmulatorEngine, "run", disturb)
        found = contest_run.score(entries, silent)
    (row,) = found["failed"]
    assert row["is_disturbed"] and "SIGKILL" in row["reason"] and "again" in row["reason"]
    assert found["ranking"] == expected["ranking"] and found["history"] == expected["history"]
    again = contest_run.score(entries, silent)
    assert again["failed"] == [] and "dora" in ranked(again)


def test_an_entry_cannot_take_a_baselines_name(contest_run: ContestRun, entries: Path) -> None:
    kit(entries / "fixed_window 20")
    found = contest_run.score(entries, silent)
    assert ranked(found) == RANKED and len(found["baselines"]) == 1
    (row,) = found["failed"]
    assert "baseline" in row["reason"] and row["name"] != "fixed_window 20"


def test_the_score_on_another_host_is_shown(shared: Shared) -> None:
    contest_run, entries = shared
    """The score equals the score of a contest on that host."""
    found = ruled(contest_run, other_host_latency_us=20_000).score(entries, silent)
    there = replace(
        ruled(contest_run, runs=1),
        networks=[each.with_host("host_latency_us", 20_000) for each in contest_run.networks],
        folder=contest_run.folder.with_name("there"),
    ).score(entries, silent)
    scores = {row["name"]: row["score"] for row in there["ranking"]}
    assert {row["name"]: row["other_host_score"] for row in found["ranking"]} == scores
    assert all(row["score"] != scores[row["name"]] for row in found["ranking"])
    page = (contest_run.folder / PAGE).read_text()
    assert "600 us" in page and "20000 us" in page


def test_late_submissions_are_marked(contest_run: ContestRun, entries: Path) -> None:
    for path in [entries / "bob", *(entries / "bob").rglob("*")]:
        os.utime(path, (1.8e9, 1.8e9))
    found = ruled(contest_run, deadline="2027-01-15T08:59:59+01:00").score(entries, silent)
    late = {row["name"]: (row["late"], row["arrived"]) for row in found["ranking"]}
    assert late["bob"] == (True, "2027-01-15T08:00:00+00:00")
    assert not late["anna"][0] and not late["carl"][0]
    found = ruled(contest_run, deadline="2027-01-15T08:00:00Z").score(entries, silent)
    assert not any(row["late"] for row in found["ranking"])


def test_a_seed_that_was_revealed_stays_on_the_page(contest_run: ContestRun, entries: Path) -> None:
    kept = replace(contest_run, secret="0" * 32)
    shown = [
        replace(kept, is_revealed=is_revealed).score(entries, silent)["secret_seed"]
        for is_revealed in (False, True, False)
    ]
    assert shown == [None, kept.secret, kept.secret]
    assert kept.secret in (kept.folder / PAGE).read_text()
    again = replace(kept, secret="1" * 32)  # another contest in this folder
    assert again.score(entries, silent)["secret_seed"] is None


def test_aliases_stand_for_names(contest_run: ContestRun, entries: Path) -> None:
    kit(entries / "anna@2", 6)
    edit(kit(entries / "typo") / "datagrump/controller.cc", "return WINDOW;", "return Anna;")
    key = entries.parent / "key.csv"
    key.write_text("author,alias\nbob,Rubidium\n")
    found = replace(contest_run, key=key).score(entries, silent)
    aliases = dict(line.split(",") for line in key.read_text().splitlines())
    assert set(aliases) == {"author", "anna", "bob", "carl", "typo"}
    assert "Rubidium" in ranked(found) and len(set(aliases.values())) == 5
    published = (contest_run.folder / JSON).read_text() + (contest_run.folder / PAGE).read_text()
    for name in ("anna", "Anna", "bob", "carl", "typo"):
        assert name not in published.replace("Comic Sans", ""), name
    again = replace(contest_run, key=key).score(entries, silent)
    assert again == found
    feedback = (contest_run.folder / "feedback/typo/feedback.html").read_text()
    assert "Anna" in feedback, "entrants see their compiler's message"


def test_feedback_has_gradescopes_format(contest_run: ContestRun, entries: Path) -> None:
    (entries / "broken.zip").write_bytes(b"PK\x03\x04")
    found = contest_run.score(entries, silent)
    folder = contest_run.folder / "feedback"
    assert {each.name for each in folder.iterdir()} == {"anna", "bob", "carl", "broken"}
    for row in found["ranking"]:
        results = json.loads((folder / row["name"] / "results.json").read_text())
        assert results["score"] == row["score"]
        board = {line["name"]: line["value"] for line in results["leaderboard"]}
        assert board == {"power": row["score"], "rank": row["rank"]}
        assert f"rank {row['rank']} of 3" in results["output"]
        page = (folder / row["name"] / "feedback.html").read_text()
        others = set(RANKED) - {row["name"]}
        assert row["name"] in page and not any(f">{other}<" in page for other in others)
    results = json.loads((folder / "broken/results.json").read_text())
    assert results["score"] == 0 and "damaged" in results["output"]


def test_a_host_without_a_sandbox_is_refused() -> None:
    with pytest.raises(KneepointError, match="cannot be confined on this host"):
        Confined(Path("/bin/false")).check()
    Confined(None).check()


@pytest.mark.slow
def test_datagrams_of_2013_have_their_receiver(contest_run: ContestRun, entries: Path) -> None:
    """Both clocks count from the date in the tree, so that their difference is a delay."""
    for name, epoch, latest_ms in (
        *(("flat", "1362700000000", 1000), ("hasty", "1362700000000", 1)),
        *(("later", "1'400'000'000 * 1000ULL", 1000), ("plain", "0", 1000)),
    ):
        check_delays(flat_2013(entries / name, epoch), latest_ms)
    found = contest_run.score(entries, silent)
    assert {row["name"]: "SIGABRT" in row["reason"] for row in found["failed"]} == {"hasty": True}
    assert {*RANKED, "flat", "later", "plain"} <= set(ranked(found))
