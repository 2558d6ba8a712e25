"""The senders of a contest: entries, made from submissions, and our baselines."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from kneepoint.common.errors import KneepointError, MachineError, fault_of, our_files
from kneepoint.common.files import private_folder, sha256_of
from kneepoint.engines.base import EngineSettings, RunRecord, RunSpec
from kneepoint.engines.catalogue import Controller
from kneepoint.engines.entry import Entry
from kneepoint.entries import classes, untrusted
from kneepoint.entries.build import BuildError, Compiler, NoCompilerError
from kneepoint.entries.collect import Submission, digest_of_tree, take
from kneepoint.entries.config import ENTRY_FILE
from kneepoint.entries.confine import DisturbedError
from kneepoint.entries.tree import Language, Tree, recognize
from kneepoint.networks.scenario import PreparedNetwork

_PATH = re.compile(r"(?:file://|(?<![\w./]))/(?!/)(?:[^\s/:'\"]+/)+")
"""The folders of an absolute path."""
_MAX_REASON = 400


@dataclass(frozen=True)
class Sender:
    """An entry, or a baseline: one of our controllers among the entries.

    Args:
        name: its name in lists.
        author: its author, by the submission's name; "" for a baseline.
        submission: its submission; None for a baseline.
        arrived_s: time of its commit or arrival (s since 1970).
        digest: digest of its tree; "" if the submission could not be taken.
        built: its built sender; None if it cannot run.
        controller: a baseline's controller, with its parameters.
        is_apart: whether it is listed but not ranked, because the kit's receiver replaces its own.
        reason: why it cannot run; "" if it can.
        is_disturbed: whether the machine is the reason, not the entry.
        message: the compiler's output.
        records: records of its runs by network, in the order of the seeds; empty before the runs.
        scores: scores of its runs, like `records`.
    """

    name: str
    author: str = ""
    submission: Submission | None = None
    arrived_s: float = 0
    digest: str = ""
    built: Entry | None = None
    controller: tuple[Controller, dict[str, float]] | None = None
    is_apart: bool = False
    reason: str = ""
    is_disturbed: bool = False
    message: str = ""
    records: Mapping[str, Sequence[RunRecord]] = field(default_factory=dict)
    scores: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def is_baseline(self) -> bool:
        """Whether it is one of our controllers."""
        return self.controller is not None

    def spec(self, engine: EngineSettings, network: PreparedNetwork, seed: int) -> RunSpec:
        """Describes one run."""
        if self.controller is not None:
            controller, parameters = self.controller
            return RunSpec.on(engine, controller, parameters, network, seed)
        assert self.built is not None, self.reason
        return RunSpec.on(engine, self.built, {}, network, seed)


@dataclass(frozen=True)
class EntryBuilder:
    """Builds entries.

    Args:
        compiler: compiler of entries in C++.
        runner_sha256: digest of the program that runs entries.
        python_sha256: digest of the program that runs Python entries.
        is_trusting: whether entries run without a sandbox.
        arguments: arguments of senders that do not declare arguments.
        environment: environment of all senders, besides their declared variables.
        cpu_s: limit of CPU time of a sender in a run (s); None: by the run's duration.
    """

    compiler: Compiler
    runner_sha256: str = ""
    python_sha256: str = ""
    is_trusting: bool = False
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    cpu_s: int | None = None

    def make(self, submission: Submission, values: Mapping[str, float] | None = None) -> Sender:
        """Takes, recognizes and builds a submission; a failure becomes its reason.

        Args:
            submission: the submission.
            values: values of declared parameters; other parameters have their defaults.

        Raises:
            MachineError: the machine is at fault.
        """
        entry = Sender(submission.name, submission.author, submission)
        with private_folder("entry") as work:
            folder = work / "tree"
            known = (folder, submission.path.parent.resolve(), Path.cwd())

            try:
                entry = replace(entry, arrived_s=submission.arrived_s)
                arrived_s = take(submission, folder, self.compiler.confined)
                digest = digest_of_tree(folder)
                entry = replace(entry, arrived_s=arrived_s, digest=digest)
                tree = recognize(folder)
                entry = replace(entry, is_apart=tree.own_receiver)
                tree.declared.check(values or {})
                return replace(entry, built=self.entry_of(submission.name, tree, values or {}))
            except Exception as error:
                return failed(entry, error, known)

    def make_class(
        self, name: str, source: str, language: Language, values: Mapping[str, float]
    ) -> Sender:
        """Builds the source of a class; a failure becomes its reason.

        Raises:
            MachineError: the machine is at fault.
        """
        entry = Sender(name, digest=sha256_of(source.encode()))
        with private_folder("class") as folder:
            try:
                if language == "python":
                    (folder / "candidate.py").write_text(source, encoding="utf-8")
                    tree = recognize(folder)
                    tree.declared.check(values)
                    built = self.entry_of(name, tree, {})
                    return replace(entry, built=built)
                lean = replace(self, compiler=classes.compiler_of(self.compiler))
                tree = classes.write_tree(source, classes.sender_of(self.compiler), folder)
                built = lean.entry_of(name, tree, {})
                words = tuple(f"{key}={float(values[key])!r}" for key in sorted(values))
                return replace(entry, built=replace(built, arguments=words))
            except KneepointError as error:
                return failed(entry, error, None)

    def make_all(
        self, submissions: Sequence[Submission], on_made: Callable[[Sender], None]
    ) -> list[Sender]:
        """Builds submissions, as many at a time as there are processors.

        A submission in a language for which this machine has no compiler fails with this reason.

        Raises:
            MachineError: the machine is at fault.
        """

        def make(submission: Submission) -> Sender:
            try:
                return self.make(submission)
            except NoCompilerError as error:
                entry = Sender(submission.name, submission.author, submission)
                return failed(entry, DisturbedError(str(error)))

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            entries = []
            for entry in pool.map(make, submissions):
                on_made(entry)
                entries.append(entry)
            return entries

    def entry_of(self, name: str, tree: Tree, values: Mapping[str, float]) -> Entry:
        """Builds a tree with values of its declared parameters.

        Raises:
            BuildError: it does not build.
            KneepointError: it cannot run here.
        """
        macros, runner_sha256 = tree.declared.macros(values), self.runner_sha256
        if tree.language == "python":
            if macros:
                raise KneepointError(
                    f"{ENTRY_FILE}: {', '.join(macros)}: Python has no macros; use `environment`"
                )
            built, runner_sha256 = self.compiler.keep(tree), self.python_sha256
        else:
            built = self.compiler.build(tree, macros)
        with our_files():
            digest = sha256_of(built.read_bytes())
        return Entry(
            name,
            built.resolve(),
            digest,
            tree.declared.arguments or self.arguments,
            {**self.environment, **tree.declared.environment(values)},
            tree.dialect,
            tree.clock_epoch_ms,
            runner_sha256,
            self.is_trusting,
            self.cpu_s,
            {path.name: sha256_of(path.read_bytes()) for path in tree.data},
        )


def failed(entry: Sender, error: Exception, known: Sequence[Path] | None = ()) -> Sender:
    """Returns an entry that cannot run, with the reason; reports unexpected errors on stderr.

    Args:
        entry: the entry.
        error: the error that it caused.
        known: folders below which the texts may show paths (see `without_paths`); None: the texts
            are only for the entrant, and show all paths.

    Raises:
        MachineError: the machine is at fault.
    """
    if is_of_machine(error):
        if not isinstance(error, OSError):
            raise error
        raise MachineError(
            f"{entry.name}: {error.strerror}; free some and run the command again"
        ) from None
    if isinstance(error, OSError):
        error = KneepointError(f"cannot be read: {error.strerror}")
    elif not isinstance(error, KneepointError):
        fault = fault_of(error)
        print(f"{entry.name}: an error in Kneepoint, please report it: {fault}", file=sys.stderr)
        error = KneepointError(f"cannot be scored: {type(error).__name__}: {error}")

    def shown(text: str) -> str:
        return text if known is None else without_paths(text, known)

    return replace(
        entry,
        built=None,
        reason=shortened(shown(str(error))),
        message=shown(error.message) if isinstance(error, BuildError) else "",
        is_disturbed=isinstance(error, DisturbedError),
    )


def is_of_machine(error: Exception) -> bool:
    """Returns whether the machine is at fault, as with a full disk, and not the entry."""
    return isinstance(error, MachineError) or (
        isinstance(error, OSError) and untrusted.is_fault(error)
    )


def without_paths(text: str, known: Sequence[Path] = ()) -> str:
    """Returns a text without folders of absolute paths: only file names and paths below `known`."""
    for folder in known:
        text = text.replace(f"{folder}/", "")
    return _PATH.sub("", text)


def shortened(reason: str) -> str:
    """Returns a reason, cut off if it is long."""
    return reason if len(reason) <= _MAX_REASON else f"{reason[:_MAX_REASON]}..."


def latest_of_each(entries: Iterable[Sender]) -> dict[str, str]:
    """Returns, by name, the next later submission of the same author.

    If the versions of all submissions of an author are numbers, or all are dates, they determine
    the order; otherwise, the times of commit or arrival do.
    """
    by_author: dict[str, list[Sender]] = {}
    for each in entries:
        if each.submission is not None:
            by_author.setdefault(each.submission.author, []).append(each)
    replaced: dict[str, str] = {}
    for own in by_author.values():
        versions = {each.name: each.submission.order for each in own if each.submission}
        kinds = {kind for kind, _ in versions.values()}
        times = {each.name: each.arrived_s for each in own}
        if len(kinds) == 1 and "" not in kinds:
            names = sorted(times, key=lambda name: (versions[name], times[name], name))
        else:
            names = sorted(times, key=lambda name: (times[name], versions[name], name))
        replaced |= dict(pairwise(names))
    return replaced
