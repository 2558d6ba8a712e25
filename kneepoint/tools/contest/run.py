"""Makes a leaderboard from a folder of submissions.

Built entries, runs, figures and the history stay in the contest's folder: a repeated contest
builds, runs and draws only new entries, and an interrupted contest resumes.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kneepoint.common.files import (
    LOCK_PATIENCE_S,
    hold_lock,
    private_folder,
    read_json,
    sha256_of,
    write_whole,
)
from kneepoint.common.json_text import Json
from kneepoint.common.made_by import current_commit
from kneepoint.engines.base import EngineSettings, canonical_json
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.replay import NoSenderError
from kneepoint.entries.behaviour import watch as watch_sender
from kneepoint.entries.collect import find_submissions, state_of
from kneepoint.entries.entries import EntryBuilder, Sender, failed, is_of_machine
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.reports.over_time import run_and_draw
from kneepoint.runs.executor import Executor, LocalExecutor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.progress import Progress
from kneepoint.runs.runner import Runner
from kneepoint.runs.slots import SlotExecutor, slots_of
from kneepoint.search.behaviour import Known
from kneepoint.tools.contest.aliases import anonymous, authors_in, complete_key
from kneepoint.tools.contest.config import IN_FLIGHT, Contest
from kneepoint.tools.contest.feedback import write_feedback
from kneepoint.tools.contest.figures import draw_figures, thinned
from kneepoint.tools.contest.history import with_history
from kneepoint.tools.contest.leaderboard import verdict
from kneepoint.tools.contest.page import write_page
from kneepoint.tools.contest.scoring import is_repeated, run_all, run_on_other_host
from kneepoint.tools.contest.secret import digest_of, kept_secret

JSON, PAGE, FEEDBACK = "leaderboard.json", "leaderboard.html", "feedback"
KEY = "repeated.key"
_DPI = 110
"""Resolution of images in figures of runs: a page has one such figure per entry."""


@dataclass(frozen=True)
class ContestRun:
    """A contest, ready to score entries.

    Args:
        contest: its rules.
        networks: its prepared networks.
        titles: titles of the networks, by name.
        baselines: our controllers.
        engine: of the runs.
        builder: of the entries.
        folder: of the contest's results.
        results: folder of the configuration's results; a probe may have found real-time slots.
        known: rules with which the behaviour of entries is compared; may be empty.
        secret: the seed that disguises the final networks; "" without disguise.
        is_revealed: whether the page shows the seed; once shown, it always does.
        key: file of the authors' aliases; None: authors are named.
    """

    contest: Contest
    networks: Sequence[PreparedNetwork]
    titles: Mapping[str, str]
    baselines: Sequence[Sender]
    engine: EngineSettings
    builder: EntryBuilder
    folder: Path
    results: Path
    known: Sequence[Known] = ()
    secret: str = ""
    is_revealed: bool = False
    key: Path | None = None

    def score(self, entries: Path, report: Callable[[str], None]) -> Json:
        """Builds, runs and ranks the entries in a folder; returns the leaderboard.

        Raises:
            KneepointError: the folder has no entries, another process runs this contest, or the
                machine prevented a run from finishing.
        """
        submissions = find_submissions(entries, [each.name for each in self.baselines])
        for each in submissions:
            if each.remark:
                report(f"{each.name}: {each.author!r} {each.remark}")
        with hold_lock(self.folder / ".lock", LOCK_PATIENCE_S):
            submitted = self.builder.make_all(
                submissions,
                lambda made: report(f"{made.name}: {made.reason or 'built'}"),
            )
            everyone = [*submitted, *self.baselines]
            with self._runner(everyone) as runner:
                key = kept_secret(self.folder / KEY).encode()
                scored = run_all(self.contest, everyone, self.networks, self.engine, runner, key)
                on_other_host = run_on_other_host(
                    self.contest, scored, self.networks, self.engine, runner, key
                )
            try:
                return self._publish(scored, on_other_host, self.folder)
            except Exception as error:
                if is_of_machine(error):
                    raise
                sound = self._sound(scored)
                if sound == scored:
                    raise
                return self._publish(sound, on_other_host, self.folder)

    def _publish(
        self, scored: Sequence[Sender], on_other_host: Mapping[str, float], into: Path
    ) -> Json:
        """Writes leaderboard, page and feedback of entries that ran; returns the leaderboard."""
        found = verdict(self.contest, scored, self.networks, self.titles, on_other_host)
        if self.secret:
            found["secret_sha256"] = digest_of(self.secret)
            is_public = self.is_revealed or self._has_revealed()
            found["secret_seed"] = self.secret if is_public else None
        self._say_behaviour(found, scored)
        runs = self._draw_runs(scored)
        write_feedback(found, runs, into / FEEDBACK, self._made_of())
        found = with_history(found, self.contest, into / "history.jsonl")
        if self.key is not None:
            found, names = anonymous(found, complete_key(self.key, authors_in(found)))
            runs = {names.get(name, name): path for name, path in runs.items()}
        figures = draw_figures(found, into / "figures")
        page = write_page(found, runs, figures, self._made_of())
        write_whole(into / PAGE, page)
        write_whole(into / JSON, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        return found

    def _has_revealed(self) -> bool:
        with suppress(OSError, ValueError, AttributeError):  # not published yet
            return bool(read_json(self.folder / JSON).get("secret_seed") == self.secret)
        return False

    def _sound(self, scored: Sequence[Sender]) -> list[Sender]:
        """Replaces each entry whose page cannot be made by a failed row that gives the reason.

        An entry is left out if its failed row cannot be made either.
        """
        kept = [each for each in scored if each.is_baseline]
        self._try_to_publish(kept)
        for entry in scored[: len(scored) - len(kept)]:
            try:
                self._try_to_publish([*kept, entry])
                kept.append(entry)
            except Exception as error:
                row = failed(replace(entry, records={}, scores={}), error)
                try:
                    self._try_to_publish([*kept, row])
                    kept.append(row)
                except Exception:
                    print(f"{entry.name}: left out, its row cannot be made", file=sys.stderr)
        return sorted(kept, key=lambda each: each.is_baseline)

    def _try_to_publish(self, scored: Sequence[Sender]) -> None:
        with private_folder("page") as place:
            self._publish(scored, {}, place)

    @contextmanager
    def _runner(self, entries: Sequence[Sender]) -> Iterator[Runner]:
        able = [each for each in entries if not each.reason]
        total = len(able) * len(self.networks) * self.contest.runs
        total += sum(is_repeated(each, self.engine) for each in able)
        if self.contest.other_host_latency_us is not None and not self.engine.is_real_time:
            total += len(able) * len(self.contest.ranked_on)
        progress = Progress("contest", total, is_real_time=self.engine.is_real_time)
        # The journal contains the last output of runs on secret links.
        with RunJournal(self.folder / "runs.jsonl", mode=0o600) as journal:
            runner = Runner(
                journal,
                lambda _: self._executor(),
                progress.add,
                self.engine.spoils if self.engine.is_real_time else None,
            )
            with closing(runner):
                yield runner
        progress.end(f"runs of {len(able)} entries and baselines are done")

    def _executor(self) -> Executor:
        if self.engine.is_real_time:
            return SlotExecutor(self.engine, slots_of(self.results, os.cpu_count() or 1))
        return LocalExecutor(self.engine)

    def _draw_runs(self, entries: Sequence[Sender]) -> dict[str, Path]:
        """Returns a figure over time of each entry's run on the first practice network."""
        if self.engine.is_real_time:
            return {}  # a real run cannot be repeated to log it
        practice = self.networks[0]
        drawn = {}
        for each in entries:
            if each.reason:
                continue
            spec = each.spec(self.engine, practice, self.contest.seed)
            figure = self.folder / "runs" / f"{spec.run_id}.svg"
            if not figure.is_file():
                noun = "window" if each.is_baseline else IN_FLIGHT
                with private_folder("figure") as place:  # only complete, thinned figures are kept
                    drawing = place / figure.name
                    record = run_and_draw(self.engine, spec, "", drawing, noun, _DPI)
                    if record.status != "ok":
                        continue
                    write_whole(figure, thinned(drawing.read_bytes()))
            drawn[each.name] = figure
        return drawn

    def _say_behaviour(self, found: Json, entries: Sequence[Sender]) -> None:
        """Adds the rule that each entry behaves like; results are cached by sender."""
        if not self.known:
            return
        assert isinstance(self.engine, EmulatorSettings)
        first, *others = self.networks
        seeds = range(self.contest.seed, self.contest.seed + self.contest.runs)
        rules = [[rule.sha256, data and data.text] for rule, data in self.known]
        by_name = {each.name: each for each in entries}
        with closing(LocalExecutor(self.engine)) as executor:
            for row in (*found["ranking"], *found["apart"]):
                entry = by_name[row["name"]]
                specs = [entry.spec(self.engine, each, seeds[0]) for each in self.networks]
                made_of = [rules, len(seeds), *(spec.run_id for spec in specs)]
                digest = sha256_of(canonical_json(made_of).encode())
                path = self.folder / "behaviour" / f"{digest}.json"
                if not path.is_file():
                    try:
                        seen = watch_sender(
                            entry, self.known, [first], others, seeds, self.engine, executor
                        )
                    except NoSenderError:
                        row["behaviour"] = {"behaves_like": None}
                        continue
                    write_whole(path, json.dumps(seen, indent=2) + "\n")
                row["behaviour"] = read_json(path)

    def _made_of(self) -> str:
        commit = current_commit()
        seed = f"seed {self.contest.seed}"
        return f"commit {commit.name[:10]} of {commit.date}, {seed}" if commit.name else seed


def watch(
    entries: Path, score: Callable[[], None], interval_s: float, is_over: Callable[[], bool]
) -> None:
    """Scores a folder whenever it has changed and then not changed for an interval.

    `is_over` is called after each inspection of the folder.
    """
    scored: object = None
    before: object = None
    while True:
        now = state_of(entries)
        if now == before and now != scored:
            score()
            scored = now
        before = now
        if is_over():
            return
        time.sleep(interval_s)
