"""Removes one question or tool from a clone, and tries what is left.

    python -m tests.removable sweeps

In a temporary clone of the last commit, its folder goes, with its tests and with the pages and the
configuration that it declares (see kneepoint.tools). What is left must pass the type checker and
the contracts of imports, list its commands and the experiments of the shipped configuration, pass
the tests of the other questions and tools, and write a report of made-up results.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("questions", "tools")
NOT_BUILT = shutil.ignore_patterns("CMake*", "*.ninja", "sanitize", "site*", "target-*", ".*")
"""Of build/: what only a further build needs, and other builds."""


def names(kind: str) -> list[str]:
    """The questions, or the tools."""
    return sorted(path.parent.name for path in (ROOT / "kneepoint" / kind).glob("*/__init__.py"))


def belongings(kind: str, name: str) -> Iterator[str]:
    """What belongs to a question or a tool, relative to the repository."""
    declaration = import_module(f"kneepoint.{kind}.{name}")
    yield f"kneepoint/{kind}/{name}"
    yield f"tests/{kind}/{name}"
    yield from (f"docs/{page}.md" for page in getattr(declaration, "PAGES", ()))
    yield from getattr(declaration, "CONFIGURATION", ())


def main() -> int:
    """The command line."""
    kinds = {name: kind for kind in KINDS for name in names(kind)}
    name = (sys.argv[1:] or [""])[0]
    if name not in kinds:
        print(f"{name!r} is no question and no tool; one of {', '.join(kinds)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary) / "kneepoint"
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        shutil.copytree(ROOT / "build", clone / "build", ignore=NOT_BUILT)
        if (ROOT / ".mypy_cache").is_dir():
            shutil.copytree(ROOT / ".mypy_cache", clone / ".mypy_cache")
        subprocess.run(["rm", "-r", *belongings(kinds[name], name)], cwd=clone, check=True)
        python = (sys.executable, "-m")
        tests = [f"tests/{kind}" for kind in KINDS]
        fast = "not slow and not long and not attacks and not real_time and not network"
        for command in (
            (*python, "mypy"),
            ("lint-imports", "--no-logo"),
            (*python, "kneepoint", "--help"),
            (*python, "kneepoint", "list"),
            (*python, "pytest", "-q", "-n", "2", "-m", fast, *tests),
            (sys.executable, "-c", "from tests.removable import tell; tell()"),
        ):
            done = subprocess.run(command, cwd=clone, check=False, capture_output=True, text=True)
            if done.returncode:
                print(f"{done.stdout}{done.stderr}", file=sys.stderr)
                print(f"without {name}: {' '.join(command)} failed", file=sys.stderr)
                return 1
    return 0


def tell() -> None:
    """Composes the report of made-up results with all tables and figures that are there."""
    from kneepoint.analysis.derived import with_derived
    from kneepoint.reports import draw, words
    from tests.analysis import synthetic
    from tests.reports.told import PROVENANCE

    tables = with_derived(synthetic.analysed(synthetic.results()))
    figures = draw.available(tables)
    written = words.compose(tables, PROVENANCE, figures)
    assert len(written.headings) > 10
    assert figures


if __name__ == "__main__":
    sys.exit(main())
