"""Removes one question or tool from a clone, and tests the rest.

    python -m tests.removable sweeps

It works in a temporary clone of the last commit, and removes the folder, its tests, and the pages,
configuration files and keys of config.yaml that it declares (see kneepoint.tools and
kneepoint.questions). The rest must pass the type checker and the contracts of imports, list its
commands and the experiments of the shipped configuration, pass the tests of the other questions and
tools, and write a report of made-up results.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kneepoint.config.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("questions", "tools")
NOT_BUILT = shutil.ignore_patterns("CMake*", "*.ninja", "sanitize", "site*", "target-*", ".*")
"""Files of build/ that only further builds need, and other builds."""


def names(kind: str) -> list[str]:
    """Returns the names of the questions, or of the tools."""
    return sorted(path.parent.name for path in (ROOT / "kneepoint" / kind).glob("*/__init__.py"))


def belongings(kind: str, name: str) -> Iterator[str]:
    """Yields the paths that belong to a question or a tool, relative to the repository."""
    declaration = import_module(f"kneepoint.{kind}.{name}")
    yield f"kneepoint/{kind}/{name}"
    yield f"tests/{kind}/{name}"
    yield from (f"docs/{page}.md" for page in getattr(declaration, "PAGES", ()))
    yield from getattr(declaration, "CONFIGURATION", ())


def keys_of(keys: type[BaseModel], core: type[BaseModel], *under: str) -> Iterator[tuple[str, ...]]:
    """Yields the paths of keys that are in one model and not in another."""
    for name, field in keys.model_fields.items():
        if name not in core.model_fields:
            yield (*under, name)
        else:
            for own, known in zip(
                models_in(field), models_in(core.model_fields[name]), strict=True
            ):
                yield from keys_of(own, known, *under, name)


def models_in(field: FieldInfo) -> list[type[BaseModel]]:
    """Returns the models of a key, whose value may be null."""
    kinds = get_args(field.annotation) or (field.annotation,)
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def without(key: tuple[str, ...], text: str) -> str:
    """Returns a text in YAML, in block style, without a key and its indented value."""
    lines = text.splitlines(keepends=True)
    begin, end = -1, len(lines)
    for depth, name in enumerate(key):
        indent = "  " * depth
        there = (n for n in range(begin + 1, end) if lines[n].startswith(f"{indent}{name}:"))
        begin = next(there, end)
        after = (n for n in range(begin + 1, end) if not lines[n].startswith(f"{indent}  "))
        end = next(after, end)
    return "".join(lines[:begin] + lines[end:])


def strip(clone: Path, name: str) -> None:
    """Removes the keys of a question from the configurations of a clone."""
    keys = import_module(f"kneepoint.questions.{name}").QUESTION.settings
    for key in keys_of(keys, Settings) if keys else ():
        for folder in ("config", "kneepoint/skeleton"):
            for path in (clone / folder).glob("*.yaml"):
                path.write_text(without(key, path.read_text()))


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
        if kinds[name] == "questions":
            strip(clone, name)
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
    """Composes the report of made-up results with all available tables and figures."""
    from kneepoint.analysis.derived import with_derived
    from kneepoint.reports import compose, draw
    from tests.analysis import synthetic
    from tests.reports.told import PROVENANCE

    tables = with_derived(synthetic.analysed(synthetic.results()))
    figures = draw.available(tables)
    written = compose.compose(tables, PROVENANCE, figures)
    assert len(written.headings) > 10
    assert figures


if __name__ == "__main__":
    sys.exit(main())
