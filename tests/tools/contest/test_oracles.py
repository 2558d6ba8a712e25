"""Entries with the final networks' recordings built in."""

import random
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from kneepoint.common.files import sha256_of
from kneepoint.common.json_text import Json
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.collect import find_submissions
from kneepoint.entries.entries import EntryBuilder
from kneepoint.networks.omniscient import omniscient_bound
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from kneepoint.networks.traces import format_trace
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.runner import Runner
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.leaderboard import verdict
from kneepoint.tools.contest.scoring import run_all
from kneepoint.tools.contest.secret import disguised
from tests.controllers.emulator import EMULATE
from tests.tools.contest.oracles.recordings import with_recordings

SEED = "0123456789abcdef" * 2


def recording(folder: Path) -> tuple[PreparedNetwork, list[int]]:
    """A link of 36 s whose opportunities are at random moments."""
    draw = random.Random(7)
    times = list(accumulate(draw.choice((0, 1, 1, 2, 16)) for _ in range(9000)))
    path = folder / "recorded.trace"
    path.write_bytes(format_trace(times))
    side = PreparedLink(str(path), sha256_of(path.read_bytes()), delay_ms=20)
    bound = omniscient_bound(times, times[-1])
    return PreparedNetwork("recorded", side, side, None, "event-loop", 0, bound), times


def test_who_knows_the_recording_loses_most_of_its_gain_on_the_disguise(
    tmp_path: Path, builder: EntryBuilder
) -> None:
    network, times = recording(tmp_path)
    with_recordings(tmp_path / "entries" / "oracle", "recognising", [times])
    entries = [builder.make(each) for each in find_submissions(tmp_path / "entries")]

    def row_on(final: PreparedNetwork) -> Json:
        contest = Contest(title="Test", practice=("practice",), final=("recorded",), runs=1)
        networks = [replace(network, name="practice"), final]
        engine = EmulatorSettings.of(EMULATE)
        with RunJournal(tmp_path / "runs.jsonl") as journal:
            runner = Runner(journal, lambda _: LocalExecutor(engine), lambda _: None)
            scored = run_all(contest, entries, networks, engine, runner)
            runner.close()
        assert not scored[0].reason
        titles = {each.name: each.name for each in networks}
        found = verdict(contest, scored, networks, titles, {})
        row: Json = found["ranking"][0]
        return row

    open_, secret = row_on(network), row_on(disguised(network, SEED, tmp_path, "contest.yaml"))
    assert secret["near_omniscient"] == []
    assert secret["score"] < 0.5 * open_["score"]
