"""The secret seed of a contest's final links."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Literal, TextIO

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import hold_lock
from kneepoint.engines.base import RunRecord
from kneepoint.entries.entries import Sender
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.scoring import _scored
from kneepoint.tools.contest.secret import FINAL, SEED_FILE, digest_of, disguised, seed_of
from tests.entries.building import link

RULES = "contest.yaml"
SEED = "0123456789abcdef" * 2


def test_a_seed_is_drawn_once_and_is_private(tmp_path: Path) -> None:
    seeds = [seed_of(tmp_path / "one", None, None, RULES) for _ in range(2)]
    assert seeds[0] == seeds[1] != seed_of(tmp_path / "two", None, None, RULES)
    path = tmp_path / "one" / SEED_FILE
    assert path.stat().st_mode & 0o077 == 0
    printed = subprocess.run(["sha256sum", path], check=True, capture_output=True, text=True)
    assert printed.stdout.split()[0] == digest_of(seeds[0])


def test_contests_that_begin_at_once_have_one_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the digest on the first contest's page would belong to no file."""

    def late(path: Path, patience_s: float) -> TextIO:
        (tmp_path / SEED_FILE).write_text(f"{SEED}\n")
        return hold_lock(path, patience_s)

    monkeypatch.setattr("kneepoint.tools.contest.secret.hold_lock", late)
    assert seed_of(tmp_path, None, None, RULES) == SEED
    assert (tmp_path / SEED_FILE).read_text().strip() == SEED


def test_a_published_seed_repeats_a_contest(tmp_path: Path) -> None:
    published = tmp_path / "published.txt"
    published.write_text(SEED)
    assert seed_of(tmp_path / "one", published, digest_of(SEED), RULES) == SEED
    assert seed_of(tmp_path / "one", published, None, RULES) == SEED


def test_wrong_seeds_are_refused(tmp_path: Path) -> None:
    kept, other, none = (tmp_path / name for name in (SEED_FILE, "other.txt", "none.txt"))
    other.write_text(SEED)
    with pytest.raises(KneepointError, match=rf"{RULES}.*secret_sha256"):
        seed_of(tmp_path, None, digest_of(SEED), RULES)
    with pytest.raises(KneepointError, match=rf"{RULES}.*{digest_of(SEED)}"):
        seed_of(tmp_path, other, "0" * 64, RULES)
    assert not kept.exists(), "what is refused leaves nothing"
    with pytest.raises(KneepointError, match=str(none)):
        seed_of(tmp_path, none, None, RULES)
    seed_of(tmp_path, None, None, RULES)
    with pytest.raises(KneepointError, match=f"{other}.*{kept}"):
        seed_of(tmp_path, other, None, RULES)
    kept.write_text("guess me\n")
    with pytest.raises(KneepointError, match=f"{kept}.*32 digits"):
        seed_of(tmp_path, None, None, RULES)


def test_final_links_that_have_changed_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kneepoint.networks.disguise.SHORTEST_MS", 1000)
    network = link(tmp_path, "slow", 6)
    made = disguised(network, SEED, tmp_path, RULES)
    assert made == disguised(network, SEED, tmp_path, RULES)
    assert made.uplink.trace_sha256 != network.uplink.trace_sha256
    path = Path(made.uplink.trace)
    for private in (path, tmp_path / FINAL):
        assert private.stat().st_mode & 0o077 == 0
    path.write_text("1\n2\n")
    with pytest.raises(KneepointError, match=f"{path}.*restore"):
        disguised(network, SEED, tmp_path, RULES)


def test_links_without_a_recording_are_refused(tmp_path: Path) -> None:
    short = link(tmp_path, "slow", 6)
    parameter = replace(short, uplink=replace(short.uplink, trace="", rate_mbps=12))
    for network, word in ((short, "too short"), (parameter, "no trace")):
        with pytest.raises(KneepointError, match=rf"{RULES}: final: slow.*{word}"):
            disguised(network, SEED, tmp_path, RULES)


@pytest.mark.parametrize("status", ["failed", "fault"])
def test_last_words_on_a_final_network_are_kept_back(
    status: Literal["failed", "fault"], tmp_path: Path
) -> None:
    networks = [link(tmp_path, name, 6) for name in ("known", "slow")]
    contest = Contest(title="T", practice=("known",), final=("slow",), disguise=False)
    reasons = {}
    for network in networks:
        record = RunRecord("id", status, "ended; its last words: it saw 5")
        scored = _scored(contest, Sender("a"), {(network.name, 1, 0): record}, networks)
        reasons[network.name] = scored.reason
    assert "it saw 5" in reasons["known"]
    assert "it saw" not in reasons["slow"] and "kept back" in reasons["slow"]
