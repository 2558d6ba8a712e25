"""Mutation tests: constants and operators of a controller's rule are changed one at a time.

    python -m tests.benchmarks.mutations [CONTROLLER...] [--count 20] [--seed 1] [--processes 2]

A sample is drawn from the numerals and operators in controllers/algorithms/CONTROLLER.cc and its
model's header, without comments, strings and initial zeros of variables, and without declared
parameters, because test_field.py compares all defaults with the published values. Each is changed
alone: a numeral grows by a quarter, an integer by at least 1, and 0 becomes 1; an operator becomes
its opposite. A change that does not compile, or compiles to the same bytes, is replaced by another.
A change is caught if a C++ test fails whose name contains the controller's, or if its golden log,
if any, differs. The benchmark needs build/controller_tests and build/emulate, and builds one shared
object for each change, in build/mutations.

It prints the number of caught changes of each controller, and the other changes with their lines.
Exit status 1: a controller has more than one uncaught change, or more than one in twenty; 2: tests
fail without a change.
"""

import argparse
import hashlib
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from tests.controllers.emulator import EMULATE, Link, write_small_link

SOURCES = Path("controllers/algorithms").absolute()
GOLDEN = Path("tests/golden").absolute()
BUILD = Path("build/mutations").absolute()
TESTS = EMULATE.with_name("controller_tests")
COMPILE = shlex.split(
    "-std=c++20 -O1 -w -ffp-contract=off -shared -fPIC -fvisibility=hidden "
    "-fvisibility-inlines-hidden -frandom-seed=1 -Wl,--build-id=none"
)
HEADERS = "algorithm array cmath cstdint functional limits memory optional string vector"
NUMERAL = r"(?<![\w.'])\d[\d']*(?:\.\d*)?(?:e-?\d+)?(?![\w.])"
OPPOSITES = {
    **{"+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="},
    **{"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="},
    **{"and": "or", "or": "and", "std::min": "std::max", "std::max": "std::min"},
}
OPERATOR = r"(?<=\s)(?:[-+*/]=?|[<>]=?|[=!]=|and|or)(?=\s)|\bstd::(?:min|max)(?=\()"
CHANGED = re.compile(f"{NUMERAL}|{OPERATOR}")
STRING = r'"(?:\\.|[^"\\])*"'
DECLARATION = rf"parameters\.(?:real|integer)\((?:{STRING}|[^\"()]|\([^()]*\))*\)"
IGNORED = re.compile(
    rf"//[^\n]*|{STRING}|#[^\n]*|{DECLARATION}|\w+\(parameters, \d[^)]*\)| = 0;", re.DOTALL
)


@dataclass(frozen=True)
class Change:
    """A change of one numeral or operator."""

    source: Path
    start: int
    old: str

    @property
    def new(self) -> str:
        if self.old in OPPOSITES:
            return OPPOSITES[self.old]
        value = self.old.replace("'", "")
        if value.isdecimal():
            return str(max(int(value) + 1, round(int(value) * 1.25)))
        return repr(float(value) * 1.25 or 1.0)

    @property
    def text(self) -> str:
        """The changed source."""
        text = self.source.read_text()
        return text[: self.start] + self.new + text[self.start + len(self.old) :]

    def __str__(self) -> str:
        text = self.source.read_text()
        number = text.count("\n", 0, self.start) + 1
        line = text.splitlines()[number - 1].strip()
        return f"{os.path.relpath(self.source)}:{number}: {self.old} -> {self.new}: {line}"


def sources_of(name: str) -> list[Path]:
    """Returns the files that belong to one controller only."""
    return [
        path for path in (SOURCES / f"{name}.cc", SOURCES / f"{name}_model.hh") if path.exists()
    ]


def changes_of(name: str, seed: int) -> list[Change]:
    """Returns all changes of a controller, in an order that the seed determines."""
    changes = []
    for source in sources_of(name):
        code = IGNORED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source.read_text())
        changes += [Change(source, found.start(), found[0]) for found in CHANGED.finditer(code)]
    random.Random(f"{name} {seed}").shuffle(changes)
    return changes


