"""Evaluates candidate controllers for an external search.

A candidate is a shipped controller, a rule, the source of a class, or a contest entry, with its
parameters. Sources and entries are built and run in the contest's sandbox.
"""

import json
import math
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, Field, ValidationError, model_validator

from kneepoint.cli.entries import open_builder
from kneepoint.cli.runs import make_what_is_missing, prepared_network
from kneepoint.common.config_file import ConfigModel, complaint_of
from kneepoint.common.errors import KneepointError, require_known, writing
from kneepoint.common.files import LOCK_PATIENCE_S, hold_lock, read_bytes, sha256_of
from kneepoint.common.json_text import Json, parse_json
from kneepoint.engines.base import RunRecord
from kneepoint.engines.built import EMULATE
from kneepoint.engines.catalogue import Controller, load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.expression import Expression
from kneepoint.entries.collect import submission_at
from kneepoint.entries.entries import EntryBuilder, Sender
from kneepoint.entries.score import ScoreName, score_of
from kneepoint.entries.tree import Language
from kneepoint.networks.config import Name
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.load import load_workflow
from kneepoint.search.language import parse
from kneepoint.stats.intervals import t_interval
from kneepoint.stats.means import mean_of

Split = Literal["train", "test"]

DEFAULT_METRICS = ("throughput_mbps", "signal_delay_p95_ms", "power")
SEEDS = tuple(range(1, 9))
_AHEAD = 64
"""The number of candidates that are read ahead of the answers."""
_MIN_KEY_BYTES = 16


ExpressionText = Annotated[str, AfterValidator(lambda text: Expression(text).text)]
RuleText = Annotated[str, AfterValidator(lambda text: parse(text).text)]
Seed = Annotated[int, Field(ge=0, lt=2**53)]


class Candidate(ConfigModel):
    """One line of the input."""

    id: str | int | None = Field(default=None, description="repeated in the answer")
    controller: Name | None = Field(default=None, description="name of a shipped controller")
    rule: RuleText | None = Field(default=None, description="a rule instead")
    source: str | None = Field(
        default=None, max_length=2**18, description="the source of a class instead"
    )
    language: Language = Field(default="c++", description="language of the source")
    entry: str | None = Field(
        default=None, max_length=4096, description="the path of an entry instead"
    )
    parameters: Mapping[Name, float] = Field(default={}, max_length=100, description="parameters")
    networks: tuple[Name, ...] | None = Field(
        default=None, min_length=1, max_length=100, description="null: all networks of the split"
    )
    seeds: tuple[Seed, ...] = Field(
        default=SEEDS, min_length=1, max_length=1000, description="seeds of runs on each network"
    )
    score: ScoreName = Field(default="power", description="as in a contest")
    metrics: tuple[ExpressionText, ...] = Field(
        default=DEFAULT_METRICS, max_length=50, description="expressions, shown for each network"
    )

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        kinds = (self.controller, self.rule, self.source, self.entry)
        if sum(each is not None for each in kinds) != 1:
            raise ValueError("needs exactly one of controller, rule, source and entry; give one")
        for name in ("networks", "seeds"):
            values = getattr(self, name) or ()
            if len(set(values)) != len(values):
                raise ValueError(f"{name} has an entry twice; remove it")
        return self


