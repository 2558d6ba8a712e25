"""Whether the tests bite: constants of a controller's rule, changed one at a time.

    python -m tests.benchmarks.mutations CONTROLLER... [--count 20] [--seed 1]

Of the numerals in controllers/algorithms/CONTROLLER.cc a sample is drawn. Those of comments,
strings and declared parameters do not count, because test_field.py compares all defaults with the
published ones, nor does the zero that a variable begins with. Each is changed alone: it grows by a
quarter, an integer by at least 1, and 0 becomes 1. Then the C++ tests run whose names hold the
controller's. A change that compiles and fails no test survives, and is printed with its line. All
is built in build/mutations, from a copy of the sources. Exit status 1: for some controller more
than one change survived, or than one in twenty.
"""

import argparse
import random
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path("controllers")
BUILD = Path("build/mutations")
COPY = BUILD / "sources"
NUMERAL = re.compile(r"(?<![\w.'])\d[\d']*(?:\.\d*)?(?:e-?\d+)?(?![\w.])")
STRING = r'"(?:\\.|[^"\\])*"'
DECLARATION = rf"constants\.(?:real|integer)\((?:{STRING}|[^\"()]|\([^()]*\))*\)"
IGNORED = re.compile(
    rf"//[^\n]*|{STRING}|#[^\n]*|{DECLARATION}|\w+\(constants, \d[^)]*\)| = 0;", re.DOTALL
)
PATIENCE_S = 60
"""Of CPU time, for tests that a change makes endless: they count as failed."""


@dataclass(frozen=True)
class Change:
    """Of one numeral."""

    start: int
    old: str

    @property
    def new(self) -> str:
        value = self.old.replace("'", "")
        if value.isdecimal():
            return str(max(int(value) + 1, round(int(value) * 1.25)))
        return repr(float(value) * 1.25 or 1.0)

    def of(self, text: str) -> str:
        """Returns the text with it."""
        return text[: self.start] + self.new + text[self.start + len(self.old) :]


def changes_of(text: str) -> list[Change]:
    """Returns all changes of a source."""
    code = IGNORED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return [Change(found.start(), found[0]) for found in NUMERAL.finditer(code)]


def build(*targets: str) -> bool:
    """Returns whether they compile."""
    command = ["ninja", "-C", str(BUILD), *targets]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def passes(name: str) -> bool:
    """Returns whether the tests of a controller do."""
    command = ["prlimit", f"--cpu={PATIENCE_S}", f"{BUILD}/controller_tests", f"{name}_"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def survivors(name: str, count: int, seed: int) -> tuple[int, list[tuple[Change, int]]]:
    """Returns how many changes were made, and those that no test notices, with their lines."""
    source = COPY / "algorithms" / f"{name}.cc"
    text = source.read_text()
    source.touch()  # an earlier call may have ended with a change in the object
    if not build(f"controller_{name}") or not passes(name):
        raise SystemExit(f"error: controller_tests {name}_ fails unchanged, or finds no test")
    changes = changes_of(text)
    drawn = random.Random(seed).sample(changes, min(count, len(changes)))
    alive = []
    for change in drawn:
        source.write_text(change.of(text))
        if build(f"controller_{name}") and passes(name):
            alive.append((change, text.count("\n", 0, change.start) + 1))
    return len(drawn), sorted(alive, key=lambda each: each[1])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    known = sorted(path.stem for path in SOURCES.glob("algorithms/*.cc"))
    parser.add_argument("controllers", nargs="+", choices=known, metavar="CONTROLLER")
    parser.add_argument("--count", type=int, default=20, help="changes of each (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (%(default)s)")
    arguments = parser.parse_args()
    shutil.copytree(SOURCES, COPY, dirs_exist_ok=True)
    # Unoptimized: compiling takes longer than the tests do.
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]
    command = ["cmake", "-S", str(COPY), "-B", str(BUILD), "-G", "Ninja", *options]
    subprocess.run(command, check=True, capture_output=True)
    if not build("controller_tests"):
        raise SystemExit(f"error: ninja -C {BUILD} controller_tests fails")
    weak = False
    for name in arguments.controllers:
        made, alive = survivors(name, arguments.count, arguments.seed)
        weak = weak or len(alive) > max(made // 20, 1)
        print(f"{name}: {made - len(alive)} of {made}", flush=True)
        path = SOURCES / "algorithms" / f"{name}.cc"
        lines = path.read_text().splitlines()
        for change, number in alive:
            print(f"  {path}:{number}: {change.old} -> {change.new}: {lines[number - 1].strip()}")
    raise SystemExit(1 if weak else 0)


if __name__ == "__main__":
    main()