@dataclass(frozen=True)
class Bench:
    """A folder in which a changed controller is built beside the programs that load it."""

    folder: Path

    def __post_init__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "controllers").mkdir(parents=True)
        for program in (EMULATE, TESTS):
            (self.folder / program.name).hardlink_to(program)
        for built in EMULATE.parent.glob("controllers/*.so"):
            (self.folder / "controllers" / built.name).hardlink_to(built)

    def built(self, name: str) -> Path:
        return self.folder / "controllers" / f"{name}.so"

    def build(self, name: str, change: Change | None) -> bytes | None:
        """Returns the digest of the shared object, or None if it does not compile."""
        changed = self.folder / "algorithms"
        shutil.rmtree(changed, ignore_errors=True)
        changed.mkdir()
        for source in sources_of(name):
            text = change.text if change and change.source == source else source.read_text()
            (changed / source.name).write_text(text)
        built = self.built(name)
        built.unlink(missing_ok=True)
        command = [
            *("c++", *COMPILE, f"-ffile-prefix-map={self.folder}=."),
            *(f"-I{self.folder}", f"-I{SOURCES.parent}", "-include", f"{BUILD}/headers.hh"),
            *("-o", str(built), f"{changed}/{name}.cc"),
        ]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return None
        return hashlib.sha256(built.read_bytes()).digest()

    def restore(self, name: str) -> None:
        self.built(name).unlink(missing_ok=True)
        self.built(name).hardlink_to(EMULATE.parent / "controllers" / f"{name}.so")

    def passes(self, name: str, link: Link, cpu_s: int) -> bool:
        """Returns whether the tests of a controller pass, each within the limit of CPU time."""
        limit = ["prlimit", f"--cpu={cpu_s}"]
        tests = [*limit, str(self.folder / TESTS.name), f"{name}_"]
        if subprocess.run(tests, capture_output=True, check=False).returncode != 0:
            return False
        golden = GOLDEN / f"{name}.flow.log"
        if not golden.exists():
            return True
        log = self.folder / "flow.log"
        log.unlink(missing_ok=True)
        emulate = [
            *(*limit, str(self.folder / EMULATE.name), "--controller", name, "--seed", "1"),
            *("--uplink", str(link.uplink), "--downlink", str(link.downlink)),
            *("--flow-log", str(log)),
        ]
        ran = subprocess.run(emulate, capture_output=True, check=False).returncode == 0
        return ran and log.read_bytes() == golden.read_bytes()


@dataclass
class Mutations:
    """Tries changes on several benches at once."""

    processes: int
    link: Link
    benches: SimpleQueue[Bench] = field(default_factory=SimpleQueue)

    def __post_init__(self) -> None:
        for k in range(self.processes):
            self.benches.put(Bench(BUILD / f"bench-{k}"))

    def tried(self, name: str, count: int, seed: int) -> Iterator[tuple[Change, bool]]:
        """Yields `count` changes, or all changes if fewer exist, and whether a test catches
        each."""
        bench = self.benches.get()
        digest = bench.build(name, None)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        if digest is None or not bench.passes(name, self.link, 600):
            raise SystemExit(f"error: controller_tests {name}_ fails unchanged, or finds no test")
        used_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        bench.restore(name)
        self.benches.put(bench)
        cpu_s = 2 + int(10 * used_s)  # a change may make a test endless

        def is_caught(change: Change) -> bool | None:
            one = self.benches.get()
            try:
                built = one.build(name, change)
                if built is None or built == digest:
                    return None
                return not one.passes(name, self.link, cpu_s)
            finally:
                one.restore(name)
                self.benches.put(one)

        changes = changes_of(name, seed)
        with ThreadPoolExecutor(self.processes) as pool:
            while count > 0 and changes:
                some, changes = changes[:count], changes[count:]
                for change, caught in zip(some, pool.map(is_caught, some), strict=True):
                    if caught is not None:
                        count -= 1
                        yield change, caught


def prepare() -> Link:
    """Compiles the standard library's headers once; returns the link of the golden logs."""
    for program in (EMULATE, TESTS):
        if not program.exists():
            raise SystemExit(f"error: {os.path.relpath(program)} is missing: run `make build`")
    BUILD.mkdir(parents=True, exist_ok=True)
    headers = BUILD / "headers.hh"
    headers.write_text("".join(f"#include <{name}>\n" for name in HEADERS.split()))
    command = ["c++", *COMPILE, "-x", "c++-header", str(headers), "-o", f"{headers}.gch"]
    subprocess.run(command, check=True)
    return write_small_link(BUILD)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    known = sorted(path.stem for path in SOURCES.glob("*.cc"))
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", help="all, if none")
    parser.add_argument("--count", type=int, default=20, help="changes of each (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (%(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="at once")
    given = parser.parse_args(arguments)
    if unknown := set(given.controllers) - set(known):
        parser.error(f"no controller {sorted(unknown)[0]}; there are {', '.join(known)}")
    mutations = Mutations(given.processes, prepare())
    weak = 0
    print(f"{'controller':16} caught  of")
    for name in given.controllers or known:
        tried = list(mutations.tried(name, given.count, given.seed))
        alive = [change for change, caught in tried if not caught]
        weak += len(alive) > max(len(tried) // 20, 1)
        print(f"{name:16} {len(tried) - len(alive):6} {len(tried):3}", flush=True)
        for change in sorted(alive, key=lambda each: (each.source, each.start)):
            print(f"    {change}", flush=True)
    return 1 if weak else 0


if __name__ == "__main__":
    raise SystemExit(main())