class Evaluator:
    """Evaluates candidates concurrently; opens the sandbox for the first candidate that needs it.

    Args:
        config: the configuration with the networks and controllers.
        split: train: candidates run only on the networks of its studies; test: only on its held-out
            networks; None: on any network.
        key: file with the key of the test.
        workers: number of simultaneous runs; None: the number of processors.
        trust_entries: whether candidates are built and run without a sandbox.

    Raises:
        KneepointError: the split or the key is missing, or programs or networks cannot be made.
    """

    def __init__(
        self,
        config: str | Path = "config/config.yaml",
        *,
        split: Split | None = None,
        key: str | Path | None = None,
        workers: int | None = None,
        trust_entries: bool = False,
    ) -> None:
        self._config = Path(config)
        self._workflow = load_workflow(self._config)
        self._split = split
        self._trusts = trust_entries
        self._workers = workers or os.cpu_count() or 1
        self._making = threading.RLock()
        self._networks: dict[str, PreparedNetwork] = {}
        self._controllers: dict[str, Controller] = {}
        self._own = self._networks_of_split()
        self._log: Path | None = None
        if split == "test":
            self._log = self._open_test(key)
        make_what_is_missing(self._config, [], [])
        self._engine = EmulatorSettings.of(EMULATE)
        self._executor = LocalExecutor(self._engine, self._workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the engines."""
        self._executor.close()

    def evaluate(self, candidates: Iterable[Mapping[str, Any] | str]) -> Iterator[Json]:
        """Yields the answers to candidates in order; candidates are read ahead.

        Empty lines have no answer.
        """
        pending: queue.Queue[Future[Json] | None] = queue.Queue(_AHEAD)
        is_over = threading.Event()

        def read() -> None:
            end: Future[Json] | None = None
            try:
                for number, candidate in enumerate(candidates, 1):
                    if is_over.is_set():
                        return
                    if not isinstance(candidate, str) or candidate.strip():
                        pending.put(pool.submit(self.answer, candidate, number))
            except BaseException as error:
                end = Future()
                end.set_exception(error)
            pending.put(end)

        # More threads than engines, so that engines do not wait for builds.
        with ThreadPoolExecutor(2 * self._workers) as pool:
            threading.Thread(target=read, daemon=True).start()
            try:
                while (answer := pending.get()) is not None:
                    yield answer.result()
            finally:
                is_over.set()
                with suppress(queue.Empty):  # so that a reader that waits for room can end
                    while answer := pending.get_nowait():
                        answer.cancel()

    def answer(self, candidate: Mapping[str, Any] | str, number: int = 1) -> Json:
        """Evaluates a candidate, a mapping or a line of JSON; a failure becomes the reason.

        `number` is the number of the line, for messages.
        """
        content: Mapping[str, Any] = {}
        try:
            content = _content_of(candidate, number)
            wanted = Candidate.model_validate(content)
            networks = self._networks_for(wanted)
            self._note_test(wanted)
            found = self._run(self._make(wanted), networks, wanted)
        except (KneepointError, ValidationError) as error:
            found = _answer("refused", complaint_of(error))
        return {"id": content.get("id"), **found}

    def _networks_of_split(self) -> tuple[str, ...]:
        workflow = self._workflow
        held = workflow.settings.hold_out
        if held is None:
            if self._split is not None:
                raise KneepointError(
                    f"{self._config}: has no hold_out, which --{self._split} requires; add it"
                )
            return ()
        if self._split == "test":
            return held.networks
        tuned = [workflow.studies[name].networks for name in workflow.tunings]
        return tuple(dict.fromkeys(name for networks in tuned for name in networks))

    def _networks_for(self, wanted: Candidate) -> list[PreparedNetwork]:
        names = wanted.networks or self._own
        if not names:
            raise KneepointError("no network is named; add networks")
        for name in names if self._split else ():
            problem = f"network {name!r} is not in the split {self._split}"
            require_known(name, self._own, problem)
        with self._making:
            if missing := [name for name in names if name not in self._networks]:
                make_what_is_missing(self._config, missing, [], where="networks")
                self._networks |= {name: prepared_network(name) for name in missing}
        return [self._networks[name] for name in names]

    def _make(self, wanted: Candidate) -> Sender:
        name = str(wanted.id)
        ours = "rule" if wanted.rule is not None else wanted.controller
        if ours is not None:
            rule = parse(wanted.rule).parameters if wanted.rule is not None else {}
            controller = self._controller(ours)
            parameters = controller.complete({**wanted.parameters, **rule}, "parameters")
            return Sender(name, controller=(controller, parameters))
        with self._making:
            builder = self._builder
        if wanted.entry is not None:
            return builder.make(submission_at(Path(wanted.entry)), wanted.parameters)
        assert wanted.source is not None
        return builder.make_class(name, wanted.source, wanted.language, wanted.parameters)

    def _controller(self, name: str) -> Controller:
        with self._making:
            if name not in self._controllers:
                make_what_is_missing(self._config, [], [name], where="controller")
                known = load_catalogue(EMULATE).controller(name, "controller")
                known.require("datagrams", "controller")
                self._controllers[name] = known
            return self._controllers[name]

    @cached_property
    def _builder(self) -> EntryBuilder:
        return open_builder(self._config, [], is_trusting=self._trusts)

    def _run(self, made: Sender, networks: Sequence[PreparedNetwork], wanted: Candidate) -> Json:
        """Makes one run, and after its success all others, so that a candidate hangs only once."""
        if made.reason:
            status = "fault" if made.is_disturbed else "failed"
            return _answer(status, made.reason, message=made.message)
        specs = {
            (network.name, seed): made.spec(self._engine, network, seed)
            for seed in wanted.seeds
            for network in networks
        }
        places = {spec.run_id: place for place, spec in specs.items()}
        records: dict[tuple[str, int], RunRecord] = {}
        every = list(specs.values())
        for wave in (every[:1], every[1:]):
            for some in self._executor.execute(wave):
                records |= {places[record.run_id]: record for record in some}
            for name, seed in specs:  # the first failed run in this order, not in time
                record = records.get((name, seed))
                if record is not None and record.status != "ok":
                    reason = f"on {name} with seed {seed}: {record.reason}"
                    return _answer(record.status, reason)
        try:
            return _averaged(records, networks, wanted)
        except ValueError as error:
            return _answer("failed", f"no score: {error}")

    def _open_test(self, key: str | Path | None) -> Path:
        """Records the key at its first use; returns the log of all tests."""
        if key is None:
            raise KneepointError("--test: requires the file of the key; give its path")
        path = Path(key)
        content = read_bytes(path, "give the key of the test")
        if len(content) < _MIN_KEY_BYTES:
            raise KneepointError(
                f"{path}: has fewer than {_MIN_KEY_BYTES} bytes; make a key: "
                f"openssl rand -hex 32 > {path}"
            )
        log = self._workflow.results / "evaluations/test.jsonl"
        digest = sha256_of(content)
        with hold_lock(log.with_name(".lock"), LOCK_PATIENCE_S):
            if log.is_file():
                first = log.read_text().partition("\n")[0]
                if digest not in first:
                    raise KneepointError(
                        f"{path}: is not the key with which {log} began; give that key"
                    )
            _append(log, {"key_sha256": digest})
        return log

    def _note_test(self, wanted: Candidate) -> None:
        """Logs a candidate before its test."""
        if self._log is not None:
            with self._making:
                _append(
                    self._log, {"candidate_sha256": sha256_of(wanted.model_dump_json().encode())}
                )


def _append(log: Path, noted: Mapping[str, str]) -> None:
    line = json.dumps({"at": datetime.now(UTC).isoformat(timespec="seconds"), **noted})
    with writing(log), log.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())


def _content_of(candidate: Mapping[str, Any] | str, number: int) -> Mapping[str, Any]:
    content: Any = candidate
    why = ""
    if isinstance(candidate, str):
        try:
            content = parse_json(candidate)
        except json.JSONDecodeError as error:
            why = f" (column {error.colno}: {error.msg})"
        except ValueError as error:
            why = f" ({error})"
    if not isinstance(content, Mapping):
        raise KneepointError(
            f"line {number}: is not a JSON object{why}; give one candidate per line"
        )
    return content


def _answer(
    status: str,
    reason: str = "",
    *,
    message: str = "",
    score: float | None = None,
    networks: Json | None = None,
) -> Json:
    found = {"status": status, "score": score, "networks": networks or {}}
    return {**found, "reason": reason, "message": message}


def _averaged(
    records: Mapping[tuple[str, int], RunRecord],
    networks: Sequence[PreparedNetwork],
    wanted: Candidate,
) -> Json:
    """Returns the answer for successful runs; raises ValueError if a run has no score."""
    score = score_of(wanted.score)
    mean = _geometric if score.is_ratio else partial(t_interval, "mean")
    scores: list[list[float]] = []
    figures: Json = {}
    for network in networks:
        runs = [records[network.name, seed] for seed in wanted.seeds]
        scores.append([score.of(run, network) for run in runs])
        figures[network.name] = {
            "runs": len(runs),
            "score": mean(scores[-1]),
            **{text: _metric(Expression(text), runs, network) for text in wanted.metrics},
        }
    overall = mean_of(np.array(scores), score.is_ratio)
    return _answer("ok", score=overall, networks=figures)


def _metric(expression: Expression, runs: Sequence[RunRecord], network: PreparedNetwork) -> Json:
    try:
        return t_interval("mean", [expression.of_run(run, network) for run in runs])
    except ValueError:
        return {"mean": None, "low": None, "high": None}


def _geometric(values: Sequence[float]) -> Json:
    found = t_interval("mean", [math.log(value) for value in values])
    return {key: None if value is None else math.exp(value) for key, value in found.items()}
